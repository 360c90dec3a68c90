//! Strategic merge patch: a merge patch that knows the types of built-in objects, so that lists of
//! objects merge by key.
//!
//! Directives in the patch steer it: `$patch: replace | delete`, `$retainKeys`,
//! `$deleteFromPrimitiveList/<field>` and `$setElementOrder/<field>`. [`map`](self) walks objects,
//! `list` merges lists, `order` puts their items in order, `schema` finds strategy and key.

mod convert;
mod list;
mod map;
mod order;
mod schema;

use kubewright_schema::error::go;
use serde_json::Value;

use self::schema::PatchSchema;
use super::{PatchError, Patched, parse};
use crate::apply::value;
use crate::types::Type;

/// Names the kind of patch of a map or list item.
const DIRECTIVE: &str = "$patch";
/// The keys that are to stay.
const RETAIN_KEYS: &str = "$retainKeys";
/// Values to take out of the list of the field named behind the slash.
const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
/// The order of the items of the field named behind the slash.
const SET_ORDER: &str = "$setElementOrder";

type Result<T> = std::result::Result<T, PatchError>;

/// Applies a strategic merge patch to an object of type `ty`.
pub fn strategic_merge_patch(object: &Value, patch: &[u8], ty: &'static Type) -> Result<Patched> {
    let decoded = parse(patch)?;
    let fields = match &decoded.value {
        Value::Object(fields) => fields.clone(),
        Value::Null => serde_json::Map::new(),
        other => {
            return Err(PatchError::BadRequest(format!(
                "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
                go::kind(other)
            )));
        }
    };
    let original = object.as_object().cloned().unwrap_or_default();
    let merged = map::merge(original, fields, PatchSchema::Struct(ty))?;
    let mut shown = String::new();
    value::go_plain(&mut shown, &decoded.value);
    let merged = Value::Object(merged);
    if let Some(reason) = convert::fault(ty, &merged) {
        return Err(PatchError::Invalid { shown, reason });
    }
    Ok(Patched { value: merged, strict_errors: decoded.strict_errors, shown: Some(shown) })
}

/// A value as Go prints it in messages.
fn plain(shown: &Value) -> String {
    let mut out = String::new();
    value::go_plain(&mut out, shown);
    out
}

fn plain_list(items: &[Value]) -> String {
    let items: Vec<String> = items.iter().map(plain).collect();
    format!("[{}]", items.join(" "))
}

fn no_merge_key(item: &serde_json::Map<String, Value>, key: &str) -> PatchError {
    let item = plain(&Value::Object(item.clone()));
    PatchError::Internal(format!("map: {item} does not contain declared merge key: {key}"))
}

fn wrong_kind(expected: &str, got: &Value) -> PatchError {
    let got = if got.is_null() { "%!s(<nil>)" } else { go::type_name(got) };
    PatchError::Internal(format!("expected a {expected}, but received a {got}"))
}

/// The object in a list item.
fn as_map(item: &Value) -> Result<&serde_json::Map<String, Value>> {
    item.as_object().ok_or_else(|| wrong_kind("map[string]interface {}", item))
}

#[cfg(test)]
mod tests;
