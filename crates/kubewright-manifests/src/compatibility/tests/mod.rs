//! The gate at work, one change at a time.
#![allow(clippy::needless_pass_by_value, reason = "schemas are written where they are used")]

mod definitions;
mod properties;
mod reports;
mod schemas;

use std::slice::from_ref;

use serde_json::{Value, json};

use super::{Report, compare};

/// A CRD with one version, whose spec has this schema.
fn crd(spec: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}},
            }],
        },
    })
}

/// A CRD whose spec has one field `x` of this schema.
fn field(schema: Value) -> Value {
    crd(json!({"type": "object", "properties": {"x": schema}}))
}

/// A CRD with these versions.
fn versions(versions: Value) -> Value {
    let mut crd = crd(json!({"type": "object"}));
    crd["spec"]["versions"] = versions;
    crd
}

fn version(name: &str, served: bool, storage: bool) -> Value {
    json!({"name": name, "served": served, "storage": storage, "schema": {"openAPIV3Schema": {"type": "object"}}})
}

fn with(mut crd: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer below the root");
    crd.pointer_mut(parent).expect("the parent is there")[key] = value;
    crd
}

/// Class, rule and path of every change.
fn changes(old: Value, new: Value) -> Vec<String> {
    report(&old, &new)
        .changes
        .iter()
        .map(|change| {
            let keyword = change.keyword.map(|keyword| format!(" {keyword}")).unwrap_or_default();
            format!("{} {} {}{keyword}", change.class.as_str(), change.rule.id, change.path)
        })
        .collect()
}

#[track_caller]
fn both_ways(old: Value, new: Value, forth: &[&str], back: &[&str]) {
    assert_eq!(changes(old.clone(), new.clone()), forth, "from the old to the new");
    assert_eq!(changes(new, old), back, "from the new to the old");
}

fn report(old: &Value, new: &Value) -> Report {
    compare(from_ref(old), from_ref(new)).expect("two definitions")
}
