use kubewright_schema::names;

use crate::validation::{Field, ip, port};

const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
const PATH_TYPES: [&str; 3] = ["Exact", "ImplementationSpecific", "Prefix"];

pub(super) fn validate_create(ingress: Field<'_>) {
    validate(ingress);
    let annotation = ingress.child("metadata").child("annotations").entry(CLASS_ANNOTATION);
    let class = ingress.child("spec").child("ingressClassName");
    if annotation.is_set() && class.is_set() && annotation.text() != class.text() {
        let place = ingress.at("annotations").at(CLASS_ANNOTATION);
        place.invalid(annotation.text(), "must match `ingressClassName` when both are specified");
    }
}

pub(super) fn validate(ingress: Field<'_>) {
    let spec = ingress.child("spec");
    let (rules, default, class) =
        (spec.child("rules"), spec.child("defaultBackend"), spec.child("ingressClassName"));
    if rules.is_empty() && !default.is_set() {
        spec.invalid(rules.value().clone(), "either `defaultBackend` or `rules` must be specified");
    }
    if default.is_set() {
        check_backend(default);
    }
    for rule in rules.items() {
        check_host(rule.child("host"));
        let http = rule.child("http");
        let paths = http.child("paths");
        if http.is_set() && paths.is_empty() {
            paths.required("");
        }
        for path in paths.items() {
            check_path(path);
        }
    }
    for tls in spec.child("tls").items() {
        for host in tls.child("hosts").items() {
            check_host_name(host);
        }
        if !tls.child("secretName").is_empty() {
            tls.child("secretName").check(names::dns1123_subdomain);
        }
    }
    if class.is_set() {
        class.check(names::dns1123_subdomain);
    }
}

pub(super) fn warnings(ingress: Field<'_>) -> Option<String> {
    let annotation = ingress.child("metadata").child("annotations").entry(CLASS_ANNOTATION);
    let has_class = ingress.child("spec").child("ingressClassName").is_set();
    (annotation.is_set() && !has_class).then(|| {
        format!("annotation {CLASS_ANNOTATION:?} is deprecated, please use 'spec.ingressClassName' instead")
    })
}

fn check_host(host: Field<'_>) {
    if host.is_empty() {
        return;
    }
    if ip::parse_sloppy(host.text()).is_some() {
        host.invalid(host.text(), "must be a DNS name, not an IP address");
    }
    check_host_name(host);
}

fn check_host_name(host: Field<'_>) {
    if host.text().contains('*') {
        host.check(names::wildcard_dns1123_subdomain);
    } else {
        host.check(names::dns1123_subdomain);
    }
}

fn check_path(rule: Field<'_>) {
    let (kind, path) = (rule.child("pathType"), rule.child("path"));
    if !kind.is_set() {
        kind.required("pathType must be specified");
        return;
    }
    let text = path.text();
    let is_exact = matches!(kind.text(), "Exact" | "Prefix");
    kind.one_of(&PATH_TYPES);
    let is_known = PATH_TYPES.contains(&kind.text());
    if is_known && !text.starts_with('/') && (is_exact || !text.is_empty()) {
        path.invalid(text, "must be an absolute path");
    }
    if is_exact {
        for sequence in ["//", "/./", "/../", "%2f", "%2F"].iter().filter(|part| text.contains(**part)) {
            path.invalid(text, format!("must not contain '{sequence}'"));
        }
        for end in ["/..", "/."].iter().filter(|end| text.ends_with(**end)) {
            path.invalid(text, format!("cannot end with '{end}'"));
        }
    }
    check_backend(rule.child("backend"));
}

fn check_backend(backend: Field<'_>) {
    let (service, resource) = (backend.child("service"), backend.child("resource"));
    match (service.is_set(), resource.is_set()) {
        (true, true) => backend.invalid("", "cannot set both resource and service backends"),
        (false, true) => check_resource(resource),
        (true, false) => check_service(service, backend),
        (false, false) => backend.invalid("", "resource or service backend is required"),
    }
}

fn check_service(service: Field<'_>, backend: Field<'_>) {
    if service.child("name").require() {
        service.child("name").check(names::dns1123_label);
    }
    let (name, number) = (service.child("port").child("name"), service.child("port").child("number"));
    match (name.is_empty(), number.number() == 0) {
        (false, false) => backend.invalid("", "cannot set both port name & port number"),
        (false, true) => name.check(names::port_name),
        (true, false) => number.in_range(port::PORTS),
        (true, true) => backend.required("port name or number is required"),
    }
}

fn check_resource(resource: Field<'_>) {
    if resource.child("apiGroup").is_set() {
        resource.child("apiGroup").check(names::dns1123_subdomain);
    }
    for field in ["kind", "name"] {
        if resource.child(field).require() {
            resource.child(field).check(names::path_segment_name);
        }
    }
}
