//! A value without some of its fields, or with nothing but them.

use serde_json::{Map, Value};

use super::super::path::{Path, PathElement};
use super::super::schema::{ListType, MapType, Schema, TypeRef};
use super::super::set::Set;
use super::item;

/// The value without `fields`. What becomes empty by it becomes null.
pub(super) fn remove(schema: &Schema, ty: &TypeRef, value: &Value, fields: &Set) -> Value {
    Extractor { schema, keep: false }.visit(Some(ty), value, fields)
}

/// Nothing of the value but `fields`.
pub(super) fn extract(schema: &Schema, ty: &TypeRef, value: &Value, fields: &Set) -> Value {
    Extractor { schema, keep: true }.visit(Some(ty), value, fields)
}

/// The key fields of the list items on the way to those of `fields` that are in `all`.
pub(super) fn key_fields(all: &Set, fields: &Set) -> Set {
    let mut keys = Set::new();
    for path in fields.paths().iter().filter(|path| all.contains(path)) {
        for (i, element) in path.iter().enumerate() {
            let PathElement::Key(key) = element else { continue };
            for field in key.iter() {
                let parents = path.iter().take(i + 1).cloned();
                let path: Path = parents.chain([PathElement::Field(field.name.clone())]).collect();
                keys.insert(&path);
            }
        }
    }
    keys
}

struct Extractor<'s> {
    schema: &'s Schema,
    /// Whether the fields are what stays, or what goes.
    keep: bool,
}

impl Extractor<'_> {
    fn visit(&self, ty: Option<&TypeRef>, value: &Value, fields: &Set) -> Value {
        let kinds = ty.map(|ty| self.schema.resolve(ty)).unwrap_or_default().narrow(Some(value));
        let kept = if let Some(map) = kinds.map {
            value.as_object().and_then(|entries| self.visit_map(map, entries, fields))
        } else if kinds.scalar.is_some() {
            Some(value.clone())
        } else if let Some(list) = kinds.list {
            value.as_array().and_then(|items| self.visit_list(list, items, fields))
        } else {
            None
        };
        kept.unwrap_or(Value::Null)
    }

    fn visit_map(&self, map: MapType<'_>, entries: &Map<String, Value>, fields: &Set) -> Option<Value> {
        if entries.is_empty() || map.is_atomic() {
            return self.keep.then(|| Value::Object(entries.clone()));
        }
        let mut kept = Map::new();
        for (name, value) in entries {
            let element = match map.field_entry(name) {
                Some((name, _)) => PathElement::Field(name.clone()),
                None => PathElement::field(name.as_str()),
            };
            let ty = map.type_of(name);
            if fields.has_member(&element) {
                if self.keep {
                    kept.insert(name.clone(), self.visit(ty, value, fields));
                }
                continue;
            }
            match fields.child(&element).filter(|below| !below.is_empty()) {
                Some(below) => {
                    kept.insert(name.clone(), self.visit(ty, value, below));
                }
                None if self.keep => {}
                None => {
                    kept.insert(name.clone(), value.clone());
                }
            }
        }
        (!kept.is_empty()).then_some(Value::Object(kept))
    }

    fn visit_list(&self, list: ListType<'_>, items: &[Value], fields: &Set) -> Option<Value> {
        if items.is_empty() || list.is_atomic() {
            return self.keep.then(|| Value::Array(items.to_vec()));
        }
        let mut kept = Vec::new();
        for item in items {
            // Items without a path element do not occur in a checked value; they are left alone.
            let element = item::path_element(self.schema, list, item).ok();
            let is_member = element.as_ref().is_some_and(|element| fields.has_member(element));
            let below = element.as_ref().and_then(|e| fields.child(e)).filter(|below| !below.is_empty());
            let stays = if self.keep { is_member || below.is_some() } else { !is_member };
            if stays {
                kept.push(match below {
                    Some(below) => self.visit(Some(list.element()), item, below),
                    None => item.clone(),
                });
            }
        }
        (!kept.is_empty()).then_some(Value::Array(kept))
    }
}
