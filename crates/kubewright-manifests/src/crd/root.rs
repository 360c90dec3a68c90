//! What every custom resource has besides its own fields.

use serde_json::{Map, Value, json};

use crate::schema::{self, shorten};

/// The text of `apiVersion` that every kind's schema has.
const API_VERSION: &str = "\
APIVersion defines the versioned schema of this representation of an object.
Servers should convert recognized schemas to the latest internal value, and
may reject unrecognized values.
More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources";

/// The text of `kind` that every kind's schema has.
const KIND: &str = "\
Kind is a string value representing the REST resource this object represents.
Servers may infer this from the endpoint the client submits requests to.
Cannot be updated.
In CamelCase.
More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds";

/// How the documentation of a root type begins that has none of its own.
const DERIVED: &str = "Auto-generated derived type for ";

const FIELDS: [&str; 3] = ["apiVersion", "kind", "metadata"];

/// Gives the schema of a root type the fields of every object, in place of its own, and takes away the description
/// that kube's derive makes up.
///
/// The API server knows the three fields itself: it fills in whatever is left out here, and refuses more.
pub(super) fn complete(schema: &mut Map<String, Value>, options: &schema::Options) {
    if schema.get("description").and_then(Value::as_str).is_some_and(|text| text.starts_with(DERIVED)) {
        schema.remove("description");
    }
    schema.insert("type".to_owned(), "object".into());
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| name.as_str().is_none_or(|name| !FIELDS.contains(&name)));
        if required.is_empty() {
            schema.remove("required");
        }
    }
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if !properties.is_object() {
        *properties = json!({});
    }
    for (name, text) in [("apiVersion", API_VERSION), ("kind", KIND)] {
        properties[name] = json!({"type": "string"});
        let text =
            options.max_description_length.map_or_else(|| text.to_owned(), |limit| shorten(text, limit));
        if !text.is_empty() {
            properties[name]["description"] = text.into();
        }
    }
    properties["metadata"] = json!({"type": "object"});
}

/// Whether what is at this path of a root schema is replaced by [`complete`].
pub(super) fn replaces(path: &str) -> bool {
    FIELDS.iter().any(|field| path.starts_with(&format!("properties[{field}]")))
}
