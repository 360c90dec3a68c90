use serde_json::{Map, Value};

use super::fields::Fields;
use super::{conditional, table};
use crate::types::{Field, Shape, Special, Type, Types, ValueType, canonical::SCHEMA, quantity};

/// Sets the defaults of an object of a type, outer ones first, as Kubernetes' generated code does.
pub(super) fn visit(kind: &Type, object: &mut Fields) {
    conditional::set(&kind.name, object);
    table::set(kind, object);
    for (name, field) in kind.fields() {
        if let ValueType::Message(id) = field.value
            && let Some(inner) = Types::get().by_id(id)
        {
            descend(name, field, inner, object);
        }
    }
}

fn descend(name: &str, field: &Field, inner: &Type, object: &mut Fields) {
    if inner.special.is_none() && field.shape == Shape::One && !field.pointer {
        // A struct that is always there in Go may get defaults inside.
        super::fields::default(object, name, Map::new());
    }
    let Some(value) = object.get_mut(name) else { return };
    match (field.shape, value) {
        (Shape::One, value) => visit_value(inner, value, field),
        (Shape::List, Value::Array(items)) => items.iter_mut().for_each(|it| visit_value(inner, it, field)),
        (Shape::Map, Value::Object(entries)) => {
            entries.values_mut().for_each(|it| visit_value(inner, it, field));
        }
        _ => {} // absent, or of a wrong type, which is for validation
    }
}

fn visit_value(kind: &Type, value: &mut Value, field: &Field) {
    match (kind.special, value) {
        (None, Value::Object(fields)) => visit(kind, fields),
        (Some(Special::Quantity), value) if field.shape == Shape::Map => round_up(value),
        (Some(Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStringArray), value) => {
            match value {
                Value::Object(schema) => visit_schema(schema),
                Value::Array(items) => {
                    items.iter_mut().filter_map(Value::as_object_mut).for_each(visit_schema);
                }
                _ => {}
            }
        }
        _ => {}
    }
}

fn visit_schema(schema: &mut Fields) {
    if let Some(kind) = Types::get().named(SCHEMA) {
        visit(kind, schema);
    }
}

/// Lists of resources are rounded up to a thousandth, for the sake of old clients.
fn round_up(value: &mut Value) {
    let Some(Ok(text)) = value.as_str().map(quantity::canonical) else { return };
    for (suffix, parts) in [('n', 1_000_000), ('u', 1000)] {
        let Some(Ok(number)) = text.strip_suffix(suffix).map(str::parse::<i64>) else { continue };
        let milli = number / parts + (number % parts).signum();
        *value = format!("{milli}m").into();
    }
}
