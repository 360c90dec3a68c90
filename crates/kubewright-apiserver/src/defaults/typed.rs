use serde_json::{Map, Value};

use super::fields::Fields;
use super::{conditional, table};
use crate::types::{Field, Shape, Special, Type, Types, ValueType, canonical, quantity};

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

const SCHEMA: &str = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps";

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
                Value::Object(_) => visit_schema(value),
                Value::Array(items) => items.iter_mut().filter(|it| it.is_object()).for_each(visit_schema),
                _ => {}
            }
        }
        _ => {}
    }
}

/// The canonical form stops at values that may be a schema or something else; this goes on.
fn visit_schema(value: &mut Value) {
    let Some(schema) = Types::get().named(SCHEMA) else { return };
    if let Value::Object(fields) = value {
        visit(schema, fields);
    }
    canonical::canonicalize(schema, value);
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
