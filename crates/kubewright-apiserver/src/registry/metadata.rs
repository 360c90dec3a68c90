//! Reading and writing `metadata` of objects that may be malformed: what is missing or of the wrong type reads
//! as empty.

use jiff::Timestamp;
use serde_json::{Map, Value};

/// A string of `metadata`, empty if it is not there.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object
        .get("metadata")
        .and_then(|metadata| metadata.get(field))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// `metadata.name`.
pub(crate) fn name(object: &Value) -> &str {
    text(object, "name")
}

/// `metadata.namespace`.
pub(crate) fn namespace(object: &Value) -> &str {
    text(object, "namespace")
}

/// `metadata.uid`.
pub(crate) fn uid(object: &Value) -> &str {
    text(object, "uid")
}

/// `metadata.resourceVersion`.
pub(crate) fn resource_version(object: &Value) -> &str {
    text(object, "resourceVersion")
}

/// `metadata.generation`, 0 if it is not kept.
pub(crate) fn generation(object: &Value) -> i64 {
    get(object, "generation").and_then(Value::as_i64).unwrap_or_default()
}

/// Whether `metadata.deletionTimestamp` is set.
pub(crate) fn is_deleting(object: &Value) -> bool {
    !text(object, "deletionTimestamp").is_empty()
}

/// `metadata.deletionGracePeriodSeconds`.
pub(crate) fn grace_period(object: &Value) -> Option<i64> {
    get(object, "deletionGracePeriodSeconds").and_then(Value::as_i64)
}

/// `metadata.finalizers`.
pub(crate) fn finalizers(object: &Value) -> Vec<&str> {
    get(object, "finalizers")
        .and_then(Value::as_array)
        .map(|finalizers| finalizers.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

/// A field of `metadata`; null counts as absent.
pub(crate) fn get<'a>(object: &'a Value, field: &str) -> Option<&'a Value> {
    object.get("metadata")?.get(field).filter(|value| !value.is_null())
}

/// `metadata` for writing. A value that has none gets one.
pub(crate) fn edit(object: &mut Value) -> &mut Map<String, Value> {
    child(as_map(object), "metadata")
}

/// The map in a field, for writing. What else is there makes way for an empty map.
pub(crate) fn child<'a>(object: &'a mut Map<String, Value>, field: &str) -> &'a mut Map<String, Value> {
    as_map(object.entry(field).or_insert(Value::Null))
}

/// A value as a map, for writing. What else is there makes way for an empty map.
pub(crate) fn as_map(value: &mut Value) -> &mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    match value {
        Value::Object(map) => map,
        _ => unreachable!("the value was made a map above"),
    }
}

/// Writes a field of `metadata`; `None` removes it.
pub(crate) fn set(object: &mut Value, field: &str, value: Option<Value>) {
    let metadata = edit(object);
    match value {
        Some(value) => metadata.insert(field.to_owned(), value),
        None => metadata.remove(field),
    };
}

/// Takes fields of `metadata` from another object, also their absence.
pub(crate) fn restore(object: &mut Value, from: &Value, fields: &[&str]) {
    for field in fields {
        set(object, field, get(from, field).cloned());
    }
}

/// Drops owner references that are equal to an earlier one. Gives a text about them, if there were any.
pub(crate) fn drop_equal_owners(object: &mut Value) -> Option<String> {
    let owners = object.get_mut("metadata")?.get_mut("ownerReferences")?.as_array_mut()?;
    let mut kept: Vec<Value> = Vec::with_capacity(owners.len());
    let mut dropped = Vec::new();
    for owner in owners.drain(..) {
        if kept.contains(&owner) {
            dropped.push(owner.get("uid").and_then(Value::as_str).unwrap_or_default().to_owned());
        } else {
            kept.push(owner);
        }
    }
    *owners = kept;
    dropped.sort_unstable();
    dropped.dedup();
    (!dropped.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may \
             reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            dropped.join(", ")
        )
    })
}

/// A time as Kubernetes' `Time` writes it, in whole seconds.
pub(crate) fn time(timestamp: Timestamp) -> Value {
    Value::from(timestamp.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}
