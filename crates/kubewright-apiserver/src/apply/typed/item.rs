//! Which path element an item of an associative list has.

use kubewright_schema::error::go;
use serde_json::Value;

use super::super::path::{KeyField, PathElement};
use super::super::schema::{ListType, Schema};

/// The path element of an item, or why it has none.
pub(super) fn path_element(schema: &Schema, list: ListType<'_>, item: &Value) -> Result<PathElement, String> {
    if list.keys().is_empty() { set_item(item) } else { keyed_item(schema, list, item) }
}

fn set_item(item: &Value) -> Result<PathElement, String> {
    match item {
        Value::Object(_) => Err("associative list without keys has an element that's a map type".into()),
        Value::Array(_) => Err("not supported: associative list with lists as elements".into()),
        Value::Null => Err("associative list without keys has an element that's an explicit null".into()),
        scalar => Ok(PathElement::value(scalar.clone())),
    }
}

fn keyed_item(schema: &Schema, list: ListType<'_>, item: &Value) -> Result<PathElement, String> {
    let fields = match item {
        Value::Object(fields) => fields,
        Value::Null => return Err("associative list with keys may not have a null element".into()),
        _ => return Err("associative list with keys may not have non-map elements".into()),
    };
    let mut key = Vec::with_capacity(list.keys().len());
    for name in list.keys() {
        let value = match fields.get(&**name) {
            Some(value) => Some(value.clone()),
            None => default_of(schema, list, name)?,
        };
        // An item without an optional key field is another item than one with it.
        if let Some(value) = value {
            key.push(KeyField { name: name.clone(), value });
        }
    }
    if key.is_empty() {
        let names: Vec<String> = list.keys().iter().map(|name| go::quote(name)).collect();
        return Err(format!(
            "associative list with keys has an element that omits all key fields [{}] (and doesn't have \
             default values for any key fields)",
            names.join(" ")
        ));
    }
    key.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(PathElement::Key(key.into()))
}

fn default_of(schema: &Schema, list: ListType<'_>, name: &str) -> Result<Option<Value>, String> {
    let map = schema.resolve(list.element()).map.ok_or_else(|| {
        format!("couldn't find default value for {name}: associative list may not have non-map types")
    })?;
    Ok(map.field(name).and_then(|field| field.default.clone()))
}
