//! Values that a schema allows, as far as that can be told without its rules in CEL.

use serde_json::{Map, Number, Value, json};

use crate::text;

/// How much of an object is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fill {
    /// Each property.
    Everything,
    /// Where there are rules, the first property of those that are not required; elsewhere each.
    First,
    /// What is required.
    Required,
}

/// Objects below this depth have what is required.
const DEEP: usize = 7;

/// Objects with more properties than this, below the spec, have what is required and some more.
const WIDE: usize = 40;

/// An object of this schema without its type and metadata.
pub(crate) fn object(schema: &Value, fill: Fill) -> Value {
    let mut object = Map::new();
    for (name, property) in properties(schema) {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata")
            && (fill != Fill::Required || name != "status")
        {
            object.insert(name.clone(), value(property, fill, 1, 0));
        }
    }
    Value::Object(object)
}

/// A value of this schema; different numbers give different values where the schema has room.
pub(crate) fn value(schema: &Value, fill: Fill, depth: usize, number: usize) -> Value {
    let schema = &tightest(schema);
    if let Some(values) = schema["enum"].as_array().filter(|values| !values.is_empty()) {
        return values[number % values.len()].clone();
    }
    if schema["x-kubernetes-embedded-resource"] == true {
        return json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("embedded-{number}")}});
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return if schema.get("pattern").is_some() || schema.get("minLength").is_some() {
            Value::String(text::text(schema, number))
        } else {
            json!(number + 1)
        };
    }
    match schema["type"].as_str() {
        Some("string") => Value::String(text::text(schema, number)),
        Some("boolean") => Value::Bool(number.is_multiple_of(2)),
        Some("integer") => integer(schema, number),
        Some("number") => float(schema, number),
        Some("array") => {
            let length = schema["minItems"].as_u64().unwrap_or(0).max(1);
            let length = schema["maxItems"].as_u64().map_or(length, |most| length.min(most)) as usize;
            (0..length).map(|i| value(&schema["items"], fill, depth + 1, number + i)).collect()
        }
        Some("object") => structure(schema, fill, depth, number),
        _ => json!({"any": number}),
    }
}

fn structure(schema: &Value, fill: Fill, depth: usize, number: usize) -> Value {
    let mut object = Map::new();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let has_rules = schema.get("x-kubernetes-validations").is_some();
    let many = properties(schema).count() > WIDE;
    let mut optional = 0;
    for (name, property) in properties(schema) {
        let wanted = required.contains(&name.as_str()) || {
            optional += 1;
            match fill {
                Fill::Everything => depth < DEEP && !(many && depth > 3),
                Fill::First => depth < DEEP && (!has_rules || optional == 1),
                Fill::Required => false,
            }
        };
        if wanted {
            object.insert(name.clone(), value(property, fill, depth + 1, number));
        }
    }
    let more =
        schema["minProperties"].as_u64().unwrap_or(0).max(u64::from(fill == Fill::Everything)) as usize;
    if let Some(additional) = schema.get("additionalProperties").filter(|additional| additional.is_object()) {
        for i in 0..more {
            object.insert(format!("key{i}"), value(additional, fill, depth + 1, number + i));
        }
    } else {
        for (name, property) in properties(schema) {
            if object.len() < more && !object.contains_key(name) {
                object.insert(name.clone(), value(property, fill, depth + 1, number));
            }
        }
    }
    Value::Object(object)
}

fn integer(schema: &Value, number: usize) -> Value {
    let step = schema["multipleOf"].as_f64().filter(|step| *step >= 1.0).unwrap_or(1.0);
    let least = schema["minimum"].as_f64();
    let most = schema["maximum"].as_f64();
    let mut first = least.unwrap_or_else(|| most.map_or(1.0, |most| most.min(1.0)));
    if least.is_some() && schema["exclusiveMinimum"] == true {
        first += 1.0;
    }
    let value = ((first / step).ceil() + number as f64) * step;
    let value = most.map_or(value, |most| if value > most { (first / step).ceil() * step } else { value });
    // Floats hold the bounds of 64 bits only nearly.
    json!(value.clamp(-9e18, 9e18) as i64)
}

fn float(schema: &Value, number: usize) -> Value {
    let step = schema["multipleOf"].as_f64().unwrap_or(0.5);
    let least = schema["minimum"].as_f64().unwrap_or(0.0);
    let value = ((least / step).ceil() + 1.0 + number as f64) * step;
    let value = schema["maximum"].as_f64().map_or(value, |most| value.min(most));
    Number::from_f64(value).map_or(Value::Null, Value::Number)
}

/// The properties in the order of their names.
pub(crate) fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

/// The schema with the bounds of its `allOf` in place of its own where they are tighter.
pub(crate) fn tightest(schema: &Value) -> Value {
    let mut merged = schema.clone();
    for part in schema["allOf"].as_array().into_iter().flatten() {
        for (keyword, bound) in part.as_object().into_iter().flatten() {
            if keyword == "multipleOf" && merged.get(keyword).is_some() {
                let product = merged[keyword].as_f64().unwrap_or(1.0) * bound.as_f64().unwrap_or(1.0);
                merged[keyword] = json!(product);
                continue;
            }
            let tighter = match (merged.get(keyword).and_then(Value::as_f64), bound.as_f64()) {
                (Some(present), Some(bound)) if keyword.to_lowercase().starts_with("min") => bound > present,
                (Some(present), Some(bound)) => bound < present,
                _ => merged.get(keyword).is_none(),
            };
            if tighter {
                merged[keyword] = bound.clone();
            }
        }
    }
    merged
}
