//! The JSON that Kubernetes itself writes for an object: what decoding into Go structs and encoding
//! again leaves.
//!
//! Structs that are no pointers are always there (`resources: {}`, `status: {}`), empty optional
//! fields never, empty fields that are not optional as zero values (`rules: null`), unknown fields
//! are gone, quantities and times have one form. Every built-in object is kept in this form: the
//! managed fields of a real server depend on it.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{Field, Shape, Special, Type, Types, ValueType, base64, quantity};

/// What the schemas inside custom resource definitions are.
pub(crate) const SCHEMA: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

/// The zero value of a type: what Go encodes for an object in which nothing is set.
pub fn zero(ty: &Type) -> Value {
    let mut value = Value::Object(Map::new());
    canonicalize(ty, &mut value);
    value
}

/// Whether lists and maps stay that are there without anything in them and may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Empty {
    /// As Go has them in memory: a default is for what is not there.
    Kept,
    /// As Go writes them.
    Dropped,
}

/// Brings an object into the form that Go writes. Values of a wrong kind are left alone:
/// [`strict::decode`](super::strict::decode) refuses them.
pub fn canonicalize(ty: &Type, value: &mut Value) {
    canonicalize_type(Types::get(), ty, value, Empty::Dropped);
}

/// [`canonicalize`] for what is yet to get its defaults: empty lists and maps stay.
pub(super) fn canonicalize_decoded(ty: &Type, value: &mut Value) {
    canonicalize_type(Types::get(), ty, value, Empty::Kept);
}

/// Forgets which lists and maps of an object are there without anything in them: what is stored does not tell them from
/// those that are not there.
pub fn forget_empty(ty: &Type, value: &mut Value) {
    forget_empty_in(Types::get(), ty, value);
}

fn forget_empty_in(types: &Types, ty: &Type, value: &mut Value) {
    let Value::Object(object) = value else { return };
    if ty.special.is_some() {
        return;
    }
    for (name, value) in object {
        let Some(field) = ty.fields.get(name) else { continue };
        if field.shape != Shape::One && is_empty(value) {
            *value = Value::Null;
        }
        let ValueType::Message(id) = field.value else { continue };
        let Some(ty) = types.by_id(id) else { continue };
        match (field.shape, value) {
            (Shape::One, value) => forget_empty_in(types, ty, value),
            (Shape::List, Value::Array(items)) => {
                items.iter_mut().for_each(|item| forget_empty_in(types, ty, item));
            }
            (Shape::Map, Value::Object(entries)) => {
                entries.values_mut().for_each(|entry| forget_empty_in(types, ty, entry));
            }
            (Shape::List | Shape::Map, _) => {}
        }
    }
}

fn canonicalize_type(types: &Types, ty: &Type, value: &mut Value, empty: Empty) {
    if let Some(special) = ty.special {
        return canonicalize_special(types, special, value, empty);
    }
    if value.is_null() {
        *value = Value::Object(Map::new());
    }
    let Value::Object(object) = value else { return };
    object.retain(|name, _| ty.fields.contains_key(name));
    for (name, field) in ty.fields() {
        let mut value = object.remove(name).unwrap_or(Value::Null);
        canonicalize_field(types, field, &mut value, empty);
        if is_written(types, ty, field, &value, empty) {
            object.insert(name.to_owned(), value);
        }
    }
}

fn canonicalize_field(types: &Types, field: &Field, value: &mut Value, empty: Empty) {
    match (field.shape, &mut *value) {
        (Shape::List, Value::Array(items)) => {
            items.iter_mut().for_each(|item| canonicalize_value(types, field.value, item, empty));
        }
        (Shape::Map, Value::Object(entries)) => {
            entries.values_mut().for_each(|entry| canonicalize_value(types, field.value, entry, empty));
        }
        (Shape::One, Value::Null) if field.pointer || field.value == ValueType::Bytes => {}
        (Shape::One, value) => canonicalize_value(types, field.value, value, empty),
        (Shape::List | Shape::Map, _) => {}
    }
}

/// A value that is there, or null where Go has a zero value.
fn canonicalize_value(types: &Types, ty: ValueType, value: &mut Value, empty: Empty) {
    match (ty, value.is_null()) {
        (ValueType::Message(id), _) => {
            if let Some(ty) = types.by_id(id) {
                canonicalize_type(types, ty, value, empty);
            }
        }
        (ValueType::Bytes, false) if empty == Empty::Kept => {
            if let Some(text) = value.as_str().and_then(base64::canonical) {
                *value = Value::String(text);
            }
        }
        (ValueType::String, true) => *value = Value::from(""),
        (ValueType::Bool, true) => *value = Value::from(false),
        (ValueType::Int32 | ValueType::Int64 | ValueType::Double, true) => *value = Value::from(0),
        _ => {}
    }
}

