//! API services: who serves a version of a group.

use kubewright_schema::names;

use super::Field;

const HIGHEST_GROUP_PRIORITY: i64 = 20_000;
const HIGHEST_VERSION_PRIORITY: i64 = 1_000;

pub(super) fn validate(service: Field<'_>) {
    let (name, spec) = (service.child("metadata").child("name"), service.child("spec"));
    let (group, version) = (spec.child("group"), spec.child("version"));
    let expected = format!("{}.{}", version.text(), group.text());
    if !name.is_empty() && names::path_segment_name(name.text()).is_empty() && name.text() != expected {
        name.invalid(name.text(), format!("must be `spec.version+\".\"+spec.group`: {expected:?}"));
    }
    if !group.is_empty() {
        group.check(names::dns1123_subdomain);
    } else if version.text() != "v1" {
        group.required("only v1 may have an empty group and it better be legacy kube");
    }
    version.check(names::dns1035_label);
    for (field, highest) in
        [("groupPriorityMinimum", HIGHEST_GROUP_PRIORITY), ("versionPriority", HIGHEST_VERSION_PRIORITY)]
    {
        let priority = spec.child(field);
        if !(1..=highest).contains(&priority.number()) {
            priority.invalid(priority.number(), format!("must be positive and less than {highest}"));
        }
    }
    check_backend(spec);
}

pub(super) fn update(subresource: &str, new: Field<'_>) {
    if subresource == "status" {
        for condition in new.child("status").child("conditions").items() {
            condition.child("status").one_of(&["True", "False", "Unknown"]);
        }
    } else {
        validate(new);
    }
}

/// Checks where requests go, and how: a version that this server serves itself has neither.
fn check_backend(spec: Field<'_>) {
    let (backend, bundle) = (spec.child("service"), spec.child("caBundle"));
    let skips = spec.child("insecureSkipTLSVerify");
    if !backend.is_set() {
        if !bundle.is_empty() {
            let shown = format!("{} bytes", decoded_length(bundle.text()));
            bundle.invalid(shown, "local APIServices may not have a caBundle");
        }
        if skips.is_true() {
            skips.invalid(true, "local APIServices may not have insecureSkipTLSVerify");
        }
        return;
    }
    backend.child("namespace").require();
    backend.child("name").require();
    let port = backend.child("port");
    if !(1..=65535).contains(&port.number()) {
        port.invalid(port.number(), "port is not valid: must be between 1 and 65535, inclusive");
    }
    if skips.is_true() && !bundle.is_empty() {
        skips.invalid(true, "may not be true if caBundle is present");
    }
}

/// How many bytes a text in Base64 stands for.
fn decoded_length(text: &str) -> usize {
    text.trim_end_matches('=').len() * 3 / 4
}
