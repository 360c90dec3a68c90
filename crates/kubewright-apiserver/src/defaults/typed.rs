use serde_json::{Map, Value};

use super::fields::Fields;
use super::quantity::{self, Rounding};
use super::{conditional, table};
use crate::types::{Field, Shape, Special, Type, Types, ValueType};

/// Decodes, defaults and encodes an object of a type, as a real server does with Go structs.
pub(super) fn visit(kind: &Type, object: &mut Fields) {
    decode(kind, object);
    conditional::set(&kind.name, object);
    table::set(kind, object);
    for (name, field) in kind.fields().filter(|(name, _)| *name != MANAGED_FIELDS) {
        if let ValueType::Message(id) = field.value
            && let Some(inner) = Types::get().by_id(id)
        {
            descend(name, field, inner, object);
        }
    }
    encode(kind, object);
}

/// An empty list of managed fields is a request to forget them, so it may not be dropped as empty.
const MANAGED_FIELDS: &str = "managedFields";

const SCHEMA: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

fn descend(name: &str, field: &Field, inner: &Type, object: &mut Fields) {
    if inner.special.is_none() && field.shape == Shape::One && !field.pointer && !object.contains_key(name) {
        // A struct that is always there in Go may get defaults inside, and is written even if it is empty.
        object.insert(name.to_owned(), Map::new().into());
    }
    let Some(value) = object.get_mut(name) else { return };
    match (field.shape, value) {
        (Shape::One, value) => visit_value(inner, value, field),
        (Shape::List, Value::Array(items)) => items.iter_mut().for_each(|it| visit_value(inner, it, field)),
        (Shape::Map, Value::Object(entries)) => {
            entries.values_mut().for_each(|it| visit_value(inner, it, field));
        }
        _ => {} // of a wrong type, which is for validation
    }
}

fn visit_value(kind: &Type, value: &mut Value, field: &Field) {
    match (kind.special, value) {
        (None, Value::Object(fields)) => visit(kind, fields),
        (Some(Special::Quantity), value) => {
            // Lists of resources are rounded up to a thousandth, for the sake of old clients.
            let rounding = if field.shape == Shape::Map { Rounding::Milli } else { Rounding::Nano };
            if let Some(canonical) = quantity::canonical(value, rounding) {
                *value = canonical.into();
            }
        }
        (Some(Special::Time), Value::String(text)) => {
            if let Ok(time) = text.parse::<jiff::Timestamp>() {
                *text = time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            }
        }
        (Some(Special::MicroTime), Value::String(text)) => {
            if let Ok(time) = text.parse::<jiff::Timestamp>() {
                *text = time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string();
            }
        }
        (Some(Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStringArray), value) => {
            let Some(schema) = Types::get().named(SCHEMA) else { return };
            match value {
                Value::Object(fields) => visit(schema, fields),
                Value::Array(items) => {
                    items.iter_mut().filter_map(Value::as_object_mut).for_each(|it| visit(schema, it));
                }
                _ => {}
            }
        }
        _ => {}
    }
}

/// Drops what Go structs cannot hold: nulls and fields that the type does not have.
fn decode(kind: &Type, object: &mut Fields) {
    object.retain(|name, value| kind.field(name).is_some() && (!value.is_null() || name == MANAGED_FIELDS));
}

/// Leaves and adds what Go's JSON does.
fn encode(kind: &Type, object: &mut Fields) {
    for (name, field) in kind.fields().filter(|(name, _)| *name != MANAGED_FIELDS) {
        match object.get(name) {
            Some(value) if field.omit_empty && is_empty(field, value) => {
                object.remove(name);
            }
            None if !field.pointer && field.shape == Shape::One => {
                if let Some(zero) = zero(field) {
                    object.insert(name.to_owned(), zero);
                }
            }
            _ => {}
        }
    }
}

/// Whether Go's `omitempty` leaves the value out. Structs are never empty to it.
fn is_empty(field: &Field, value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => field.shape == Shape::Map && entries.is_empty(),
        _ if field.pointer || field.shape != Shape::One => false,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => {
            number.as_f64() == Some(0.0) && !matches!(field.value, ValueType::Message(_))
        }
        Value::Bool(value) => !value,
        Value::Null => true,
    }
}

/// What Go writes for a value that was never set, where that is not null.
fn zero(field: &Field) -> Option<Value> {
    Some(match field.value {
        ValueType::Message(id) => match Types::get().by_id(id)?.special? {
            Special::Quantity => "0".into(),
            Special::IntOrString => 0.into(),
            _ => return None,
        },
        _ if field.omit_empty => return None,
        ValueType::String => "".into(),
        ValueType::Bool => false.into(),
        ValueType::Int32 | ValueType::Int64 | ValueType::Double => 0.into(),
        _ => return None,
    })
}
