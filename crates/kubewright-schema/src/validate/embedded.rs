//! The meta of embedded resources.

use serde_json::{Map, Value};

use crate::{
    error::{ErrorList, FieldError, FieldPath},
    structural::Schema,
};

pub(super) fn validate(schema: &Schema, value: &Value, path: &FieldPath) -> ErrorList {
    let mut walk = Walk { path: path.clone(), errors: ErrorList::new() };
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
                    let declared = schema.properties.get(name);
                    let Some(field_schema) = declared.or_else(|| schema.additional_schema()) else {
                        continue;
                    };
                    let length = if declared.is_some() {
                        self.path.push_child(name)
                    } else {
                        self.path.push_key(name)
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
                    let problem = if name == "kind" { kind_problem(text) } else { api_version_problem(text) };
                    if let Some(problem) = problem {
                        self.errors.push(FieldError::invalid(&path, text.as_str(), problem));
                    }
                }
                Some(other) => {
                    self.errors.push(FieldError::invalid(&path, other.clone(), "must be a string"));
                }
            }
        }
    }
}

fn api_version_problem(text: &str) -> Option<String> {
    (text.matches('/').count() > 1).then(|| format!("unexpected GroupVersion string: {text}"))
}

fn kind_problem(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let is_label = lower.len() <= 63
        && lower.starts_with(|c: char| c.is_ascii_lowercase())
        && !lower.ends_with('-')
        && lower.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    (!is_label).then(|| {
        "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case \
         alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric \
         character (e.g. 'my-name',  or 'abc-123', regex used for validation is \
         '[a-z]([-a-z0-9]*[a-z0-9])?')"
            .to_owned()
    })
}
