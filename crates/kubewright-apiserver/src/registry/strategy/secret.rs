use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};

use crate::{registry::metadata, status::Cause};

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

pub(super) fn validate(secret: &Value) -> Vec<Cause> {
    let empty = Map::new();
    let data = secret.get("data").and_then(Value::as_object).unwrap_or(&empty);
    let required: &[&str] = match secret.get("type").and_then(Value::as_str) {
        Some("kubernetes.io/tls") => &["tls.crt", "tls.key"],
        Some("kubernetes.io/dockerconfigjson") => &[".dockerconfigjson"],
        Some("kubernetes.io/dockercfg") => &[".dockercfg"],
        Some("kubernetes.io/ssh-auth") => &["ssh-privatekey"],
        _ => &[],
    };
    let missing = required.iter().filter(|key| !data.contains_key(**key));
    missing.map(|key| Cause::required(format!("data[{key}]"), "")).collect()
}

pub(super) fn validate_update(secret: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if secret.get("type") != old.get("type") {
        let value = secret.get("type").cloned().unwrap_or_default();
        causes.push(Cause::invalid("type", &value, "field is immutable"));
    }
    causes.extend(immutable_data(secret, old));
    causes.extend(validate(secret));
    causes
}

/// What a change does to data that was declared immutable.
pub(super) fn immutable_data(object: &Value, old: &Value) -> Vec<Cause> {
    let immutable = |object: &Value| object.get("immutable").and_then(Value::as_bool).unwrap_or_default();
    if !immutable(old) {
        return Vec::new();
    }
    let mut causes = Vec::new();
    if !immutable(object) {
        causes.push(Cause::forbidden("immutable", "field is immutable when `immutable` is set"));
    }
    for field in ["data", "binaryData"] {
        if object.get(field) != old.get(field) {
            causes.push(Cause::forbidden(field, "field is immutable when `immutable` is set"));
        }
    }
    causes
}
