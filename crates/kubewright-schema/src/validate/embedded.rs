//! The meta of embedded resources.

use serde_json::{Map, Value};

use crate::{
    error::{ErrorList, FieldError, FieldPath},
    names::{self, NameRule},
    structural::Schema,
};

/// With `is_resource`, the value is a resource whatever its schema says.
pub(super) fn validate(schema: &Schema, value: &Value, path: &FieldPath, is_resource: bool) -> ErrorList {
    let mut walk = Walk { path: path.clone(), errors: ErrorList::new() };
    if let Some(fields) = value.as_object().filter(|_| is_resource && !schema.embedded_resource) {
        walk.resource(fields);
    }
    walk.node(schema, value);
    walk.errors
}

struct Walk {
    path: FieldPath,
    errors: ErrorList,
}

impl Walk {
    fn node(&mut self, schema: &Schema, value: &Value) {
        if !schema.subtree.embedded {
            return;
        }
        match value {
            Value::Object(fields) => {
                if schema.embedded_resource {
                    self.resource(fields);
                }
                for (name, field) in fields {
                    let Some((field_schema, length)) = schema.enter_field(name, &mut self.path) else {
                        continue;
                    };
                    self.node(field_schema, field);
                    self.path.truncate(length);
                }
            }
            Value::Array(items) => {
                let Some(item_schema) = &schema.items else { return };
                for (index, item) in items.iter().enumerate() {
                    let length = self.path.push_index(index);
                    self.node(item_schema, item);
                    self.path.truncate(length);
                }
            }
            _ => {}
        }
    }

    fn resource(&mut self, fields: &Map<String, Value>) {
        for name in ["apiVersion", "kind"] {
            let path = self.path.child(name);
            match fields.get(name) {
                None => self.errors.push(FieldError::required(&path, "")),
                Some(Value::String(text)) if text.is_empty() => {
                    self.errors.push(FieldError::invalid(&path, "", "must not be empty"));
                }
                Some(Value::String(text)) => {
                    let problem =
                        if name == "kind" { kind_problem(text) } else { names::api_version_problem(text) };
                    if let Some(problem) = problem {
                        self.errors.push(FieldError::invalid(&path, text.as_str(), problem));
                    }
                }
                Some(other) => {
                    self.errors.push(FieldError::invalid(&path, other.clone(), "must be a string"));
                }
            }
        }
        if let Some(meta) = fields.get("metadata") {
            self.meta(meta);
        }
    }

    fn meta(&mut self, meta: &Value) {
        let path = self.path.child("metadata");
        if let Some(problem) = names::type_problem(meta) {
            self.errors.push(FieldError::invalid(&path, meta.clone(), problem));
            return;
        }
        let mut meta = meta.clone();
        // An embedded object may stand for one that gets its name later.
        if meta["name"].as_str().unwrap_or_default().is_empty() {
            meta["name"] = "fakename".into();
        }
        let namespaced = meta["namespace"].as_str().is_some_and(|namespace| !namespace.is_empty());
        self.errors.extend(names::validate_object_meta(&meta, namespaced, NameRule::PathSegment, &path));
    }
}

fn kind_problem(text: &str) -> Option<String> {
    let reasons = names::dns1035_label(&text.to_lowercase());
    (!reasons.is_empty())
        .then(|| format!("may have mixed case, but should otherwise match: {}", reasons.join(",")))
}
