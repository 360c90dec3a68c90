//! The schemas of custom resources, as published.

use serde_json::{Map, Value, json};

use super::{
    CustomResource,
    document::{meta, reference},
};
use crate::registry::ResourceDefinition;

const CONVENTIONS: &str =
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md";

/// The name of the schema of a kind, e.g. `com.example.v1.Widget`.
pub(super) fn schema_name(definition: &ResourceDefinition, kind: &str) -> String {
    let mut parts: Vec<&str> = definition.group.split('.').rev().collect();
    parts.extend([definition.version.as_str(), kind]);
    parts.join(".")
}

/// The schemas of the kind (called `name`) and of its list.
pub(super) fn schemas(resource: &CustomResource, name: &str) -> (Value, Value) {
    let definition = &resource.definition;
    let mut kind = publish(&resource.schema);
    if !kind.is_object() {
        kind = json!({"x-kubernetes-preserve-unknown-fields": true});
    }
    kind["type"] = json!("object");
    let metadata = described("Standard object's metadata. More info: ", "#metadata", "ObjectMeta");
    add_object_fields(&mut kind, metadata);
    let mut list = json!({
        "description": format!("{} is a list of {}", definition.list_kind, definition.kind),
        "type": "object",
        "required": ["items"],
        "properties": {
            "items": {
                "description": format!("List of {}. More info: {CONVENTIONS}", definition.plural),
                "type": "array",
                "items": reference(name),
            },
        },
    });
    let metadata = described("Standard list metadata. More info: ", "#types-kinds", "ListMeta");
    add_object_fields(&mut list, metadata);
    for (schema, kind) in [(&mut kind, &definition.kind), (&mut list, &definition.list_kind)] {
        schema["x-kubernetes-group-version-kind"] =
            json!([{"group": definition.group, "version": definition.version, "kind": kind}]);
        if !resource.selectable_fields.is_empty() {
            let fields: Vec<Value> = resource
                .selectable_fields
                .iter()
                .map(|path| json!({"fieldPath": path.trim_start_matches('.')}))
                .collect();
            schema["x-kubernetes-selectable-fields"] = json!(fields);
        }
    }
    (kind, list)
}

/// Adds `apiVersion`, `kind` and `metadata`.
fn add_object_fields(schema: &mut Value, metadata: Value) {
    let fields = [
        (
            "apiVersion",
            json!({
                "description": format!(
                    "The version of the schema of this object, as group and version. More info: {CONVENTIONS}#resources"
                ),
                "type": "string",
            }),
        ),
        (
            "kind",
            json!({
                "description": format!("The kind of this object, in CamelCase. More info: {CONVENTIONS}#types-kinds"),
                "type": "string",
            }),
        ),
        ("metadata", metadata),
    ];
    if !schema["properties"].is_object() {
        schema["properties"] = json!({});
    }
    for (name, field) in fields {
        schema["properties"][name] = field;
    }
}

fn described(text: &str, anchor: &str, kind: &str) -> Value {
    json!({"description": format!("{text}{CONVENTIONS}{anchor}"), "allOf": [reference(&meta(kind))]})
}

/// A structural schema with what its extensions mean to clients written out.
fn publish(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    let mut published = Map::new();
    for (key, value) in schema {
        let value = match (key.as_str(), value) {
            ("properties" | "patternProperties" | "definitions", Value::Object(schemas)) => {
                schemas.iter().map(|(name, schema)| (name.clone(), publish(schema))).collect()
            }
            ("items" | "additionalProperties" | "not", schema) => publish(schema),
            ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => schemas.iter().map(publish).collect(),
            (_, value) => value.clone(),
        };
        published.insert(key.clone(), value);
    }
    let is_set = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    if is_set("x-kubernetes-int-or-string") && !schema.contains_key("anyOf") {
        published.insert("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
    }
    let mut published = Value::Object(published);
    if is_set("x-kubernetes-embedded-resource") {
        let metadata = described("Standard object's metadata. More info: ", "#metadata", "ObjectMeta");
        add_object_fields(&mut published, metadata);
        let mut required: Vec<Value> =
            schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        for field in ["kind", "apiVersion"] {
            if !required.iter().any(|own| own == field) {
                required.push(json!(field));
            }
        }
        published["required"] = json!(required);
    }
    published
}
