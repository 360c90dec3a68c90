//! Writes that change nothing but the times of managed fields.

use serde_json::Value;

/// `new` with the times of the managed fields of `old`, if the objects differ in nothing else.
///
/// Otherwise a client that applies the same configuration again and again would make a new revision
/// each second. Call it last, when `new` is what would be stored.
pub fn keep_times_if_unchanged(old: &Value, mut new: Value) -> Value {
    let entries = |object: &Value| {
        object.pointer("/metadata/managedFields").and_then(Value::as_array).map_or(0, Vec::len)
    };
    if entries(old) == 0 || entries(old) != entries(&new) || *old == new {
        return new;
    }
    if !equal_but_times(old, &new) {
        return new;
    }
    if let (Some(old), Some(new)) =
        (old.pointer("/metadata/managedFields"), new.pointer_mut("/metadata/managedFields"))
    {
        *new = old.clone();
    }
    new
}

fn equal_but_times(old: &Value, new: &Value) -> bool {
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else { return false };
    old.len() == new.len()
        && old.iter().zip(new).all(|((old_name, old), (new_name, new))| {
            old_name == new_name
                && match (old_name.as_str(), old, new) {
                    ("metadata", Value::Object(old), Value::Object(new)) => {
                        old.len() == new.len()
                            && old.iter().zip(new).all(|((old_name, old), (new_name, new))| {
                                old_name == new_name
                                    && (old == new
                                        || (old_name == "managedFields" && equal_entries(old, new)))
                            })
                    }
                    _ => old == new,
                }
        })
}

fn equal_entries(old: &Value, new: &Value) -> bool {
    let (Some(old), Some(new)) = (old.as_array(), new.as_array()) else { return false };
    let timeless = |entry: &Value| {
        let mut entry = entry.clone();
        if let Some(fields) = entry.as_object_mut() {
            fields.remove("time");
        }
        entry
    };
    old.len() == new.len() && old.iter().zip(new).all(|(old, new)| timeless(old) == timeless(new))
}
