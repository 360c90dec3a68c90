use kubewright_schema::names;

use crate::validation::Field;

const CONTROLLER_LENGTH: usize = 250;
const PATH_PROBLEM: &str = r"Invalid path (regex used for validation is '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')";

pub(super) fn validate(class: Field<'_>, old: Option<Field<'_>>) {
    let spec = class.child("spec");
    let (controller, parameters) = (spec.child("controller"), spec.child("parameters"));
    if let Some(old) = old {
        controller.immutable(old.child("spec").child("controller"));
    }
    if controller.text().len() > CONTROLLER_LENGTH {
        controller.too_long(i64::try_from(CONTROLLER_LENGTH).unwrap_or(i64::MAX));
    }
    check_domain_path(controller);
    if !parameters.is_set() {
        return;
    }
    check_parameters(parameters);
    // These are found after all else.
    for field in ["kind", "name"] {
        parameters.child(field).require();
    }
}

/// Checks a path within a domain: `example.com/path`.
fn check_domain_path(path: Field<'_>) {
    if !path.require() {
        return;
    }
    let text = path.text();
    let (domain, rest) = text.split_once('/').unwrap_or_default();
    if domain.is_empty() || rest.is_empty() {
        path.invalid(text, "must be a domain-prefixed path (such as \"acme.io/foo\")");
        return;
    }
    for reason in names::dns1123_subdomain(domain) {
        path.invalid(domain, reason);
    }
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || br"/-._~%!$&'()*+,;=:".contains(&byte);
    if !rest.bytes().all(is_allowed) {
        path.invalid(rest, PATH_PROBLEM);
    }
}

fn check_parameters(parameters: Field<'_>) {
    if parameters.child("apiGroup").is_set() {
        parameters.child("apiGroup").check(names::dns1123_subdomain);
    }
    for field in ["kind", "name"] {
        if !parameters.child(field).is_empty() {
            parameters.child(field).check(names::path_segment_name);
        }
    }
    let (scope, namespace) = (parameters.child("scope"), parameters.child("namespace"));
    match scope.text() {
        _ if !scope.is_set() => scope.required(""),
        "Namespace" if !namespace.is_set() => namespace.required("`parameters.scope` is set to 'Namespace'"),
        "Namespace" => namespace.check(names::dns1123_label),
        "Cluster" if namespace.is_set() => namespace.forbidden("`parameters.scope` is set to 'Cluster'"),
        _ => scope.one_of(&["Cluster", "Namespace"]),
    }
}
