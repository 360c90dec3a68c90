use kubewright_quota::Quantity;

use kubewright_schema::names;

use crate::validation::{Field, core::node_label, selector};

pub(super) fn validate(object: Field<'_>) {
    selector::validate_label_selector(object.child("nodeTopology"));
    object.child("storageClassName").check(names::dns1123_subdomain);
    let capacity = object.child("capacity");
    if Quantity::of(capacity.value()).is_negative() {
        capacity.invalid(capacity.text(), "must be greater than or equal to 0");
    }
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    validate(new);
    new.child("nodeTopology").immutable(old.child("nodeTopology"));
    new.child("storageClassName").immutable(old.child("storageClassName"));
}

pub(super) fn warnings(object: Field<'_>) -> Vec<String> {
    let topology = object.child("nodeTopology");
    let mut warnings = node_label::expression_warnings(topology.child("matchExpressions"));
    let labels = topology.child("matchLabels");
    for (label, _) in labels.entries() {
        if let Some(text) = node_label::deprecation(label) {
            warnings.push(format!("{}.{label}: {text}", labels.path()));
        }
    }
    warnings
}
