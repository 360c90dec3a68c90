//! What an apply changes, as a person reads it.

use kube::api::DynamicObject;
use kubewright_yaml as yaml;
use serde_json::Value;
use similar::TextDiff;

/// A unified diff from what was there to what is there then. Fields that the server keeps for itself are left out.
pub(crate) fn diff(name: &str, before: Option<&DynamicObject>, after: &DynamicObject) -> String {
    let before = before.map(text).unwrap_or_default();
    let after = text(after);
    if before == after {
        return String::new();
    }
    let (from, to) = (format!("live/{name}"), format!("applied/{name}"));
    TextDiff::from_lines(&before, &after).unified_diff().context_radius(3).header(&from, &to).to_string()
}

fn text(object: &DynamicObject) -> String {
    let mut value = serde_json::to_value(object).unwrap_or_default();
    if let Some(object) = value.as_object_mut() {
        object.remove("status");
    }
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        for own in ["managedFields", "resourceVersion", "uid", "creationTimestamp", "generation"] {
            metadata.remove(own);
        }
    }
    yaml::to_string(&value)
}
