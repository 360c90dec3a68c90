//! What classes and claims ask for.

use kubewright_schema::names;
use serde_json::Value;

use super::{at_most, check_unique, itself, name_of, repeated, selector, taint, validate_full_name};
use crate::{
    types::{Types, order},
    validation::{Field, selector as labels},
};

const MOST_REQUESTS: usize = 32;
const MOST_SUBREQUESTS: usize = 8;
const DRIVER_LENGTH: usize = 63;
const NOT_A_REQUEST: &str =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/// Checks a class. What has not changed since it was stored is fine.
pub(super) fn validate_class(spec: Field<'_>, old: Option<Field<'_>>) {
    let is_new = |field| old.is_none_or(|old| old.child(field).value() != spec.child(field).value());
    if is_new("selectors") {
        selector::validate(spec.child("selectors"));
    }
    for config in at_most(spec.child("config"), MOST_REQUESTS) {
        validate_configuration(config);
    }
}

pub(super) fn validate_template(spec: Field<'_>) {
    labels::validate_annotations(spec.child("metadata").child("annotations"));
    labels::validate_labels(spec.child("metadata").child("labels"));
    validate(spec.child("spec"));
}

/// Checks what a claim asks for.
pub(super) fn validate(spec: Field<'_>) {
    let devices = spec.child("devices");
    let requests = devices.child("requests");
    for request in at_most(requests, MOST_REQUESTS) {
        validate_request(request);
    }
    check_requests_unique(requests, "io.k8s.api.resource.v1.DeviceRequest");
    for constraint in at_most(devices.child("constraints"), MOST_REQUESTS) {
        validate_references(constraint.child("requests"), requests);
        let (same, distinct) = (constraint.child("matchAttribute"), constraint.child("distinctAttribute"));
        match (same.is_set(), distinct.is_set()) {
            (true, _) => validate_full_name(same),
            (false, true) => validate_full_name(distinct),
            (false, false) => constraint.required(
                "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set",
            ),
        }
    }
    for config in at_most(devices.child("config"), MOST_REQUESTS) {
        validate_references(config.child("requests"), requests);
        validate_configuration(config);
    }
}

fn validate_request(request: Field<'_>) {
    request.child("name").check(names::dns1123_label);
    let (exactly, alternatives) = (request.child("exactly"), request.child("firstAvailable"));
    match (exactly.is_set(), !alternatives.is_empty()) {
        (false, false) => request.required("exactly one of `exactly` or `firstAvailable` is required"),
        (true, true) => request.invalid(
            Value::Null,
            "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
        ),
        (true, false) => validate_choice(exactly),
        (false, true) => {
            for alternative in at_most(alternatives, MOST_SUBREQUESTS) {
                alternative.child("name").check(names::dns1123_label);
                validate_choice(alternative);
            }
            check_requests_unique(alternatives, "io.k8s.api.resource.v1.DeviceSubRequest");
        }
    }
}

fn validate_choice(choice: Field<'_>) {
    let class = choice.child("deviceClassName");
    if class.require() {
        class.check(names::dns1123_subdomain);
    }
    selector::validate(choice.child("selectors"));
    let (mode, count) = (choice.child("allocationMode"), choice.child("count"));
    match mode.text() {
        "All" if count.number() != 0 => {
            count.invalid(count.number(), "must not be specified when allocationMode is 'All'");
        }
        "ExactCount" if count.number() <= 0 => count.invalid(count.number(), "must be greater than zero"),
        "All" | "ExactCount" => {}
        other => mode.not_supported(other, &["All", "ExactCount"]),
    }
    choice.child("tolerations").items().for_each(taint::validate_toleration);
}

/// Checks the names of requests that are said elsewhere in a claim.
fn validate_references(references: Field<'_>, requests: Field<'_>) {
    for reference in at_most(references, MOST_REQUESTS) {
        let text = reference.text();
        let (request, alternative) = match text.split_once('/') {
            Some((_, rest)) if rest.contains('/') => {
                reference.invalid(text, NOT_A_REQUEST);
                continue;
            }
            Some((request, alternative)) => (request, Some(alternative)),
            None => (text, None),
        };
        for name in std::iter::once(request).chain(alternative) {
            for reason in names::dns1123_label(name) {
                reference.invalid(name, reason);
            }
        }
        let is_known = requests.items().filter(|own| own.child("name").text() == request).any(|own| {
            alternative
                .is_none_or(|name| own.child("firstAvailable").list().iter().any(|one| name_of(one) == name))
        });
        if !is_known {
            reference.invalid(text, NOT_A_REQUEST);
        }
    }
    check_unique(references, itself);
}

fn validate_configuration(config: Field<'_>) {
    let opaque = config.child("opaque");
    if !opaque.is_set() {
        return opaque.required("");
    }
    let driver = opaque.child("driver");
    if driver.require() {
        if driver.text().len() > DRIVER_LENGTH {
            driver.too_long_characters(63);
        }
        driver.check(caseless_subdomain);
    }
    let parameters = opaque.child("parameters");
    match parameters.value() {
        Value::Null => parameters.required(""),
        Value::Object(_) => {}
        _ => parameters.invalid("<value omitted>", "must be a valid JSON object"),
    }
}

/// Checks that no request has the name of one before it.
fn check_requests_unique(requests: Field<'_>, kind: &str) {
    for request in repeated(requests, name_of) {
        let ty = Types::get().named(kind);
        request.duplicate_shown(ty.map(|ty| order::written(ty, request.value())).unwrap_or_default());
    }
}

/// The rule for a subdomain whose letters may be of either case.
fn caseless_subdomain(name: &str) -> Vec<String> {
    let is_fine = names::dns1123_subdomain(&name.to_ascii_lowercase()).is_empty();
    let reason = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end \
                  with an alphanumeric character (e.g. 'Example.com', regex used for validation is \
                  '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    if is_fine { Vec::new() } else { vec![reason.to_owned()] }
}
