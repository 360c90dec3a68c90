use base64::{Engine, engine::general_purpose::STANDARD};
use kubewright_schema::{ErrorList, FieldError, FieldPath, names};
use serde_json::{Map, Value};

use crate::registry::metadata;

/// Merges `stringData` into `data` and sets the default type.
pub(super) fn prepare(secret: &mut Value) {
    let object = metadata::as_map(secret);
    if let Some(Value::Object(texts)) = object.remove("stringData")
        && !texts.is_empty()
    {
        let data = metadata::child(object, "data");
        for (key, text) in texts {
            if let Value::String(text) = text {
                data.insert(key, Value::from(STANDARD.encode(text)));
            }
        }
    }
    let kind = object.entry("type").or_insert(Value::Null);
    if kind.as_str().is_none_or(str::is_empty) {
        *kind = Value::from("Opaque");
    }
}

pub(super) fn validate(secret: &Value) -> ErrorList {
    let empty = Map::new();
    let data = secret.get("data").and_then(Value::as_object).unwrap_or(&empty);
    let required: &[&str] = match secret.get("type").and_then(Value::as_str) {
        Some("kubernetes.io/tls") => &["tls.crt", "tls.key"],
        Some("kubernetes.io/dockerconfigjson") => &[".dockerconfigjson"],
        Some("kubernetes.io/dockercfg") => &[".dockercfg"],
        Some("kubernetes.io/ssh-auth") => &["ssh-privatekey"],
        _ => &[],
    };
    let path = FieldPath::new("data");
    let mut errors = ErrorList::new();
    for key in data.keys() {
        for reason in names::config_map_key(key) {
            errors.push(FieldError::invalid(&path.key(key), key.as_str(), reason));
        }
    }
    for key in required.iter().filter(|key| !data.contains_key(**key)) {
        errors.push(FieldError::required(&path.key(key), ""));
    }
    errors
}

pub(super) fn validate_update(secret: &Value, old: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    if secret.get("type") != old.get("type") {
        let value = secret.get("type").cloned().unwrap_or_default();
        errors.push(FieldError::invalid(&FieldPath::new("type"), value, "field is immutable"));
    }
    errors.extend(immutable_data(secret, old));
    errors.extend(validate(secret));
    errors
}

/// What a change does to data that was declared immutable.
pub(super) fn immutable_data(object: &Value, old: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let immutable = |object: &Value| object.get("immutable").and_then(Value::as_bool).unwrap_or_default();
    if !immutable(old) {
        return errors;
    }
    let detail = "field is immutable when `immutable` is set";
    if !immutable(object) {
        errors.push(FieldError::forbidden(&FieldPath::new("immutable"), detail));
    }
    for field in ["data", "binaryData"] {
        if object.get(field) != old.get(field) {
            errors.push(FieldError::forbidden(&FieldPath::new(field), detail));
        }
    }
    errors
}
