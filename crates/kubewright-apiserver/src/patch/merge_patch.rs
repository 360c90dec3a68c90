//! JSON merge patch (RFC 7396).
//!
//! It follows the library that kube-apiserver uses where that departs from the RFC: a value that is
//! new, or replaces something that is no object, loses the nulls in objects inside it, those in lists
//! included.

use kubewright_schema::error::go;
use serde_json::{Map, Value};

use super::{PatchError, Patched, parse};

/// Applies a JSON merge patch.
pub fn merge_patch(object: &Value, patch: &[u8]) -> Result<Patched, PatchError> {
    let decoded = parse(patch)?;
    let fields = match decoded.value {
        Value::Object(fields) => fields,
        Value::Null => return Err(PatchError::BadRequest("Invalid JSON Patch".to_owned())),
        other => {
            let got = go::kind(&other);
            return Err(PatchError::BadRequest(format!(
                "error decoding patch: json: cannot unmarshal {got} into Go value of type map[string]interface {{}}"
            )));
        }
    };
    let mut value = object.clone();
    if !value.is_object() {
        value = Value::Object(Map::new());
    }
    if let Value::Object(target) = &mut value {
        merge_fields(target, fields);
    }
    Ok(Patched { value, strict_errors: decoded.strict_errors, shown: None })
}

fn merge_fields(target: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (name, mut value) in patch {
        if value.is_null() {
            target.remove(&name);
            continue;
        }
        match (target.get_mut(&name), value) {
            (Some(Value::Object(current)), Value::Object(patch)) => merge_fields(current, patch),
            (Some(current @ Value::Object(_)), other) => *current = other,
            (_, other) => {
                value = other;
                prune_nulls(&mut value);
                target.insert(name, value);
            }
        }
    }
}

/// Removes null fields at any depth; null items of lists stay.
fn prune_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(prune_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(prune_nulls),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn patch(object: &Value, patch: &Value) -> Value {
        merge_patch(object, patch.to_string().as_bytes()).unwrap().value
    }

    #[test]
    fn nulls_remove_and_objects_merge() {
        let object = json!({"a": {"b": 1, "c": 2}, "l": [1], "x": 1});
        let want = json!({"a": {"c": 2, "d": 3}, "l": [2]});
        assert_eq!(patch(&object, &json!({"a": {"b": null, "d": 3}, "l": [2], "x": null, "y": null})), want);
    }

    #[test]
    fn new_values_lose_their_nulls() {
        let new = json!({"a": {"b": null, "c": [{"d": null}, null]}});
        assert_eq!(patch(&json!({}), &new), json!({"a": {"c": [{}, null]}}));
        assert_eq!(patch(&json!({"a": 1}), &new), json!({"a": {"c": [{}, null]}}));
        assert_eq!(patch(&json!({"a": {}}), &json!({"a": [{"b": null}]})), json!({"a": [{"b": null}]}));
    }

    #[test]
    fn what_is_no_object_is_a_bad_request() {
        for (body, want) in [
            ("x", "invalid JSON patch"),
            ("null", "Invalid JSON Patch"),
            (
                "[1]",
                "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
            ),
        ] {
            let error = merge_patch(&json!({}), body.as_bytes()).unwrap_err();
            assert_eq!(error, PatchError::BadRequest(want.to_owned()));
        }
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            "[a-c]".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    fn json_object() -> impl Strategy<Value = Value> {
        prop::collection::btree_map("[a-c]", json_value(), 0..4).prop_map(|map| map.into_iter().collect())
    }

    proptest! {
        /// Not the second already: a list in place of an object keeps its nulls until it replaces a list.
        #[test]
        fn a_patch_applied_a_third_time_changes_nothing_more(object in json_object(), change in json_object()) {
            let twice = patch(&patch(&object, &change), &change);
            prop_assert_eq!(patch(&twice, &change), twice);
        }

        #[test]
        fn a_patch_without_nulls_applied_twice_changes_nothing_more(object in json_object(), change in json_object()) {
            let mut change = change;
            prune_nulls(&mut change);
            let once = patch(&object, &change);
            prop_assert_eq!(patch(&once, &change), once);
        }

        #[test]
        fn no_body_panics(body in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = merge_patch(&json!({"a": 1}), &body);
        }
    }
}
