//! Moving from client-side to server-side apply: the annotation that `kubectl apply` keeps.

use serde_json::Value;

/// The manager that kubectl has for server-side apply. Other managers leave the annotation alone.
pub(super) const MANAGER: &str = "kubectl";

const ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// All annotations of an object together must not be longer.
const MAX_ANNOTATIONS: usize = 256 * 1024;

/// The configuration that client-side apply last applied.
pub(super) fn configuration(object: &Value) -> Option<Value> {
    let text = object.pointer("/metadata/annotations")?.get(ANNOTATION)?.as_str()?;
    serde_json::from_str(text).ok()
}

/// Writes `config` into the annotation if the object has it, so that client-side apply can go on.
pub(super) fn refresh(object: &mut Value, config: &Value) {
    let Some(annotations) = object.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) else {
        return;
    };
    if annotations.get(ANNOTATION).and_then(Value::as_str).unwrap_or_default().is_empty() {
        return;
    }
    let mut config = config.clone();
    if let Some(own) = config.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        own.remove(ANNOTATION);
    }
    annotations.insert(ANNOTATION.to_owned(), Value::String(format!("{config}\n")));
    let size: usize =
        annotations.iter().map(|(name, value)| name.len() + value.as_str().map_or(0, str::len)).sum();
    if size > MAX_ANNOTATIONS {
        annotations.remove(ANNOTATION);
    }
}
