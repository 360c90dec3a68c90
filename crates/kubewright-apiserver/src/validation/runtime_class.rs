//! Classes of container runtimes.

use kubewright_schema::names;
use serde_json::Value;

use super::{
    Field,
    core::{self, node_label},
    selector,
};

pub(super) fn create(class: Field<'_>) {
    validate(class);
    check_handler(class.child("handler"));
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    validate(new);
    let handler = new.child("handler");
    if handler.value() != old.child("handler").value() {
        handler.invalid(Value::Null, "field is immutable");
        handler.require();
    }
}

pub(super) fn warnings(class: Field<'_>) -> Vec<String> {
    let selector = class.child("scheduling").child("nodeSelector");
    let texts = selector.entries().filter_map(|(label, _)| node_label::deprecation(label));
    texts.map(|text| format!("{}: {text}", selector.path())).collect()
}

fn validate(class: Field<'_>) {
    let amounts = class.child("overhead").child("podFixed");
    core::validate_limits(class.child("overhead").at("limits").with(amounts.value()));
    let scheduling = class.child("scheduling");
    selector::validate_labels(scheduling.child("nodeSelector"));
    let tolerations = scheduling.child("tolerations");
    core::validate_tolerations(tolerations);
    for (index, toleration) in tolerations.items().enumerate() {
        let is_same = |other: &Value| {
            ["key", "operator", "value", "effect"]
                .iter()
                .all(|field| other.get(field) == toleration.value().get(field))
        };
        if tolerations.list().iter().take(index).any(is_same) {
            toleration.duplicate_as("core.Toleration");
        }
    }
}

/// Checks the name of the handler, which is found out after all else.
fn check_handler(handler: Field<'_>) {
    if handler.require() {
        handler.check(names::dns1123_label);
    }
}
