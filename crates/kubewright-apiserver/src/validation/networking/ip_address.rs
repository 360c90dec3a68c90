use kubewright_schema::names;
use serde_json::Value;

use crate::validation::{Field, address};

pub(super) fn validate(object: Field<'_>, old: Option<Field<'_>>) {
    let name = object.child("metadata").child("name");
    if !name.is_empty() {
        address::check_canonical(name);
    }
    let parent = object.child("spec").child("parentRef");
    if !parent.is_set() {
        parent.required("");
        return;
    }
    if !parent.child("group").is_empty() {
        parent.child("group").check(names::dns1123_subdomain);
    }
    for field in ["resource", "name", "namespace"] {
        if !parent.child(field).is_empty() {
            parent.child(field).check(names::path_segment_name);
        }
    }
    // These are found after all else.
    let old = old.map(|old| old.child("spec").child("parentRef"));
    if old.is_some_and(|old| old.value() != parent.value()) {
        parent.invalid(Value::Null, "field is immutable");
    } else if old.is_none() {
        parent.child("resource").require();
        parent.child("name").require();
    }
}
