//! What the API server would refuse.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{
    findings::{Findings, Part},
    marker::Marker,
};

/// How many match conditions one webhook may have.
const MOST_CONDITIONS: usize = 64;

/// Checks a marker that names a configuration. `first` is an earlier one of the same kind.
pub(super) fn configuration(marker: &Marker, first: Option<&Marker>, findings: &mut Findings<'_>) {
    if let Some(first) = first {
        let kind =
            if marker.argument("mutating") == Some(&Value::Bool(true)) { "mutating" } else { "validating" };
        let other = match first.text_of("name") {
            Some(name) => format!(": `{name}`"),
            None => String::new(),
        };
        findings.error(
            "webhook-duplicate-configuration",
            "name",
            format!("there is another {kind} configuration already{other}"),
            "keep one of the two markers",
        );
    }
    if let Some(name) = marker.text_of("name").filter(|name| !name.is_empty())
        && let Some(reason) = syntax::subdomain(name)
    {
        findings.fault(
            "webhook-configuration-name",
            "name",
            format!("`{name}` is no name for it: {reason}"),
            "rename it",
        );
    }
    if let Some(certificate) = marker.text_of("injectCAFrom").filter(|certificate| !certificate.is_empty()) {
        let mut parts = certificate.split('/');
        if !matches!((parts.next(), parts.next(), parts.next()), (Some(namespace), Some(name), None) if !namespace.is_empty() && !name.is_empty())
        {
            findings.fault(
                "webhook-certificate",
                "injectCAFrom",
                format!("`{certificate}` does not name a Certificate of cert-manager"),
                "write `namespace/name`",
            );
        }
    }
}

/// Checks a webhook as it will be written.
pub(super) fn webhook(marker: &Marker, hook: &Value, findings: &mut Findings<'_>) {
    let name = text(hook, "/name");
    if name.split('.').filter(|part| !part.is_empty()).count() < 3 {
        findings.fault(
            "webhook-name",
            "name",
            format!("`{name}` is no domain name with three parts or more"),
            "end it with a domain of yours, as `vpod.example.com`",
        );
    } else if let Some(reason) = syntax::subdomain(name) {
        findings.fault(
            "webhook-name",
            "name",
            format!("`{name}` is no name for a webhook: {reason}"),
            "rename it",
        );
    }
    address(hook, findings);
    let versions = texts(hook, "/admissionReviewVersions");
    if !versions.iter().any(|version| matches!(*version, "v1" | "v1beta1")) {
        findings.fault(
            "webhook-review-versions",
            "admissionReviewVersions",
            "no version of AdmissionReview is named that an API server sends",
            "name `v1`",
        );
    }
    for (index, rule) in hook.get("rules").and_then(Value::as_array).into_iter().flatten().enumerate() {
        // Only the first rule can come from the arguments, further ones from the patch.
        let argument = |name| if index == 0 { name } else { "patch" };
        for (field, name) in [
            ("apiGroups", "groups"),
            ("apiVersions", "versions"),
            ("operations", "verbs"),
            ("resources", "resources"),
        ] {
            list(&texts(rule, &format!("/{field}")), name, argument(name), findings);
        }
        resources(&texts(rule, "/resources"), argument("resources"), findings);
    }
    conditions(marker, hook, findings);
}

fn address(hook: &Value, findings: &mut Findings<'_>) {
    let url = text(hook, "/clientConfig/url");
    if !url.is_empty() {
        let problem = match url.strip_prefix("https://") {
            None => Some("it does not begin with `https://`"),
            Some(rest) if rest.is_empty() || rest.starts_with('/') => Some("it names no host"),
            Some(rest) if rest.split('/').next().is_some_and(|host| host.contains('@')) => {
                Some("it has a user in it")
            }
            Some(rest) if rest.contains('?') => Some("it has a query"),
            Some(rest) if rest.contains('#') => Some("it has a fragment"),
            Some(_) => None,
        };
        if let Some(problem) = problem {
            findings.fault(
                "webhook-url",
                "url",
                format!("the API server does not call `{url}`: {problem}"),
                "",
            );
        }
    }
    let path = text(hook, "/clientConfig/service/path");
    if !path.is_empty() {
        let segments = path.strip_prefix('/').map(|rest| rest.strip_suffix('/').unwrap_or(rest));
        let reason = match segments {
            None => Some("it does not begin with `/`".to_owned()),
            Some("") => None,
            Some(segments) => segments.split('/').find_map(|segment| match segment {
                "" => Some("one of its parts is empty".to_owned()),
                segment => syntax::subdomain(segment),
            }),
        };
        if let Some(reason) = reason {
            findings.fault(
                "webhook-path",
                "path",
                format!("the API server does not call `{path}`: {reason}"),
                "",
            );
        }
    }
    if let Some(port) = hook.pointer("/clientConfig/service/port").and_then(Value::as_i64)
        && !(1..=65_535).contains(&port)
    {
        findings.fault(
            "webhook-port",
            "servicePort",
            format!("{port} is no port: they go from 1 to 65535"),
            "",
        );
    }
}

