use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

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
