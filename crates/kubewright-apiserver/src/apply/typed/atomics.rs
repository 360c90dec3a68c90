//! Which parts of a value are atomic: written whole or not at all.

use serde_json::Value;

use super::super::schema::{Schema, TypeRef};

pub(super) fn paths(schema: &Schema, ty: &TypeRef, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit(schema, ty, value, "", &mut found);
    found
}

fn visit(schema: &Schema, ty: &TypeRef, value: &Value, path: &str, found: &mut Vec<String>) {
    let kinds = schema.resolve(ty);
    match (value, kinds.map, kinds.list) {
        (Value::Object(fields), Some(map), _) => {
            if map.is_atomic() {
                found.push(path.to_owned());
            }
            for (name, value) in fields {
                // What is in a map without declared fields is looked at by nobody.
                if let Some(field) = map.field(name) {
                    visit(schema, &field.ty, value, &format!("{path}.{name}"), found);
                }
            }
        }
        (Value::Array(items), _, Some(list)) => {
            if list.is_atomic() {
                found.push(path.to_owned());
            }
            for (index, item) in items.iter().enumerate() {
                visit(schema, list.element(), item, &format!("{path}[{index}]"), found);
            }
        }
        _ => {}
    }
}