/// Lists in which `*` stands alone.
fn list(items: &[&str], name: &str, argument: &str, findings: &mut Findings<'_>) {
    if items.is_empty() {
        findings.fault(
            "webhook-empty-list",
            argument,
            format!("the webhook has no `{name}`, so it is asked about nothing"),
            "",
        );
    }
    if name != "groups" && items.contains(&"") {
        findings.fault("webhook-empty-item", argument, format!("one of the `{name}` is empty"), "remove it");
    }
    if name != "resources" && items.len() > 1 && items.contains(&"*") {
        findings.fault(
            "webhook-wildcard",
            argument,
            format!("`*` among the `{name}` stands for all, and the API server wants nothing beside it"),
            "keep only the `*`",
        );
    }
}

/// Resources that others stand for already.
fn resources(resources: &[&str], argument: &str, findings: &mut Findings<'_>) {
    let mut seen = BTreeSet::new();
    for resource in resources {
        let (name, subresource) =
            resource.split_once('/').map_or((*resource, None), |(name, rest)| (name, Some(rest)));
        let wider = match (name, subresource) {
            _ if *resource != "*/*" && resources.contains(&"*/*") => Some("*/*".to_owned()),
            ("*", None) => None,
            (_, None) => resources.contains(&"*").then(|| "*".to_owned()),
            (_, Some(subresource)) => [format!("{name}/*"), format!("*/{subresource}")]
                .into_iter()
                .find(|wider| wider != resource && resources.contains(&wider.as_str())),
        };
        if let Some(wider) = wider.filter(|_| seen.insert(*resource)) {
            findings.fault(
                "webhook-wildcard",
                Part::Item(argument, resource),
                format!("`{wider}` stands for `{resource}` too, and the API server wants only one of them"),
                "remove one of them",
            );
        }
    }
}

fn conditions(marker: &Marker, hook: &Value, findings: &mut Findings<'_>) {
    let argument = if marker.argument("matchConditions").is_some() { "matchConditions" } else { "patch" };
    let conditions =
        hook.get("matchConditions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if conditions.len() > MOST_CONDITIONS {
        findings.fault(
            "webhook-conditions",
            argument,
            format!("the webhook has {} match conditions; {MOST_CONDITIONS} are allowed", conditions.len()),
            "join some with `&&`",
        );
    }
    let mut names = BTreeSet::new();
    for condition in conditions {
        let (name, expression) = (text(condition, "/name"), text(condition, "/expression"));
        if !names.insert(name) {
            let message = format!("another match condition of this webhook is named `{name}`");
            findings.fault("webhook-condition-name", argument, message, "rename one of them");
        }
        if let Some(reason) = syntax::qualified(name) {
            let message = format!("`{name}` is no name for a match condition: {reason}");
            findings.fault("webhook-condition-name", argument, message, "rename it");
        }
        if expression.trim().is_empty() {
            let message = format!("the match condition `{name}` has no expression");
            findings.fault("webhook-condition", argument, message, "write one in CEL");
        } else if let Some(reason) = syntax::condition(expression) {
            let message = format!("the match condition `{name}` does not compile: {reason}");
            findings.fault(
                "webhook-condition",
                argument,
                message,
                "it speaks of `object`, `oldObject`, `request` and `authorizer`, in CEL",
            );
        }
    }
}

fn text<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn texts<'v>(value: &'v Value, pointer: &str) -> Vec<&'v str> {
    let items = value.pointer(pointer).and_then(Value::as_array);
    items.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The reasons why a text is not what it should be, as the API server finds them.
#[cfg(feature = "check")]
mod syntax {
    use kubewright_schema::{cel::check_expression, names};

    pub(super) fn subdomain(value: &str) -> Option<String> {
        names::dns1123_subdomain(value).into_iter().next()
    }

    pub(super) fn qualified(value: &str) -> Option<String> {
        names::label_key(value).into_iter().next()
    }

    pub(super) fn condition(expression: &str) -> Option<String> {
        let errors = check_expression(expression, &["object", "oldObject", "request", "authorizer"]);
        errors.into_iter().next().map(|error| error.text)
    }
}

/// Without the feature `check`, nothing is known to be wrong.
#[cfg(not(feature = "check"))]
mod syntax {
    pub(super) fn subdomain(_: &str) -> Option<String> {
        None
    }

    pub(super) fn qualified(_: &str) -> Option<String> {
        None
    }

    pub(super) fn condition(_: &str) -> Option<String> {
        None
    }
}
