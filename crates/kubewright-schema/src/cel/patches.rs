//! Patches as JSON, from the messages that expressions make.

use std::collections::BTreeMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use kube_cel::cel::{Value as Cel, objects::Key};
use serde_json::{Map, Value};

use super::{
    checker::is_object_type,
    eval::{Message, optional_value, text},
};

/// The largest number without a fraction that JSON holds for everyone.
const LARGEST: u64 = (1 << 53) - 1;

fn message(value: &Cel) -> Option<&Message> {
    match value {
        Cel::Opaque(opaque) => opaque.downcast_ref(),
        _ => None,
    }
}

/// The object that an apply configuration says.
///
/// # Errors
/// If a part of it is named as another one than it is.
pub(super) fn object(value: &Cel) -> Result<Value, String> {
    let Some(object) = message(value).filter(|message| is_object_type(message.name())) else {
        return Err("unsupported return type from ApplyConfiguration expression".to_owned());
    };
    check_names(value, object.name())?;
    // Whatever is wrong is not said.
    plain(value).map_err(|_| "invalid return type: *dynamic.ObjectVal".to_owned())
}

/// The operations of a JSON patch.
///
/// # Errors
/// If a value is none of JSON, or a part of one is named as another one than it is.
pub(super) fn operations(value: &Cel) -> Result<Vec<Value>, String> {
    let Cel::List(items) = value else {
        return Err("type mismatch: JSONPatchType.expression should evaluate to array".to_owned());
    };
    items.iter().map(operation).collect()
}

fn operation(value: &Cel) -> Result<Value, String> {
    let Some(patch) = message(value).filter(|message| !is_object_type(message.name())) else {
        return Err(
            "type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch".to_owned()
        );
    };
    let text = |field: &str| match patch.fields().get(field) {
        Some(Cel::String(text)) => text.to_string(),
        _ => String::new(),
    };
    let mut operation = Map::new();
    operation.insert("op".to_owned(), Value::from(text("op")));
    operation.insert("path".to_owned(), Value::from(text("path")));
    let from = text("from");
    if !from.is_empty() {
        operation.insert("from".to_owned(), Value::from(from));
    }
    if let Some(value) = patch.fields().get("value") {
        if let Some(object) = message(value) {
            check_names(value, object.name())?;
        }
        let json = json(value).map_err(|why| {
            format!("JSONPath valueExpression evaluated to a type that could not marshal to JSON: {why}")
        })?;
        operation.insert("value".to_owned(), json);
    }
    Ok(Value::Object(operation))
}

/// Whether the names of all parts of an object are those of the fields that they are in.
fn check_names(value: &Cel, name: &str) -> Result<(), String> {
    let mut errors = Vec::new();
    visit(value, name, &mut errors);
    if errors.is_empty() { Ok(()) } else { Err(format!("type mismatch: {}", errors.join("\n"))) }
}

fn visit(value: &Cel, path: &str, errors: &mut Vec<String>) {
    match value {
        Cel::List(items) => items.iter().for_each(|item| visit(item, path, errors)),
        Cel::Map(map) => {
            let sorted: BTreeMap<&Key, &Cel> = map.map.iter().collect();
            sorted.values().for_each(|value| visit(value, path, errors));
        }
        _ => {
            let Some(object) = message(value) else { return };
            let own = object.name();
            if own != path {
                errors.push(format!(
                    "unexpected type name {}, expected {}, which matches field name path from root Object type",
                    crate::error::go::quote(own),
                    crate::error::go::quote(path)
                ));
            }
            for (field, value) in object.fields() {
                visit(value, &format!("{path}.{field}"), errors);
            }
        }
    }
}

/// A value as an object of an apply configuration holds it.
///
/// # Errors
/// If a map has keys that are no text.
pub(super) fn plain(value: &Cel) -> Result<Value, String> {
    convert(value, false)
}

/// A value as a JSON patch holds it. Numbers that not everyone can read are text.
fn json(value: &Cel) -> Result<Value, String> {
    convert(value, true)
}

fn convert(value: &Cel, is_for_everyone: bool) -> Result<Value, String> {
    let is_safe = |number: u64| !is_for_everyone || number <= LARGEST;
    Ok(match value {
        Cel::Null => Value::Null,
        Cel::Bool(flag) => Value::Bool(*flag),
        Cel::Int(number) if is_safe(number.unsigned_abs()) => Value::from(*number),
        Cel::UInt(number) if is_safe(*number) => Value::from(*number),
        Cel::Int(number) => Value::from(number.to_string()),
        Cel::UInt(number) => Value::from(number.to_string()),
        Cel::Float(number) => Value::from(*number),
        Cel::String(text) => Value::from(text.as_str()),
        Cel::Bytes(bytes) => Value::from(BASE64_STANDARD.encode(bytes.as_slice())),
        Cel::List(items) => {
            items.iter().map(|item| convert(item, is_for_everyone)).collect::<Result<_, _>>()?
        }
        Cel::Map(map) => {
            let sorted: BTreeMap<&Key, &Cel> = map.map.iter().collect();
            let entry = |(key, value): (&Key, &Cel)| {
                let value = convert(value, is_for_everyone)?;
                match key {
                    Key::String(text) => Ok((text.to_string(), value)),
                    other if is_for_everyone => Ok((other.to_string(), value)),
                    other => Err(format!("map key \"{other}\" is not string")),
                }
            };
            Value::Object(sorted.into_iter().map(entry).collect::<Result<_, String>>()?)
        }
        Cel::Duration(_) | Cel::Timestamp(_) => Value::from(text(value).unwrap_or_default()),
        Cel::Opaque(opaque) => match (message(value), optional_value(value)) {
            (Some(object), _) => {
                let field =
                    |(name, value): (&String, &Cel)| Ok((name.clone(), convert(value, is_for_everyone)?));
                Value::Object(object.fields().iter().map(field).collect::<Result<_, String>>()?)
            }
            (None, Some(Some(inner))) => convert(inner, is_for_everyone)?,
            (None, Some(None)) => return Err("optional.none() dereference".to_owned()),
            (None, None) => {
                let name = opaque.runtime_type_name();
                let name = name.rsplit('.').next().unwrap_or(name);
                return Err(format!("type conversion error from '{name}' to '*structpb.Value'"));
            }
        },
        Cel::Function(name, _) => Value::from(name.as_str()),
    })
}
