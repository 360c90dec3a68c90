//! What a real server says of a value that does not fit its field when it makes an object of a patched map: another text than
//! that of a value which does not fit when it is read.

use serde_json::Value;

use crate::types::{Field, Shape, Type, Types, ValueType};

/// The first fault of an object of type `ty`, in the order of the fields' names. Types with a JSON form of their own are not looked into.
pub(super) fn fault(ty: &Type, value: &Value) -> Option<String> {
    if ty.special.is_some() || value.is_null() {
        return None;
    }
    let Value::Object(object) = value else {
        return Some(format!("cannot restore struct from: {}", kind(value)));
    };
    ty.fields().find_map(|(name, field)| field_fault(field, object.get(name)?))
}

fn field_fault(field: &Field, value: &Value) -> Option<String> {
    match (field.shape, value) {
        (_, Value::Null) => None,
        (Shape::One, value) => value_fault(field.value, value),
        (Shape::List, Value::Array(items)) => items.iter().find_map(|item| value_fault(field.value, item)),
        (Shape::Map, Value::Object(entries)) => {
            entries.values().find_map(|entry| value_fault(field.value, entry))
        }
        (Shape::List, _) => Some(format!("cannot restore slice from {}", kind(value))),
        (Shape::Map, _) => Some(format!("cannot restore map from {}", kind(value))),
    }
}

fn value_fault(ty: ValueType, value: &Value) -> Option<String> {
    let wanted = match ty {
        ValueType::String => "string",
        ValueType::Bool => "bool",
        ValueType::Int32 => "int32",
        ValueType::Int64 => "int64",
        ValueType::Double => "float64",
        ValueType::Message(id) => return fault(Types::get().by_id(id)?, value),
        ValueType::Bytes | ValueType::Any => return None,
    };
    let got = kind(value);
    let fits = match ty {
        ValueType::Int32 | ValueType::Int64 => {
            got == "int64" || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        ValueType::Double => matches!(got, "int64" | "float64"),
        _ => got == wanted,
    };
    // Go converts whole numbers to text, as the characters with these numbers, so that this one is refused in other words.
    let is_near = match got {
        "int64" => wanted != "bool",
        "float64" => matches!(wanted, "int32" | "int64"),
        _ => false,
    };
    match (value.is_null() || fits, is_near) {
        (true, _) => None,
        (false, true) => Some(format!("cannot convert {got} to {wanted}")),
        (false, false) => Some(format!("unrecognized type: {wanted}")),
    }
}

/// The kind of Go value that JSON is read as.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The texts are those of a running server.
    #[test]
    fn values_that_do_not_fit_are_refused_in_the_words_of_the_converter() {
        let said = |group: &str, kind: &str, object: Value| {
            let version = "v1";
            fault(Types::get().kind(group, version, kind).expect("a kind"), &object)
        };
        for (kind, object, text) in [
            ("ConfigMap", json!({"data": {"a": 1}}), "cannot convert int64 to string"),
            ("ConfigMap", json!({"data": {"a": true}}), "unrecognized type: string"),
            ("ConfigMap", json!({"data": {"a": 1.5}}), "unrecognized type: string"),
            ("ConfigMap", json!({"data": ["a"]}), "cannot restore map from slice"),
            ("ConfigMap", json!({"data": "a"}), "cannot restore map from string"),
            ("ConfigMap", json!({"metadata": "a"}), "cannot restore struct from: string"),
            ("ConfigMap", json!({"immutable": "yes"}), "unrecognized type: bool"),
            ("ConfigMap", json!({"immutable": 1}), "unrecognized type: bool"),
            ("Service", json!({"spec": {"ports": "a"}}), "cannot restore slice from string"),
            ("Service", json!({"spec": {"ports": [{"port": "a"}]}}), "unrecognized type: int32"),
            ("Service", json!({"spec": {"ports": [{"port": 1.5}]}}), "cannot convert float64 to int32"),
        ] {
            assert_eq!(said("", kind, object.clone()).as_deref(), Some(text), "{object}");
        }
        let fitting = json!({"metadata": {"name": "a"}, "data": {"a": "b"}, "immutable": null});
        assert_eq!(said("", "ConfigMap", fitting), None);
        assert_eq!(
            said("", "Service", json!({"spec": {"ports": [{"port": 2.0, "targetPort": "http"}]}})),
            None
        );
    }
}
