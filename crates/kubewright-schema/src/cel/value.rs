//! From JSON to CEL. The schema decides what a value is: a number without a fraction may be a double, a string a
//! timestamp. Fields the schema does not declare are not there.

use std::{collections::HashMap, sync::Arc};

use base64::{Engine, prelude::BASE64_STANDARD};
use kube_cel::cel::{
    Value as Cel,
    objects::{Key, Map, OptionalValue},
};
use serde_json::Value;

use super::eval;
use crate::{
    cel_names,
    structural::{Schema, SchemaType},
};

/// What is wrong with a value that is not of the type of its schema. That is so where an old breach is tolerated, and
/// where an integer was written as a float.
pub(super) fn misfit(value: &Value, schema: &Schema) -> Option<String> {
    let found = || match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    };
    if schema.int_or_string {
        return (!value.is_string() && !value.is_i64()).then(|| {
            "invalid data, expected XIntOrString value to be either a string or integer".to_owned()
        });
    }
    let (fits, expected) = match schema.schema_type? {
        SchemaType::Array => (value.is_array(), None),
        SchemaType::Object => (value.is_object(), None),
        SchemaType::Boolean => (value.is_boolean(), Some("bool")),
        SchemaType::Integer => (value.is_i64(), Some("int")),
        SchemaType::Number => (value.is_number(), Some("float")),
        SchemaType::String => (value.is_string(), Some("string")),
    };
    (!fits).then(|| match expected {
        Some(expected) => format!("invalid data, expected {expected}, got {}", found()),
        None if schema.schema_type == Some(SchemaType::Array) => {
            "invalid data, expected an array for the provided schema with type=array".to_owned()
        }
        None => "invalid data, expected a map for the provided schema with type=object".to_owned(),
    })
}

pub(super) fn from_json(value: &Value, schema: &Schema, is_object: bool) -> Cel {
    match value {
        Value::Null => Cel::Null,
        Value::Bool(flag) => Cel::Bool(*flag),
        Value::Number(number) => match number.as_i64() {
            Some(integer) if schema.schema_type != Some(SchemaType::Number) => Cel::Int(integer),
            _ => Cel::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => from_text(text, schema),
        Value::Array(items) => Cel::List(Arc::new(
            items
                .iter()
                .map(|item| match schema.items.as_deref() {
                    Some(schema) => from_json(item, schema, schema.embedded_resource),
                    None => Cel::Null,
                })
                .collect(),
        )),
        Value::Object(fields) => {
            let mut map = HashMap::with_capacity(fields.len());
            for (name, field) in fields {
                let entry = match (name.as_str(), schema.additional_schema(), schema.properties.get(name)) {
                    ("apiVersion" | "kind", _, _) if is_object => {
                        Some((name.clone(), from_json(field, &Schema::default(), false)))
                    }
                    ("metadata", _, _) if is_object => Some((name.clone(), meta(field))),
                    (_, Some(values), _) => {
                        Some((name.clone(), from_json(field, values, values.embedded_resource)))
                    }
                    (_, None, Some(property)) => cel_names::escape(name)
                        .map(|name| (name, from_json(field, property, property.embedded_resource))),
                    (_, None, None) => None,
                };
                if let Some((name, value)) = entry {
                    map.insert(Key::String(Arc::new(name)), value);
                }
            }
            Cel::Map(Map { map: Arc::new(map) })
        }
    }
}

/// The old value of a rule that also runs without one.
pub(super) fn optional(value: Option<&Cel>) -> Cel {
    Cel::Opaque(Arc::new(value.map_or_else(OptionalValue::none, |value| OptionalValue::of(value.clone()))))
}

fn from_text(text: &str, schema: &Schema) -> Cel {
    let plain = || Cel::String(Arc::new(text.to_owned()));
    // Names as written count, while validation forgives dashes.
    match schema.format.as_str() {
        "byte" => BASE64_STANDARD.decode(text).map_or_else(|_| plain(), |bytes| Cel::Bytes(Arc::new(bytes))),
        "date-time" => eval::timestamp(text).unwrap_or_else(plain),
        "date" => eval::timestamp(&format!("{text}T00:00:00Z")).unwrap_or_else(plain),
        "duration" => eval::duration(text).unwrap_or_else(plain),
        _ => plain(),
    }
}

/// Rules may read the names of an object and nothing else of its metadata.
fn meta(value: &Value) -> Cel {
    let map = ["name", "generateName"]
        .into_iter()
        .filter_map(|name| {
            let text = value.get(name)?.as_str()?;
            Some((Key::String(Arc::new(name.to_owned())), Cel::String(Arc::new(text.to_owned()))))
        })
        .collect();
    Cel::Map(Map { map: Arc::new(map) })
}
