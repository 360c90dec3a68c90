//! Webhook configurations, admission policies and their bindings.

mod policies;
mod webhooks;

use serde_json::Value;

use super::Field;

pub(super) fn create(plural: &str, object: Field<'_>) {
    object.extend(match plural {
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => {
            webhooks::validate(object.value())
        }
        "mutatingadmissionpolicies" => policies::validate_mutating(object.value()),
        "mutatingadmissionpolicybindings" => policies::validate_mutating_binding(object.value()),
        "validatingadmissionpolicies" => policies::validate(object.value()),
        "validatingadmissionpolicybindings" => policies::validate_binding(object.value()),
        _ => return,
    });
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>) {
    if subresource.is_empty() {
        create(plural, new);
    }
}

pub(super) fn warnings(plural: &str, object: Field<'_>) -> Vec<String> {
    match plural {
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => {
            webhooks::warnings(object.value())
        }
        _ => Vec::new(),
    }
}

/// A string field, empty if it is not there.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// The items of a list, none if it is not there.
fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
