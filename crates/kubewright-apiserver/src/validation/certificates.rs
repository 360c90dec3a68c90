//! Requests to sign certificates, and bundles of certificates to trust.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use kubewright_schema::error::go;
use serde_json::Value;
use x509_parser::{certification_request::X509CertificationRequest, pem::Pem, prelude::FromDer};

use super::{Field, diff, shape, signer};

const SHORTEST: i64 = 600;
const BUNDLE_SIZE: usize = 1024 * 1024;
const LEGACY_SIGNER: &str = "kubernetes.io/legacy-unknown";
/// The conditions that are there or not, and never false.
const VERDICTS: [&str; 3] = ["Approved", "Denied", "Failed"];
const USAGES: [&str; 23] = [
    "any",
    "cert sign",
    "client auth",
    "code signing",
    "content commitment",
    "crl sign",
    "data encipherment",
    "decipher only",
    "digital signature",
    "email protection",
    "encipher only",
    "ipsec end system",
    "ipsec tunnel",
    "ipsec user",
    "key agreement",
    "key encipherment",
    "microsoft sgc",
    "netscape sgc",
    "ocsp signing",
    "s/mime",
    "server auth",
    "signing",
    "timestamping",
];

pub(super) fn create(plural: &str, object: Field<'_>) {
    match plural {
        "certificatesigningrequests" => validate_request(object, None),
        "clustertrustbundles" => validate_bundle(object, true),
        _ => {}
    }
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>, old: Field<'_>) {
    match plural {
        "certificatesigningrequests" => {
            validate_request(new, Some(old));
            check_changes(subresource, new, old);
            declared(new);
        }
        "clustertrustbundles" => {
            let (bundle, old_bundle) = (new.child("spec"), old.child("spec"));
            let is_changed = bundle.child("trustBundle").text() != old_bundle.child("trustBundle").text();
            validate_bundle(new, is_changed);
            let (signer, old_signer) = (bundle.child("signerName"), old_bundle.child("signerName"));
            if signer.text() != old_signer.text() {
                signer.invalid(signer.text(), "field is immutable");
            }
        }
        _ => {}
    }
}

fn validate_request(request: Field<'_>, old: Option<Field<'_>>) {
    let spec = request.child("spec");
    if let Some(problem) = request_problem(&bytes(spec.child("request"))) {
        spec.child("request").invalid(spec.child("request").value().clone(), problem);
    }
    let usages = spec.child("usages");
    if usages.is_empty() {
        usages.required("");
    }
    usages.items().for_each(|usage| usage.one_of(&USAGES));
    for (index, usage) in usages.items().enumerate() {
        if usages.list().iter().take(index).any(|other| other == usage.value()) {
            usage.duplicate(usage.text());
        }
    }
    let name = spec.child("signerName");
    if name.text() == LEGACY_SIGNER {
        name.invalid(name.text(), "the legacy signerName is not allowed via this API version");
    } else {
        signer::validate_signer_name(name);
    }
    let expiration = spec.child("expirationSeconds");
    if let Some(seconds) = expiration.int().filter(|seconds| *seconds < SHORTEST) {
        let detail = "may not specify a duration less than 600 seconds (10 minutes)";
        expiration.invalid(seconds, detail);
    }
    let status = request.child("status");
    check_conditions(status.child("conditions"));
    let certificate = status.child("certificate");
    let is_same =
        old.is_some_and(|old| old.child("status").child("certificate").text() == certificate.text());
    if !is_same && let Some(problem) = certificate_problem(&bytes(certificate)) {
        certificate.invalid("<certificate data>", problem);
    }
}

fn check_conditions(conditions: Field<'_>) {
    for (index, condition) in conditions.items().enumerate() {
        let (kind, status) = (condition.child("type"), condition.child("status"));
        kind.require();
        if status.require() {
            if VERDICTS.contains(&kind.text()) {
                status.one_of(&["True"]);
            } else {
                status.one_of(&["False", "True", "Unknown"]);
            }
        }
        if conditions.items().take(index).any(|other| other.child("type").text() == kind.text()) {
            kind.duplicate(kind.text());
        }
    }
}

/// What is found out after all else.
fn declared(request: Field<'_>) {
    let conditions = request.child("status").child("conditions");
    let has = |kind: &str| conditions.items().any(|own| own.child("type").text() == kind);
    if has("Approved") && has("Denied") {
        let detail = "must specify at most one of: `conditions[{\"type\": \"Approved\"}]`, \
                      `conditions[{\"type\": \"Denied\"}]`";
        let value = "{conditions[{\"type\": \"Approved\"}], conditions[{\"type\": \"Denied\"}]}";
        conditions.invalid(value, detail);
    }
}

