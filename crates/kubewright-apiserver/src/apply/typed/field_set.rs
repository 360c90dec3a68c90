//! Which fields a value mentions.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::path::PathElement;
use super::super::schema::{ListType, MapType, Schema, TypeRef};
use super::super::set::Set;
use super::{Result, TypeErrors, item, validate};

/// The leaf fields and list items of a value.
pub(super) fn field_set(schema: &Schema, ty: &TypeRef, value: &Value) -> Result<Set> {
    let mut errors = TypeErrors::default();
    let (set, _) = visit(schema, ty, value, &mut errors);
    errors.into_result(set)
}

/// The fields inside a value, and whether the value itself is a field.
fn visit(schema: &Schema, ty: &TypeRef, value: &Value, errors: &mut TypeErrors) -> (Set, bool) {
    let kinds = schema.resolve(ty).narrow(Some(value));
    if let Some(map) = kinds.map {
        visit_map(schema, map, value, errors)
    } else if kinds.scalar.is_some() {
        (Set::new(), true)
    } else if let Some(list) = kinds.list {
        visit_list(schema, list, value, errors)
    } else {
        errors.push(validate::INVALID_ATOM);
        (Set::new(), false)
    }
}

fn visit_map(schema: &Schema, map: MapType<'_>, value: &Value, errors: &mut TypeErrors) -> (Set, bool) {
    let mut set = Set::new();
    if map.is_atomic() {
        return (set, true);
    }
    let Value::Object(entries) = value else { return (set, false) };
    for (name, value) in entries {
        let declared = map.field_entry(name);
        let element = match declared {
            Some((name, _)) => PathElement::Field(name.clone()),
            None => PathElement::field(name.as_str()),
        };
        let mut inner = TypeErrors::default();
        let (child, is_field) = match declared.map(|(_, field)| &field.ty).or(map.element()) {
            Some(ty) => visit(schema, ty, value, &mut inner),
            None => {
                inner.push(validate::INVALID_ATOM);
                (Set::new(), false)
            }
        };
        errors.extend_within(&element, inner);
        let is_empty = value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
        if is_field || is_empty || declared.is_none() {
            set.insert_member(element.clone());
        }
        set.insert_child(element, child);
    }
    (set, false)
}

fn visit_list(schema: &Schema, list: ListType<'_>, value: &Value, errors: &mut TypeErrors) -> (Set, bool) {
    let mut set = Set::new();
    if list.is_atomic() {
        return (set, true);
    }
    let Value::Array(items) = value else { return (set, false) };
    let mut elements = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        match item::path_element(schema, list, item) {
            Ok(element) => elements.push((element, item)),
            Err(message) => errors.push(format!("element {i}: {message}")),
        }
    }
    let mut seen = BTreeSet::new();
    let duplicates: BTreeSet<&PathElement> =
        elements.iter().map(|(element, _)| element).filter(|element| !seen.insert(*element)).collect();
    for (element, item) in &elements {
        set.insert_member(element.clone());
        // Items that share a key are owned together, not field by field.
        if duplicates.contains(element) {
            continue;
        }
        let mut inner = TypeErrors::default();
        let (child, _) = visit(schema, list.element(), item, &mut inner);
        errors.extend_within(element, inner);
        set.insert_child(element.clone(), child);
    }
    (set, false)
}
