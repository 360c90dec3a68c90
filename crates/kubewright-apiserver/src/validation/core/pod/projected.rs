//! Volumes that put files of several sources into one directory.

use std::collections::BTreeSet;

use kubewright_schema::names;

use super::volumes::{validate_downward_api_file, validate_key_to_path, validate_mode};
use crate::validation::{Field, file_path, selector, signer};

const KEY_TYPES: [&str; 6] = ["RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"];

/// The paths of the files in the volume; no two files have one.
type Paths<'a> = BTreeSet<&'a str>;

pub(super) fn validate(volume: Field<'_>) {
    validate_mode(volume.child("defaultMode"));
    let mut paths = Paths::new();
    for source in volume.child("sources").items() {
        let mut kinds = 0;
        for kind in ["secret", "configMap"] {
            let source = source.child(kind);
            if source.is_set() {
                kinds += 1;
                validate_keys(volume, source, &mut paths);
            }
        }
        let downward = source.child("downwardAPI");
        if downward.is_set() {
            kinds += 1;
            for file in downward.child("items").items() {
                // The faults of a file are reported at its source.
                validate_downward_api_file(downward.with(file.value()));
                take(volume, file.child("path").text(), &mut paths);
            }
        }
        let token = source.child("serviceAccountToken");
        if token.is_set() {
            kinds += 1;
            validate_token(volume, token);
        }
        let bundle = source.child("clusterTrustBundle");
        if bundle.is_set() {
            kinds += 1;
            validate_trust_bundle(volume, bundle, &mut paths);
        }
        let certificate = source.child("podCertificate");
        if certificate.is_set() {
            kinds += 1;
            validate_certificate(volume, certificate, &mut paths);
        }
        if kinds > 1 {
            source.forbidden("may not specify more than 1 volume type per source");
        }
    }
}

/// Notes the path of a file, and reports at the volume if another file has it.
fn take<'a>(volume: Field<'_>, path: &'a str, paths: &mut Paths<'a>) {
    if !path.is_empty() && !paths.insert(path) {
        volume.invalid(path, "conflicting duplicate paths");
    }
}

fn validate_keys<'a>(volume: Field<'_>, source: Field<'a>, paths: &mut Paths<'a>) {
    let name = source.child("name");
    name.require();
    for item in source.child("items").items() {
        validate_key_to_path(item);
        let path = item.child("path").text();
        if !path.is_empty() && !paths.insert(path) {
            volume.invalid(name.text(), "conflicting duplicate paths");
        }
    }
}

fn validate_token(volume: Field<'_>, token: Field<'_>) {
    let seconds = token.child("expirationSeconds");
    match seconds.int() {
        None => seconds.required(""),
        Some(number) if number < 600 => {
            seconds.invalid(number, "may not specify a duration less than 10 minutes");
        }
        Some(number) if number > 1 << 32 => {
            seconds.invalid(number, "may not specify a duration larger than 2^32 seconds");
        }
        Some(_) => {}
    }
    // Reported at the volume.
    let path = volume.at("path").with(token.child("path").value());
    if path.require() {
        file_path::validate_not_reserved(path);
    }
}

fn validate_trust_bundle<'a>(volume: Field<'_>, bundle: Field<'a>, paths: &mut Paths<'a>) {
    let (name, signer_name, labels) =
        (bundle.child("name"), bundle.child("signerName"), bundle.child("labelSelector"));
    match (name.is_set(), signer_name.is_set()) {
        (true, true) => {
            bundle.invalid_as(
                "core.ClusterTrustBundleProjection",
                "only one of name and signerName may be used",
            );
        }
        (true, false) => {
            name.require_or("must be a valid object name");
            for reason in signer::trust_bundle_name(name.text()) {
                name.invalid(name.text(), format!("not a valid clustertrustbundlename: {reason}"));
            }
            if labels.is_set() {
                let detail = "labelSelector must be unset if name is specified";
                labels.invalid_as("*meta.LabelSelector", detail);
            }
        }
        (false, true) => {
            signer_name.require_or("must be a valid signer name");
            signer::validate_signer_name(signer_name);
            selector::validate_label_selector(labels);
        }
        (false, false) => bundle.required("either name or signerName must be specified"),
    }
    let path = bundle.child("path");
    path.require();
    file_path::validate_not_reserved(path);
    if !paths.insert(path.text()) {
        volume.invalid(path.text(), "conflicting duplicate paths");
    }
}

fn validate_certificate<'a>(volume: Field<'_>, certificate: Field<'a>, paths: &mut Paths<'a>) {
    const SHORTEST: i64 = 3600;
    const LONGEST: i64 = 91 * 24 * 3600;
    const LONGEST_OF_KUBERNETES: i64 = 24 * 3600;
    let signer_name = certificate.child("signerName");
    signer::validate_signer_name(signer_name);
    validate_user_annotations(certificate.child("userAnnotations"));
    certificate.child("keyType").one_of(&KEY_TYPES);
    let seconds = certificate.child("maxExpirationSeconds");
    if let Some(number) = seconds.int() {
        if number < SHORTEST {
            seconds.invalid(number, "if provided, maxExpirationSeconds must be >= 3600");
        }
        let is_own = signer::is_kubernetes_signer(signer_name.text());
        let longest = if is_own { LONGEST_OF_KUBERNETES } else { LONGEST };
        if number > longest {
            let detail = format!("if provided, maxExpirationSeconds must be <= {longest}");
            seconds.invalid(number, detail);
        }
    }
    let mut count = 0;
    for field in ["credentialBundlePath", "keyPath", "certificateChainPath"] {
        let path = certificate.child(field);
        if !path.is_empty() {
            count += 1;
            file_path::validate_not_reserved(path);
            take(volume, path.text(), paths);
        }
    }
    if count == 0 {
        let detail = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath";
        certificate.required(detail);
    }
}

/// Annotations for whoever signs: their keys have a domain.
fn validate_user_annotations(annotations: Field<'_>) {
    for key in annotations.map().into_iter().flatten().map(|(key, _)| key.to_lowercase()) {
        if key.is_empty() {
            annotations.required("");
            continue;
        }
        let reasons = names::label_key(&key);
        if reasons.is_empty() && !key.contains('/') {
            let detail = "must be a domain-prefixed key (such as \"acme.io/foo\")";
            annotations.invalid(key.as_str(), detail);
        }
        for reason in reasons {
            annotations.invalid(key.as_str(), reason);
        }
    }
    let sizes = annotations.map().into_iter().flatten();
    let size: usize = sizes.map(|(key, value)| key.len() + value.as_str().unwrap_or_default().len()).sum();
    if size > 256 * 1024 {
        annotations.too_long(256 * 1024);
    }
}
