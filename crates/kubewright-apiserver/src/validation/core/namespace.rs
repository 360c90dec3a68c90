use kubewright_schema::names;

use super::super::Field;

pub(super) fn create(namespace: Field<'_>) {
    let finalizers = namespace.child("spec").child("finalizers");
    for finalizer in finalizers.list() {
        // Kubernetes does not say which one.
        check_finalizer(finalizers.with(finalizer));
    }
}

pub(super) fn update(subresource: &str, new: Field<'_>) {
    match subresource {
        "" => create(new),
        "finalize" => new.child("spec").child("finalizers").items().for_each(check_finalizer),
        "status" => check_phase(new),
        _ => {}
    }
}

fn check_phase(namespace: Field<'_>) {
    let status = namespace.child("status");
    let is_deleting = namespace.child("metadata").child("deletionTimestamp").is_set();
    let (expected, detail) = if is_deleting {
        ("Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty")
    } else {
        ("Active", "may only be 'Active' if `deletionTimestamp` is empty")
    };
    if status.child("phase").text() != expected {
        status.at("Phase").invalid(status.child("phase").text(), detail);
    }
}

fn check_finalizer(finalizer: Field<'_>) {
    finalizer.check(names::label_key);
    check_standard_finalizer(finalizer);
}

/// Checks that a finalizer without a domain is one of Kubernetes.
pub(in crate::validation) fn check_standard_finalizer(finalizer: Field<'_>) {
    let name = finalizer.text();
    if !name.contains('/') && !matches!(name, "kubernetes" | "orphan" | "foregroundDeletion") {
        let detail = "name is neither a standard finalizer name nor is it fully qualified";
        finalizer.invalid(name, detail);
    }
}
