//! Merging lists.

use serde_json::Value;

use super::schema::ListSchema;
use super::{DIRECTIVE, PatchError, Result, as_map, map, no_merge_key, order, plain, plain_list};

/// Merges a list into another if its strategy is to merge, else replaces it. With `is_delete` the
/// patch lists the values to take out.
pub(super) fn merge_or_replace(
    original: Vec<Value>,
    patch: Vec<Value>,
    schema: &ListSchema,
    is_delete: bool,
) -> Result<Vec<Value>> {
    if schema.strategy.merge || is_delete { merge(original, patch, schema, is_delete) } else { Ok(patch) }
}

fn merge(
    original: Vec<Value>,
    patch: Vec<Value>,
    schema: &ListSchema,
    is_delete: bool,
) -> Result<Vec<Value>> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    if element_kind(&original, &patch)? != ElementKind::Map {
        if is_delete {
            return Ok(original.into_iter().filter(|item| !patch.contains(item)).collect());
        }
        let mut merged = original.clone();
        merged.extend(patch.iter().filter(|item| !original.contains(item)).cloned());
        order::dedup(&mut merged);
        return order::arrange(merged, &patch, &original, "");
    }
    let key = &schema.merge_key;
    if key.is_empty() {
        let kind = schema.item.kind();
        return Err(PatchError::Internal(format!("cannot merge lists without merge key for {kind}")));
    }
    let (original, patch) = apply_directives(original, patch, key)?;
    let mut merged = original.clone();
    for item in &patch {
        let value = as_map(item)?.get(key).ok_or_else(|| no_merge_key_of(item, key))?;
        match order::position(&merged, key, value)?.and_then(|at| merged.get_mut(at)) {
            Some(current) => *current = map::merge_item(current, item, schema.item)?,
            None => merged.push(item.clone()),
        }
    }
    order::arrange(merged, &patch, &original, key)
}

fn no_merge_key_of(item: &Value, key: &str) -> PatchError {
    item.as_object()
        .map_or_else(|| super::wrong_kind("map[string]interface {}", item), |item| no_merge_key(item, key))
}

/// Carries out the items of the patch that are directives.
fn apply_directives(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>)> {
    let mut rest = Vec::with_capacity(patch.len());
    let mut is_replaced = false;
    for item in patch {
        let fields = as_map(&item)?;
        match fields.get(DIRECTIVE) {
            None => rest.push(item),
            Some(Value::String(directive)) if directive == "delete" => {
                let value = fields.get(key).ok_or_else(|| no_merge_key(fields, key))?;
                while let Some(at) = order::position(&original, key, value)? {
                    original.remove(at);
                }
            }
            Some(Value::String(directive)) if directive == "replace" => is_replaced = true,
            Some(Value::String(directive)) if directive == "merge" => {
                let message = "merging lists cannot yet be specified in the patch";
                return Err(PatchError::Internal(message.to_owned()));
            }
            Some(other) => return Err(map::unknown_directive(&plain(other), fields)),
        }
    }
    // What is left of the patch then stands for the list, and there is nothing to merge into it.
    Ok(if is_replaced { (rest, Vec::new()) } else { (original, rest) })
}

/// What all items of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementKind {
    Null,
    Bool,
    Integer,
    Float,
    String,
    Map,
}

/// What all items of both lists are; it must be the same.
pub(super) fn element_kind(left: &[Value], right: &[Value]) -> Result<ElementKind> {
    let mut found = None;
    for item in left.iter().chain(right) {
        let kind = match item {
            Value::Null => ElementKind::Null,
            Value::Bool(_) => ElementKind::Bool,
            Value::Number(number) if number.is_f64() => ElementKind::Float,
            Value::Number(_) => ElementKind::Integer,
            Value::String(_) => ElementKind::String,
            Value::Object(_) => ElementKind::Map,
            Value::Array(_) if found.is_none() => {
                return Err(PatchError::Unprocessable("lists of lists are not supported".to_owned()));
            }
            Value::Array(_) => return Err(not_identical(left, right)),
        };
        match found {
            None => found = Some(kind),
            Some(found) if found == kind => {}
            Some(_) => return Err(not_identical(left, right)),
        }
    }
    found.ok_or_else(|| PatchError::Internal("no elements in any of the given slices".to_owned()))
}

fn not_identical(left: &[Value], right: &[Value]) -> PatchError {
    let lists = format!("[{} {}]", plain_list(left), plain_list(right));
    PatchError::Internal(format!("list element types are not identical: {lists}"))
}
