//! Merging objects.

use serde_json::{Map, Value};

use super::schema::PatchSchema;
use super::{
    DELETE_FROM_LIST, DIRECTIVE, PatchError, RETAIN_KEYS, Result, SET_ORDER, as_map, list, order, plain,
};

type Object = Map<String, Value>;

/// Lays a patch over an object.
pub(super) fn merge(mut original: Object, mut patch: Object, schema: PatchSchema) -> Result<Object> {
    match patch.get(DIRECTIVE) {
        None => {}
        Some(Value::String(directive)) if directive == "replace" => {
            patch.remove(DIRECTIVE);
            return Ok(patch);
        }
        Some(Value::String(directive)) if directive == "delete" => return Ok(Object::new()),
        Some(other) => return Err(unknown_directive(&plain(other), &patch)),
    }
    retain_keys(&mut original, &mut patch)?;
    set_orders(&mut original, &mut patch, schema)?;
    for (name, value) in patch {
        merge_field(&mut original, &name, value, schema)?;
    }
    Ok(original)
}

pub(super) fn unknown_directive(directive: &str, patch: &Object) -> PatchError {
    let patch = plain(&Value::Object(patch.clone()));
    PatchError::Internal(format!("unknown patch type: {directive} in map: {patch}"))
}

fn merge_field(original: &mut Object, name: &str, mut value: Value, schema: PatchSchema) -> Result<()> {
    let is_delete_list = name.starts_with(DELETE_FROM_LIST);
    let name = if is_delete_list { directed_field(name, DELETE_FROM_LIST)? } else { name };
    if value.is_null() {
        original.remove(name);
        return Ok(());
    }
    let merged = match (original.remove(name), value) {
        (Some(Value::Object(current)), Value::Object(patch)) => {
            let (inner, strategy) = schema.object_field(name)?;
            Value::Object(if strategy.replace { patch } else { merge(current, patch, inner)? })
        }
        (Some(Value::Array(current)), Value::Array(patch)) => {
            let schema = schema.list_field(name)?;
            Value::Array(list::merge_or_replace(current, patch, &schema, is_delete_list)?)
        }
        // Nothing to delete from.
        (Some(current), _) if is_delete_list => current,
        (None, _) if is_delete_list => return Ok(()),
        (_, other) => {
            value = other;
            discard_nulls(&mut value);
            match without_directives(value) {
                Some(value) => value,
                None => return Ok(()),
            }
        }
    };
    original.insert(name.to_owned(), merged);
    Ok(())
}

/// The field behind the slash of a directive.
fn directed_field<'n>(name: &'n str, prefix: &str) -> Result<&'n str> {
    match name.split_once('/') {
        Some((directive, field)) if directive == prefix => Ok(field),
        _ if prefix == DELETE_FROM_LIST => bad_request("invalid patch format of primitive list"),
        _ => bad_request("invalid patch format of setElementOrder list"),
    }
}

fn bad_request<T>(message: &str) -> Result<T> {
    Err(PatchError::BadRequest(message.to_owned()))
}

/// `$retainKeys` lists all keys that are to be there; others go.
fn retain_keys(original: &mut Object, patch: &mut Object) -> Result<()> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let Value::Array(keys) = keys else { return bad_request("invalid patch format of retainKeys") };
    let retained = |name: &str| keys.iter().any(|key| key.as_str() == Some(name));
    let unlisted = patch.iter().any(|(name, value)| {
        let is_directive = name.starts_with(DELETE_FROM_LIST) || name.starts_with(SET_ORDER);
        !value.is_null() && !is_directive && !retained(name)
    });
    if unlisted {
        return bad_request("invalid patch format of retainKeys");
    }
    original.retain(|name, _| retained(name));
    Ok(())
}

/// Merges the lists whose order the patch sets, and puts them in order.
fn set_orders(original: &mut Object, patch: &mut Object, schema: PatchSchema) -> Result<()> {
    let directives: Vec<String> = patch.keys().filter(|name| name.starts_with(SET_ORDER)).cloned().collect();
    for directive in directives {
        let Some(order) = patch.remove(&directive) else { continue };
        let Value::Array(order) = order else { return Err(super::wrong_kind("[]interface {}", &order)) };
        let name = directed_field(&directive, SET_ORDER)?;
        let current = list_of(original, name)?;
        let change = list_of(patch, name)?;
        let schema = schema.list_field(name)?;
        order::check(change.as_deref().unwrap_or_default(), &order, &schema.merge_key)?;
        let server_order = current.clone().unwrap_or_default();
        let elements = list::element_kind(&server_order, change.as_deref().unwrap_or_default());
        let merged = match (current, change) {
            (None, None) => continue,
            (Some(current), None) => current,
            (None, Some(change)) => match without_directives(Value::Array(change)) {
                Some(Value::Array(items)) => items,
                _ => continue,
            },
            (Some(current), Some(change)) => list::merge_or_replace(current, change, &schema, false)?,
        };
        elements?;
        let ordered = order::arrange(merged, &order, &server_order, &schema.merge_key)?;
        original.insert(name.to_owned(), Value::Array(ordered));
        patch.remove(name);
    }
    Ok(())
}

fn list_of(object: &Object, name: &str) -> Result<Option<Vec<Value>>> {
    match object.get(name) {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items.clone())),
        Some(other) => Err(super::wrong_kind("[]interface {}", other)),
    }
}

/// A value that is new has nothing for its nulls to remove.
fn discard_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(discard_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(discard_nulls),
        _ => {}
    }
}

/// A value that is new, without the objects in it that are only there to delete or replace.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) => {
            if fields.contains_key(DIRECTIVE) {
                return None;
            }
            let kept =
                fields.into_iter().filter_map(|(name, value)| Some((name, without_directives(value)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(without_directives).collect())),
        other => Some(other),
    }
}

/// Merges a list item.
pub(super) fn merge_item(current: &Value, patch: &Value, schema: PatchSchema) -> Result<Value> {
    merge(as_map(current)?.clone(), as_map(patch)?.clone(), schema).map(Value::Object)
}
