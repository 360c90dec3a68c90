//! Schemas of types that Kubernetes' crate has, and that code works with better than with a copy.

use serde_json::{Map, Value, json};

/// How a quantity is written.
const QUANTITY: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Whether this is the schema of a condition, whatever its descriptions are.
pub(super) fn is_condition(schema: &Map<String, Value>) -> bool {
    let mut schema = Value::Object(schema.clone());
    strip_descriptions(&mut schema);
    schema
        == json!({
            "type": "object",
            "required": ["lastTransitionTime", "message", "reason", "status", "type"],
            "properties": {
                "lastTransitionTime": {"type": "string", "format": "date-time"},
                "message": {"type": "string", "maxLength": 32768},
                "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
                "reason": {
                    "type": "string", "minLength": 1, "maxLength": 1024,
                    "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
                },
                "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
                "type": {
                    "type": "string", "maxLength": 316,
                    "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
                },
            },
        })
}

/// Whether this is the schema of a number or a text, as of a port; with a pattern, of a quantity.
pub(super) fn is_int_or_string(schema: &Map<String, Value>) -> bool {
    schema.get("x-kubernetes-int-or-string") == Some(&Value::Bool(true))
        && schema.get("anyOf") == Some(&json!([{"type": "integer"}, {"type": "string"}]))
        && !schema.contains_key("type")
}

/// Whether this is that of a quantity, as of a memory.
pub(super) fn is_quantity(schema: &Map<String, Value>) -> bool {
    is_int_or_string(schema) && schema.get("pattern").and_then(Value::as_str) == Some(QUANTITY)
}

/// Takes every description away, but no property of that name.
pub(super) fn strip_descriptions(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("description");
    for (keyword, value) in object.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties.values_mut().for_each(strip_descriptions),
            ("items" | "additionalProperties", value) => strip_descriptions(value),
            _ => {}
        }
    }
}
