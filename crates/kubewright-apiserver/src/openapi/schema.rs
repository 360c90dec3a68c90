//! The schemas of built-in types.

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::{Map, Value, json};

use super::{
    descriptions::{self, Description},
    document::reference,
};
use crate::types::{Field, ListType, PatchStrategy, Shape, Special, Type, Types, ValueType};

/// The values that string fields may have, by type and field. Go types do not tell them.
static ENUMS: LazyLock<BTreeMap<String, BTreeMap<String, Vec<String>>>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../data/enums.json"))
        .expect("the generated table of enums is valid") // checked by a test, not by input
});

/// The schema of a type.
pub(super) fn of(described: &Type) -> Value {
    let description = descriptions::of(&described.name);
    let mut schema = match described.special {
        Some(special) => of_special(special),
        None => of_struct(described, description),
    };
    if let Some(text) = description.and_then(|description| description.text.as_deref()) {
        schema["description"] = json!(text);
    }
    schema
}

fn of_struct(described: &Type, description: Option<&Description>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, field) in described.fields() {
        let values = ENUMS.get(&described.name).and_then(|fields| fields.get(name));
        let text = description.and_then(|description| description.field(name));
        properties.insert(name.to_owned(), of_field(field, values.map(Vec::as_slice), text));
        if field.required {
            required.push(name);
        }
    }
    let mut schema = json!({"type": "object"});
    if !properties.is_empty() {
        schema["properties"] = Value::Object(properties);
    }
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if described.atomic == Some(true) {
        schema["x-kubernetes-map-type"] = json!("atomic");
    }
    schema
}

/// The types that a type's schema refers to.
pub(super) fn references(described: &Type) -> impl Iterator<Item = &'static Type> {
    let fields = described.special.is_none().then(|| described.fields()).into_iter().flatten();
    fields.filter_map(|(_, field)| match field.value {
        ValueType::Message(id) => Types::get().by_id(id).filter(|own| own.special != Some(Special::List)),
        _ => None,
    })
}

fn of_special(special: Special) -> Value {
    match special {
        Special::Time | Special::MicroTime => json!({"type": "string", "format": "date-time"}),
        Special::Quantity => json!({"oneOf": [{"type": "string"}, {"type": "number"}]}),
        Special::IntOrString => {
            json!({"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]})
        }
        Special::RawExtension | Special::FieldsV1 => json!({"type": "object"}),
        Special::List => json!({"type": "array", "items": {"type": "string"}}),
        Special::Json | Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStringArray => {
            json!({})
        }
    }
}

fn of_field(field: &Field, values: Option<&[String]>, text: Option<&str>) -> Value {
    let mut value = of_value(field.value);
    if let Some(values) = values {
        value["enum"] = json!(values);
    }
    let mut schema = match field.shape {
        Shape::One => value,
        Shape::List => json!({"type": "array", "items": value}),
        Shape::Map => json!({"type": "object", "additionalProperties": value}),
    };
    let mut extra = Map::new();
    extra.extend(text.map(|text| ("description".to_owned(), json!(text))));
    if let Some(default) = field.default.clone().or_else(|| is_always_there(field).then(|| json!({}))) {
        extra.insert("default".to_owned(), default);
    }
    match &field.list_type {
        Some(ListType::Atomic) => {
            extra.insert("x-kubernetes-list-type".to_owned(), json!("atomic"));
        }
        Some(ListType::Set) => {
            extra.insert("x-kubernetes-list-type".to_owned(), json!("set"));
        }
        Some(ListType::Map(keys)) => {
            extra.insert("x-kubernetes-list-type".to_owned(), json!("map"));
            extra.insert("x-kubernetes-list-map-keys".to_owned(), json!(keys));
        }
        None => {}
    }
    if let Some(atomic) = field.atomic {
        let map_type = if atomic { "atomic" } else { "granular" };
        extra.insert("x-kubernetes-map-type".to_owned(), json!(map_type));
    }
    if let Some(strategy) = strategy(field.patch) {
        extra.insert("x-kubernetes-patch-strategy".to_owned(), json!(strategy));
    }
    if let Some(key) = &field.merge_key {
        extra.insert("x-kubernetes-patch-merge-key".to_owned(), json!(key));
    }
    if !extra.is_empty() {
        // Nothing may stand beside a reference.
        if schema.get("$ref").is_some() {
            schema = json!({"allOf": [schema]});
        }
        if let Value::Object(schema) = &mut schema {
            schema.extend(extra);
        }
    }
    schema
}

/// Whether Go has a struct here that cannot be absent, and so is one without fields by default.
fn is_always_there(field: &Field) -> bool {
    let is_struct = |id| Types::get().by_id(id).is_some_and(|own| own.special.is_none());
    field.shape == Shape::One
        && !field.pointer
        && matches!(field.value, ValueType::Message(id) if is_struct(id))
}

fn of_value(value: ValueType) -> Value {
    match value {
        ValueType::String => json!({"type": "string"}),
        ValueType::Bytes => json!({"type": "string", "format": "byte"}),
        ValueType::Bool => json!({"type": "boolean"}),
        ValueType::Int32 => json!({"type": "integer", "format": "int32"}),
        ValueType::Int64 => json!({"type": "integer", "format": "int64"}),
        ValueType::Double => json!({"type": "number", "format": "double"}),
        ValueType::Any => json!({}),
        ValueType::Message(id) => match Types::get().by_id(id) {
            Some(list) if list.special == Some(Special::List) => of(list),
            Some(own) => reference(&own.name),
            None => json!({}),
        },
    }
}

fn strategy(strategy: PatchStrategy) -> Option<String> {
    let parts =
        [("merge", strategy.merge), ("replace", strategy.replace), ("retainKeys", strategy.retain_keys)];
    let parts: Vec<&str> = parts.iter().filter(|(_, set)| *set).map(|(name, _)| *name).collect();
    (!parts.is_empty()).then(|| parts.join(","))
}
