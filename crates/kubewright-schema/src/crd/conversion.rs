use std::collections::BTreeSet;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::{items, spec::one_of, text};
use crate::{
    error::{ErrorList, FieldError, FieldPath},
    names::{dns1035_label, dns1123_subdomain},
};

const KNOWN_REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

pub(super) fn validate(conversion: &Value, any_ca_bundle: bool, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    if conversion.is_null() {
        return errors;
    }
    let strategy = text(&conversion["strategy"]);
    errors.extend(one_of(strategy, &["None", "Webhook"], &path.child("strategy")));
    let webhook = &conversion["webhook"];
    let client = &webhook["clientConfig"];
    let versions = items(webhook.get("conversionReviewVersions"));
    let client_path = path.child("webhookClientConfig");
    let versions_path = path.child("conversionReviewVersions");
    if strategy == "Webhook" {
        if client.is_null() {
            errors.push(FieldError::required(&client_path, "required when strategy is set to Webhook"));
        } else {
            client_config(client, any_ca_bundle, &client_path, &mut errors);
        }
        review_versions(versions, &versions_path, &mut errors);
        return errors;
    }
    let detail = "should not be set when strategy is not set to Webhook";
    if !client.is_null() {
        errors.push(FieldError::forbidden(&client_path, detail));
    }
    if !versions.is_empty() {
        errors.push(FieldError::forbidden(&versions_path, detail));
    }
    errors
}

fn client_config(client: &Value, any_ca_bundle: bool, path: &FieldPath, errors: &mut ErrorList) {
    match (client["url"].as_str(), &client["service"]) {
        (Some(url), Value::Null) => errors.extend(validate_webhook_url(url, &path.child("url"))),
        (None, service) if !service.is_null() => {
            errors.extend(validate_service_reference(service, &path.child("service")));
        }
        _ => errors.push(FieldError::required(path, "exactly one of url or service is required")),
    }
    let bundle = text(&client["caBundle"]);
    if !bundle.is_empty() && !any_ca_bundle && !holds_certificate(bundle) {
        let detail = "unable to load root certificates: unable to parse bytes as PEM block";
        errors.push(FieldError::invalid(&path.child("caBundle"), bundle, detail));
    }
}

/// Checks the URL of a webhook, of whatever kind.
pub fn validate_webhook_url(url: &str, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    const FORM: &str = "; desired format: https://host[/path]";
    let (rest, fragment) = url.split_once('#').unwrap_or((url, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (scheme, rest) = match rest.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme, rest),
        _ => ("", rest),
    };
    let authority = rest.strip_prefix("//").map_or("", |rest| rest.split('/').next().unwrap_or_default());
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    if scheme != "https" {
        let detail = format!("'https' is the only allowed URL scheme{FORM}");
        errors.push(FieldError::invalid(path, scheme.to_lowercase(), detail));
    }
    if host.is_empty() {
        errors.push(FieldError::invalid(path, "", format!("host must be specified{FORM}")));
    }
    if let Some(user) = user {
        errors.push(FieldError::invalid(path, user, "user information is not permitted in the URL"));
    }
    if !fragment.is_empty() {
        errors.push(FieldError::invalid(path, fragment, "fragments are not permitted in the URL"));
    }
    if !query.is_empty() {
        errors.push(FieldError::invalid(path, query, "query parameters are not permitted in the URL"));
    }
    errors
}

/// Checks the service that a webhook runs behind, of whatever kind.
pub fn validate_service_reference(service: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    // Kubernetes confuses the two when it reports that one is missing.
    for (name, blamed) in [("namespace", "name"), ("name", "namespace")] {
        if text(&service[name]).is_empty() {
            errors.push(FieldError::required(&path.child(blamed), ""));
        }
    }
    let port = service["port"].as_i64().unwrap_or(0);
    if !(1..=65535).contains(&port) {
        let detail = "port is not valid: must be between 1 and 65535, inclusive";
        errors.push(FieldError::invalid(&path.child("port"), port, detail));
    }
    let Some(url_path) = service["path"].as_str().filter(|path| !path.is_empty() && *path != "/") else {
        return errors;
    };
    let path = path.child("path");
    if url_path == "//" {
        errors.push(FieldError::invalid(&path, url_path, "segment[0] may not be empty"));
        return errors;
    }
    if !url_path.starts_with('/') {
        errors.push(FieldError::invalid(&path, url_path, "must start with a '/'"));
    }
    let mut rest = url_path.chars();
    rest.next();
    let rest = rest.as_str();
    for (index, segment) in rest.strip_suffix('/').unwrap_or(rest).split('/').enumerate() {
        if segment.is_empty() {
            errors.push(FieldError::invalid(&path, url_path, format!("segment[{index}] may not be empty")));
            continue;
        }
        for reason in dns1123_subdomain(segment) {
            errors.push(FieldError::invalid(&path, url_path, format!("segment[{index}]: {reason}")));
        }
    }
    errors
}

fn review_versions(versions: &[Value], path: &FieldPath, errors: &mut ErrorList) {
    if versions.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    let mut seen = BTreeSet::new();
    for (index, version) in versions.iter().map(text).enumerate() {
        let path = path.index(index);
        if !seen.insert(version) {
            errors.push(FieldError::invalid(&path, version, "duplicate version"));
            continue;
        }
        for reason in dns1035_label(version) {
            errors.push(FieldError::invalid(&path, version, reason));
        }
    }
    if !KNOWN_REVIEW_VERSIONS.iter().any(|version| seen.contains(version)) {
        let detail = format!("must include at least one of {}", KNOWN_REVIEW_VERSIONS.join(", "));
        errors.push(FieldError::invalid(path, versions.to_vec(), detail));
    }
}

fn holds_certificate(bundle: &str) -> bool {
    BASE64_STANDARD
        .decode(bundle)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .is_some_and(|text| text.contains("-----BEGIN CERTIFICATE-----"))
}

pub(super) fn has_scheme_and_host(url: &str) -> bool {
    url.split_once("://")
        .is_some_and(|(scheme, rest)| is_scheme(scheme) && !rest.is_empty() && !rest.starts_with('/'))
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}
