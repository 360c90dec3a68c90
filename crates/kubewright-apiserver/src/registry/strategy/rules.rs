//! Small kinds with a few rules of their own: roles and their bindings, events.

use kubewright_schema::{ErrorList, FieldError, FieldPath};
use serde_json::Value;

use super::{items, text};
use crate::registry::metadata;

pub(super) fn validate_role(role: &Value, is_cluster_role: bool) -> ErrorList {
    let mut errors = ErrorList::new();
    for (index, rule) in items(&role["rules"]).iter().enumerate() {
        let path = FieldPath::new("rules").index(index);
        if items(&rule["verbs"]).is_empty() {
            errors.push(FieldError::required(&path.child("verbs"), ""));
        }
        let is_path_rule = !items(&rule["nonResourceURLs"]).is_empty();
        if is_path_rule && !is_cluster_role {
            let detail = "namespaced rules cannot apply to non-resource URLs";
            let value = rule["nonResourceURLs"].clone();
            errors.push(FieldError::invalid(&path.child("nonResourceURLs"), value, detail));
        } else if !is_path_rule {
            if items(&rule["apiGroups"]).is_empty() {
                let detail = "resource rules must supply at least one api group";
                errors.push(FieldError::required(&path.child("apiGroups"), detail));
            }
            if items(&rule["resources"]).is_empty() {
                let detail = "resource rules must supply at least one resource";
                errors.push(FieldError::required(&path.child("resources"), detail));
            }
        }
    }
    errors
}

/// Whom a binding grants to may change, what it grants may not.
pub(super) fn validate_binding_update(binding: &Value, old: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let role = &binding["roleRef"];
    if *role != old["roleRef"] {
        // Shown as Go's internal type has it.
        let shown = format!(
            "{{\"APIGroup\":{},\"Kind\":{},\"Name\":{}}}",
            Value::from(text(role, "apiGroup")),
            Value::from(text(role, "kind")),
            Value::from(text(role, "name"))
        );
        let error = FieldError::invalid(&FieldPath::new("roleRef"), role.clone(), "field is immutable");
        errors.push(error.shown_as(shown));
    }
    errors
}

/// Events are checked more closely where they come in by the newer group.
pub(super) fn validate_event(event: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let is_new = text(event, "apiVersion") == "events.k8s.io/v1";
    let about = if is_new { "regarding" } else { "involvedObject" };
    let namespace = text(&event[about], "namespace");
    let own = metadata::namespace(event);
    if (namespace.is_empty() && own != "default") || (!namespace.is_empty() && namespace != own) {
        let path = FieldPath::new("involvedObject").child("namespace");
        errors.push(FieldError::invalid(&path, namespace, "does not match event.namespace"));
    }
    if is_new && event["eventTime"].is_null() {
        errors.push(FieldError::required(&FieldPath::new("eventTime"), ""));
    }
    let kind = text(event, "type");
    if is_new && !matches!(kind, "Normal" | "Warning") {
        let detail = format!("has invalid value: {kind}");
        errors.push(FieldError::invalid(&FieldPath::new("type"), kind, detail));
    }
    errors
}
