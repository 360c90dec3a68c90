//! The older form of the same documents, OpenAPI v2: one for all that is served.
//!
//! It says less: no defaults, no alternatives, and for custom resources nothing of values that may be null or anything. The JSON has
//! schemas and operations. The protobuf, which kubectl reads, has the schemas: it takes the operations from v3.

use std::{collections::BTreeMap, sync::LazyLock};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::{Document, gnostic};

const REFERENCE: &str = "#/components/schemas/";

/// Schemas and operations of some documents.
#[derive(Debug, Default)]
pub(super) struct Part {
    definitions: BTreeMap<String, Value>,
    paths: BTreeMap<String, Value>,
}

/// A part as it is written.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The members of the object of definitions.
    definitions: String,
    /// The members of the object of paths.
    paths: String,
    /// The definitions in protobuf.
    encoded: Vec<u8>,
}

// === impl Part ===

impl Part {
    /// The part of these v3 documents.
    pub(super) fn of<'a>(documents: impl IntoIterator<Item = &'a Document>) -> Self {
        let mut part = Self::default();
        for document in documents {
            part.add(&document.build());
        }
        part
    }

    fn add(&mut self, document: &Value) {
        let members = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
        for (name, schema) in members(document.pointer("/components/schemas")) {
            self.definitions.insert(name, definition(&schema));
        }
        let paths = members(document.get("paths"));
        self.paths.extend(paths.into_iter().map(|(name, item)| (name, path(&item))));
    }

    pub(super) fn write(&self) -> Written {
        let members = |values: &BTreeMap<String, Value>| {
            let members =
                values.iter().map(|(name, value)| format!("{}:{value}", Value::from(name.as_str())));
            members.collect::<Vec<_>>().join(",")
        };
        Written {
            definitions: members(&self.definitions),
            paths: members(&self.paths),
            encoded: gnostic::definitions(&self.definitions),
        }
    }
}

// === impl Written ===

impl Written {
    /// The document of two parts, as JSON.
    pub(super) fn json(&self, other: &Self) -> Bytes {
        let joined = |one: &str, other: &str| match (one, other) {
            ("", only) | (only, "") => only.to_owned(),
            (one, other) => format!("{one},{other}"),
        };
        let head = HEAD.to_string();
        format!(
            "{},\"definitions\":{{{}}},\"paths\":{{{}}}}}",
            head.strip_suffix('}').unwrap_or(&head),
            joined(&self.definitions, &other.definitions),
            joined(&self.paths, &other.paths),
        )
        .into()
    }

    /// The document of two parts, as protobuf, in which definitions may come in several pieces.
    pub(super) fn protobuf(&self, other: &Self) -> Bytes {
        [gnostic::head(&HEAD), self.encoded.clone(), other.encoded.clone()].concat().into()
    }
}

static HEAD: LazyLock<Value> = LazyLock::new(|| {
    json!({
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": "1.37"},
        "securityDefinitions": {
            "BearerToken": {
                "type": "apiKey", "description": "Bearer Token authentication", "name": "authorization", "in": "header",
            },
        },
        "security": [{"BearerToken": []}],
    })
});

// === schemas ===

/// A schema as v2 has it.
fn definition(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return json!({}) };
    let is = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    let open = is("x-kubernetes-preserve-unknown-fields");
    let mut made = Map::new();
    for (key, value) in schema {
        let value = match (key.as_str(), value) {
            ("$ref", Value::String(target)) => json!(target.replace(REFERENCE, "#/definitions/")),
            ("properties", Value::Object(properties)) if !open && !is("nullable") => {
                properties.iter().map(|(name, schema)| (name.clone(), definition(schema))).collect()
            }
            ("items", items) if !open && !is("nullable") => definition(items),
            ("additionalProperties", Value::Object(_)) => definition(value),
            ("type", _) if is("nullable") => continue,
            ("properties" | "items" | "default" | "nullable" | "anyOf" | "oneOf" | "allOf" | "not", _) => {
                continue;
            }
            _ => value.clone(),
        };
        made.insert(key.clone(), value);
    }
    match (schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice), schema.get("oneOf")) {
        // Something stands beside a reference.
        (Some([only]), _) if only.get("$ref").is_some() => {
            made.extend(definition(only).as_object().cloned().unwrap_or_default());
        }
        // A quantity or a port, which is written as text.
        (_, Some(_)) if !made.contains_key("type") => {
            made.insert("type".to_owned(), json!("string"));
        }
        _ => {}
    }
    Value::Object(made)
}

// === operations ===

fn path(item: &Value) -> Value {
    let Value::Object(item) = item else { return json!({}) };
    item.iter()
        .map(|(key, value)| match key.as_str() {
            "parameters" => (key.clone(), parameters(value).into()),
            _ if value.is_object() => (key.clone(), operation(value)),
            _ => (key.clone(), value.clone()),
        })
        .collect()
}

fn operation(operation: &Value) -> Value {
    let Value::Object(operation) = operation else { return json!({}) };
    let mut made = Map::new();
    let mut all = operation.get("parameters").map(parameters).unwrap_or_default();
    if let Some(body) = operation.get("requestBody") {
        let content = body.get("content").and_then(Value::as_object);
        let types: Vec<&String> = content.into_iter().flat_map(Map::keys).collect();
        made.insert("consumes".to_owned(), json!(types));
        let schema =
            content.and_then(|content| content.values().next()).and_then(|media| media.get("schema"));
        let mut parameter =
            json!({"name": "body", "in": "body", "schema": schema.map(definition).unwrap_or_default()});
        if body.get("required") == Some(&Value::Bool(true)) {
            parameter["required"] = json!(true);
        }
        all.push(parameter);
    }
    let mut produces: Vec<String> = Vec::new();
    let responses = operation.get("responses").and_then(Value::as_object).cloned().unwrap_or_default();
    let responses: Map<String, Value> = responses
        .into_iter()
        .map(|(code, response)| {
            let mut made = json!({"description": response.get("description").cloned().unwrap_or_default()});
            for (media, content) in response.get("content").and_then(Value::as_object).into_iter().flatten() {
                if !produces.contains(media) {
                    produces.push(media.clone());
                }
                if let Some(schema) = content.get("schema") {
                    made["schema"] = definition(schema);
                }
            }
            (code, made)
        })
        .collect();
    for (key, value) in operation {
        if !matches!(key.as_str(), "parameters" | "requestBody" | "responses") {
            made.insert(key.clone(), value.clone());
        }
    }
    made.extend((!all.is_empty()).then(|| ("parameters".to_owned(), all.into())));
    made.insert("produces".to_owned(), json!(produces));
    made.insert("schemes".to_owned(), json!(["https"]));
    made.insert("responses".to_owned(), responses.into());
    Value::Object(made)
}

/// Parameters, whose schema v2 writes beside their name.
fn parameters(parameters: &Value) -> Vec<Value> {
    let one = |parameter: &Value| {
        let mut made = parameter.as_object().cloned().unwrap_or_default();
        if let Some(Value::Object(schema)) = made.remove("schema") {
            made.extend(schema);
        }
        Value::Object(made)
    };
    parameters.as_array().into_iter().flatten().map(one).collect()
}
