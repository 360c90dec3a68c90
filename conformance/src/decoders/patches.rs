//! Patches. An input is an object in one line of JSON, and behind it a patch of it.

use jiff::Timestamp;
use kubewright_apiserver::{
    apply::{
        Set,
        field_manager::{FieldManager, GroupVersionKind},
    },
    patch::{self, Patched},
    types::strict,
    wire::yaml,
};
use serde_json::Value;

use super::{bodies, halves};

/// A JSON patch makes something of the object that can be looked at, or is refused.
pub fn json_patch(bytes: &[u8]) {
    let Some((object, text)) = object_and_patch(bytes) else { return };
    if let Ok(patched) = patch::json_patch(&object, text) {
        look_at(patched, &object);
    }
}

/// Merging twice is merging once.
pub fn merge_patch(bytes: &[u8]) {
    let Some((object, text)) = object_and_patch(bytes) else { return };
    if let Ok(patched) = patch::merge_patch(&object, text) {
        let again = patch::merge_patch(&patched.value, text).expect("it is a patch");
        assert_eq!(again.value, patched.value);
        look_at(patched, &object);
    }
}

/// A strategic merge patch makes something of the object that can be looked at, or is refused.
pub fn strategic_merge_patch(bytes: &[u8]) {
    let Some((object, text)) = object_and_patch(bytes) else { return };
    let Some(ty) = bodies::kind(&object) else { return };
    let Ok(object) = strict::decode(object.to_string().as_bytes(), Some(ty)) else { return };
    if let Ok(patched) = patch::strategic_merge_patch(&object.value, text, ty) {
        look_at(patched, &object.value);
    }
}

/// Applying a configuration twice is applying it once: its manager owns the same, and the object is the same.
pub fn apply(bytes: &[u8]) {
    let Some((object, text)) = object_and_patch(bytes) else { return };
    let Some(ty) = bodies::kind(&object) else { return };
    let Ok(config) = yaml::parse(text) else { return };
    let (group, version, kind) = bodies::names(&object);
    let kind = GroupVersionKind::new(group, version, kind);
    let manager = FieldManager::builtin(kind, "", &Set::new()).expect("a built-in kind");
    let Ok(object) = strict::decode(object.to_string().as_bytes(), Some(ty)) else { return };
    let now = Timestamp::UNIX_EPOCH;
    let live = manager.update(&Value::Null, object.value, "writer", now);
    // A null in the key of an item becomes a zero, which is refused before it is stored.
    let applied = manager.apply(Some(&live), &config, "applier", true, now).ok();
    if let Some(applied) = applied.filter(|_| !has_null(&config)) {
        let again = manager.apply(Some(&applied), &config, "applier", false, now);
        assert_eq!(again.expect("it was applied before"), applied);
        for entry in applied["metadata"]["managedFields"].as_array().into_iter().flatten() {
            let fields = Set::from_fields_v1(&entry["fieldsV1"]).expect("fields that the server wrote");
            assert_eq!(fields.to_fields_v1(), entry["fieldsV1"]);
        }
    }
    if let Ok(fields) = Set::from_fields_v1(&config) {
        let written = fields.to_fields_v1();
        assert_eq!(Set::from_fields_v1(&written).expect("what was written"), fields);
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        _ => false,
    }
}

fn object_and_patch(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let (object, patch) = halves(bytes)?;
    let object: Value = serde_json::from_slice(object).ok()?;
    object.is_object().then_some((object, patch))
}

/// Reads what a patch made, strictly and not.
fn look_at(patched: Patched, object: &Value) {
    let ty = bodies::kind(object);
    let strict = patched.clone().decode(ty, true);
    if let Ok(decoded) = patched.decode(ty, false) {
        assert_eq!(strict.is_ok(), decoded.strict_errors.is_empty());
    } else {
        assert!(strict.is_err());
    }
}