fn canonicalize_special(types: &Types, special: Special, value: &mut Value, empty: Empty) {
    match special {
        Special::Time => rewrite_time(value, "%Y-%m-%dT%H:%M:%SZ"),
        Special::MicroTime => rewrite_time(value, "%Y-%m-%dT%H:%M:%S.%6fZ"),
        Special::Quantity => {
            let text = match &*value {
                Value::String(text) => text.trim().to_owned(),
                Value::Number(number) => number.to_string(),
                Value::Null => "0".to_owned(),
                _ => return,
            };
            if let Ok(text) = quantity::canonical(&text) {
                *value = Value::String(text);
            }
        }
        Special::IntOrString if value.is_null() => *value = Value::from(0),
        Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStringArray => {
            let Some(schema) = types.named(SCHEMA) else { return };
            let schemas = match value {
                Value::Array(items) => items.as_mut_slice(),
                one => std::slice::from_mut(one),
            };
            schemas
                .iter_mut()
                .filter(|s| s.is_object())
                .for_each(|s| canonicalize_type(types, schema, s, empty));
        }
        Special::IntOrString | Special::RawExtension | Special::FieldsV1 | Special::Json | Special::List => {}
    }
}

fn rewrite_time(value: &mut Value, format: &str) {
    if let Some(time) = value.as_str().and_then(|text| text.parse::<Timestamp>().ok()) {
        *value = Value::String(time.strftime(format).to_string());
    }
}

/// Whether Go writes the field.
fn is_written(types: &Types, ty: &Type, field: &Field, value: &Value, empty: Empty) -> bool {
    if !field.omit_empty {
        return true;
    }
    // The one time that Go leaves out when it is zero.
    if field.json == "creationTimestamp" && ty.short_name() == "ObjectMeta" {
        return !value.is_null();
    }
    match field.shape {
        Shape::One if field.pointer => !value.is_null(),
        // A struct is never empty to Go; a named list is.
        Shape::One => match field.value {
            ValueType::Message(id) => {
                let is_list = types.by_id(id).is_some_and(|ty| ty.special == Some(Special::List));
                !is_list || !is_empty(value)
            }
            _ => !is_empty(value),
        },
        Shape::List | Shape::Map if empty == Empty::Kept => !value.is_null(),
        Shape::List | Shape::Map => !is_empty(value),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(b) => !b,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn canonical(group: &str, version: &str, kind: &str, mut value: Value) -> Value {
        canonicalize(Types::get().kind(group, version, kind).unwrap(), &mut value);
        value
    }

    #[test]
    fn structs_are_always_there_and_empty_options_never() {
        let pod = canonical(
            "",
            "v1",
            "Pod",
            json!({"metadata": {"labels": {}, "name": ""}, "unknown": 1,
            "spec": {"containers": [{"name": "a", "command": [], "env": [{"name": "X", "value": ""}]}],
                "volumes": [{"name": "v", "emptyDir": {}}], "securityContext": {}}}),
        );
        assert_eq!(
            pod,
            json!({"metadata": {}, "status": {},
            "spec": {"containers": [{"name": "a", "env": [{"name": "X"}], "resources": {}}],
                "volumes": [{"name": "v", "emptyDir": {}}], "securityContext": {}}})
        );
    }

    #[test]
    fn fields_that_are_not_optional_have_zero_values() {
        assert_eq!(
            canonical("rbac.authorization.k8s.io", "v1", "Role", json!({})),
            json!({"metadata": {}, "rules": null})
        );
        let event = canonical("", "v1", "Event", json!({"involvedObject": {"namespace": "n"}}));
        assert_eq!(
            event,
            json!({"metadata": {}, "involvedObject": {"namespace": "n"}, "source": {}, "eventTime": null,
            "firstTimestamp": null, "lastTimestamp": null, "reportingComponent": "", "reportingInstance": ""})
        );
        let deployment = zero(Types::get().kind("apps", "v1", "Deployment").unwrap());
        assert_eq!(
            deployment,
            json!({"metadata": {}, "status": {}, "spec": {"selector": null, "strategy": {},
            "template": {"metadata": {}, "spec": {"containers": null}}}})
        );
    }

    #[test]
    fn quantities_and_times_have_one_form() {
        let lease = canonical(
            "coordination.k8s.io",
            "v1",
            "Lease",
            json!({
            "metadata": {"creationTimestamp": "2026-11-30T22:27:11+02:00"},
            "spec": {"renewTime": "2026-11-30T22:27:11.5+02:00"}}),
        );
        assert_eq!(
            lease,
            json!({"metadata": {"creationTimestamp": "2026-11-30T20:27:11Z"},
            "spec": {"renewTime": "2026-11-30T20:27:11.500000Z"}})
        );
        let quota = canonical(
            "",
            "v1",
            "ResourceQuota",
            json!({"spec": {"hard": {"cpu": "1000m", "memory": "1024Mi", "pods": 1}}}),
        );
        assert_eq!(quota["spec"]["hard"], json!({"cpu": "1", "memory": "1Gi", "pods": "1"}));
    }
}