fn of_kind(request: Field<'_>, kind: &str) -> Vec<Value> {
    let conditions = request.child("status").child("conditions").list();
    conditions.iter().filter(|own| own.get("type").is_some_and(|own| own == kind)).cloned().collect()
}

fn check_changes(subresource: &str, new: Field<'_>, old: Field<'_>) {
    let status = new.child("status");
    let conditions = status.child("conditions");
    for kind in VERDICTS {
        if of_kind(new, kind).len() < of_kind(old, kind).len() {
            conditions.forbidden(format!("updates may not remove a condition of type {kind:?}"));
        }
    }
    for kind in VERDICTS.iter().take(2).filter(|_| subresource != "approval") {
        let (own, before) = (of_kind(new, kind), of_kind(old, kind));
        if own.len() > before.len() {
            conditions.forbidden(format!("updates may not add a condition of type {kind:?}"));
        } else if own.len() == before.len() && own != before {
            let shown = |conditions: &[Value]| {
                shape::show_lines(
                    "[]certificates.CertificateSigningRequestCondition",
                    &Value::from(conditions),
                )
            };
            let changes = diff::unified(&shown(&before), &shown(&own));
            conditions.forbidden(format!("updates may not modify a condition of type {kind:?}\n{changes}"));
        }
    }
    let certificate = status.child("certificate");
    let before = old.child("status").child("certificate");
    if certificate.text() != before.text() {
        if subresource != "status" {
            certificate.forbidden("updates may not set certificate content");
        } else if !before.is_empty() {
            certificate.forbidden("updates may not modify existing certificate content");
        }
    }
}

fn bytes(field: Field<'_>) -> Vec<u8> {
    STANDARD.decode(field.text()).unwrap_or_default()
}

fn request_problem(pem: &[u8]) -> Option<String> {
    let block = Pem::iter_from_buffer(pem).next().and_then(Result::ok);
    let Some(block) = block.filter(|block| block.label == "CERTIFICATE REQUEST") else {
        return Some("PEM block type must be CERTIFICATE REQUEST".to_owned());
    };
    let parsed = X509CertificationRequest::from_der(&block.contents);
    parsed.is_err().then(|| "asn1: structure error: tags don't match".to_owned())
}

fn certificate_problem(pem: &[u8]) -> Option<String> {
    if pem.is_empty() {
        return None;
    }
    let mut blocks = 0;
    for block in Pem::iter_from_buffer(pem).map_while(Result::ok) {
        blocks += 1;
        if block.label != "CERTIFICATE" {
            let label = go::quote(&block.label);
            return Some(format!("only CERTIFICATE PEM blocks are allowed, found {label}"));
        }
        if block.parse_x509().is_err() {
            return Some("x509: malformed certificate".to_owned());
        }
    }
    (blocks == 0).then(|| "must contain at least one CERTIFICATE PEM block".to_owned())
}

fn validate_bundle(bundle: Field<'_>, parses: bool) {
    let spec = bundle.child("spec");
    let (signer, name) = (spec.child("signerName"), bundle.child("metadata").child("name"));
    if !name.is_empty() {
        for reason in signer::trust_bundle_name(name.text()) {
            name.invalid(name.text(), reason);
        }
    }
    if !signer.is_empty() {
        signer::validate_signer_name(signer);
    }
    let text = spec.child("trustBundle");
    if !parses {
        return;
    }
    if text.text().len() > BUNDLE_SIZE {
        text.too_long(1_048_576);
        return;
    }
    let before = text.report().len();
    let mut anchors: BTreeMap<Vec<u8>, Vec<String>> = BTreeMap::new();
    for (index, block) in Pem::iter_from_buffer(text.text().as_bytes()).map_while(Result::ok).enumerate() {
        let problem = if block.label == "CERTIFICATE" {
            match block.parse_x509() {
                Err(_) => Some("does not parse as X.509".to_owned()),
                Ok(certificate) if !certificate.is_ca() => Some("does not have the CA bit set".to_owned()),
                Ok(_) => None,
            }
        } else {
            Some(format!("has bad block type: {}", block.label))
        };
        match problem {
            Some(problem) => text.invalid("<value omitted>", format!("entry {index} {problem}")),
            None => anchors.entry(block.contents).or_default().push(index.to_string()),
        }
    }
    if text.report().len() > before {
        return;
    }
    if anchors.is_empty() {
        text.invalid("<value omitted>", "at least one trust anchor must be provided");
    }
    for indices in anchors.values().filter(|indices| indices.len() > 1) {
        let detail = format!("duplicate trust anchor (indices [{}])", indices.join(" "));
        text.invalid("<value omitted>", detail);
    }
}
