//! Claims of persistent volumes, and the templates of such.

use kubewright_quota::Quantity;
use kubewright_schema::names;
use serde_json::json;

use crate::validation::{Field, selector};

/// Checks the template of a claim that something makes for a pod. Of its metadata only labels and annotations are taken.
pub(crate) fn validate_template(template: Field<'_>) {
    // Go's names of the fields, of which the first letter alone is made small.
    const OTHER_METADATA: [(&str, &str); 13] = [
        ("name", "name"),
        ("generateName", "generateName"),
        ("namespace", "namespace"),
        ("selfLink", "selfLink"),
        ("uid", "uID"),
        ("resourceVersion", "resourceVersion"),
        ("generation", "generation"),
        ("creationTimestamp", "creationTimestamp"),
        ("deletionTimestamp", "deletionTimestamp"),
        ("deletionGracePeriodSeconds", "deletionGracePeriodSeconds"),
        ("ownerReferences", "ownerReferences"),
        ("finalizers", "finalizers"),
        ("managedFields", "managedFields"),
    ];
    let metadata = template.child("metadata");
    selector::validate_annotations(metadata.child("annotations"));
    selector::validate_labels(metadata.child("labels"));
    for (field, place) in OTHER_METADATA {
        if metadata.child(field).is_set() {
            metadata.at(place).forbidden("cannot be set");
        }
    }
    validate_spec(template.child("spec"));
}

/// Checks the spec of a claim.
pub(crate) fn validate_spec(spec: Field<'_>) {
    let modes = spec.child("accessModes");
    if modes.is_empty() {
        modes.required("at least 1 access mode is required");
    }
    selector::validate_label_selector(spec.child("selector"));
    validate_access_modes(modes);
    let storage = spec.child("resources").at_key("storage");
    match spec.child("resources").child("requests").map().and_then(|requests| requests.get("storage")) {
        None => storage.required(""),
        Some(quantity) if !Quantity::of(quantity).is_positive() => {
            storage.invalid(quantity.clone(), "must be greater than zero");
        }
        Some(_) => {}
    }
    let class = spec.child("storageClassName");
    if !class.is_empty() {
        class.check(names::dns1123_subdomain);
    }
    let mode = spec.child("volumeMode");
    if mode.is_set() {
        mode.one_of(&["Block", "Filesystem"]);
    }
    validate_data_sources(spec);
    let class = spec.child("volumeAttributesClassName");
    if !class.is_empty() {
        class.check(names::dns1123_subdomain);
    }
}

pub(super) fn validate_access_modes(modes: Field<'_>) {
    const SUPPORTED: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
    let (mut for_one_pod, mut for_others) = (false, false);
    for mode in modes.list().iter().map(|mode| mode.as_str().unwrap_or_default()) {
        if !SUPPORTED.contains(&mode) {
            modes.not_supported(mode, &SUPPORTED);
        } else if mode == "ReadWriteOncePod" {
            for_one_pod = true;
        } else {
            for_others = true;
        }
    }
    if for_one_pod && for_others {
        modes.forbidden("may not use ReadWriteOncePod with other access modes");
    }
}

fn validate_data_sources(spec: Field<'_>) {
    let (source, reference) = (spec.child("dataSource"), spec.child("dataSourceRef"));
    if source.is_set() {
        validate_data_source(source);
    }
    if !reference.is_set() {
        return;
    }
    validate_data_source(reference);
    let namespace = reference.child("namespace");
    if !namespace.is_empty() {
        namespace.check(names::dns1123_label);
    }
    // The value that is shown is the path of the field as Go writes it.
    let shown = || json!({});
    if !namespace.is_empty() {
        if source.is_set() {
            spec.invalid(shown(), "may not be specified when dataSourceRef.namespace is specified");
        }
    } else if source.is_set()
        && ["apiGroup", "kind", "name"]
            .iter()
            .any(|field| source.child(field).value() != reference.child(field).value())
    {
        spec.invalid(shown(), "must match dataSourceRef");
    }
}

fn validate_data_source(source: Field<'_>) {
    let kind = source.child("kind");
    source.child("name").require();
    kind.require();
    let group = source.child("apiGroup");
    if !group.is_empty() {
        group.check(names::dns1123_subdomain);
    } else if kind.text() != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        source.invalid(kind.text(), detail);
    }
}

/// What the client should know about a claim that is fine.
pub(crate) fn warnings(spec: Field<'_>) -> Vec<String> {
    let resources = spec.child("resources");
    let amounts = [resources.child("requests"), resources.child("limits")];
    let fractional = amounts.into_iter().filter_map(|list| {
        let amount = list.entry("storage");
        let (path, text) = (amount.path(), amount.text());
        (!Quantity::of(amount.value()).is_integer())
            .then(|| format!("{path}: fractional byte value {text:?} is invalid, must be an integer"))
    });
    fractional.collect()
}
