//! Custom resource definitions: what a CRD declares, and when it takes effect.
//!
//! A CRD is an object like any other. The registry asks this module what to change in it on create and update,
//! which names it gets (`names.rs`), and which resources it makes the server serve ([`served`]). There is no
//! controller in between: names are accepted and resources served in the same commit.

mod conversion;
mod names;
mod scale;
mod version;

use std::sync::Arc;

use kubewright_schema::crd::default_crd;
use serde_json::{Value, json};

use crate::{
    registry::{ResourceDefinition, Served, Subresource, metadata},
    store::Object,
};

pub(crate) use conversion::{Conversion, answer, blame};
pub(crate) use names::accept_names;
pub(crate) use scale::{Scale, dotted};
pub(crate) use version::CustomVersion;

/// The bucket of the store that holds the CRDs.
pub(crate) const BUCKET: &str = "apiextensions.k8s.io/customresourcedefinitions";

/// Holds a deleted CRD back until its objects are gone.
pub(crate) const FINALIZER: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Sets defaults and the first status of a new CRD.
pub(crate) fn prepare_create(crd: &mut Value) {
    default_crd(crd);
    let stored: Vec<Value> = storage_version(crd).into_iter().map(Value::from).collect();
    metadata::as_map(crd).insert("status".to_owned(), json!({ "storedVersions": stored }));
}

/// Sets defaults, and notes a new storage version.
pub(crate) fn prepare_update(crd: &mut Value, _old: &Value) {
    default_crd(crd);
    let Some(storage) = storage_version(crd) else { return };
    let status = metadata::child(metadata::as_map(crd), "status");
    let stored = status.entry("storedVersions").or_insert_with(|| json!([]));
    if let Some(stored) = stored.as_array_mut()
        && !stored.iter().any(|version| version.as_str() == Some(&storage))
    {
        stored.push(Value::from(storage));
    }
}

/// What a CRD becomes when it is deleted first.
pub(crate) fn mark_terminating(crd: &mut Value, now: &Value) {
    let mut finalizers: Vec<Value> = metadata::finalizers(crd).into_iter().map(Value::from).collect();
    if !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
        finalizers.push(Value::from(FINALIZER));
    }
    metadata::set(crd, "finalizers", Some(Value::Array(finalizers)));
    set_condition(
        crd,
        &Condition {
            kind: "Terminating",
            status: "True",
            reason: "InstanceDeletionPending",
            message: "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        },
        now,
    );
}

/// The resources that a CRD makes the server serve, one for each version.
pub(crate) fn served(crd: &Object) -> Vec<Arc<Served>> {
    let revision = crd.revision();
    let crd = crd.value();
    if !is_established(crd) {
        return Vec::new();
    }
    let spec = &crd["spec"];
    let names = &crd["status"]["acceptedNames"];
    let storage = storage_version(crd).unwrap_or_default();
    let versions = spec["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let schemas = version::Schemas::new(spec, versions, &storage);
    versions
        .iter()
        .filter(|version| version["served"] == true)
        .map(|version| {
            let name = text(version, "name");
            let (group, kind) = (text(spec, "group"), text(names, "kind"));
            let subresources = subresources(version, group, name, kind);
            let definition = ResourceDefinition {
                group: group.to_owned(),
                version: name.to_owned(),
                kind: kind.to_owned(),
                list_kind: text(names, "listKind").to_owned(),
                plural: text(names, "plural").to_owned(),
                singular: text(names, "singular").to_owned(),
                short_names: strings(&names["shortNames"]),
                categories: strings(&names["categories"]),
                namespaced: text(spec, "scope") == "Namespaced",
                verbs: VERBS.map(str::to_owned).to_vec(),
                storage: name == storage,
                subresources,
                generation: true,
                unconditional_update: false,
                create_on_update: false,
            };
            let version = CustomVersion::new(crd, revision, version, &schemas);
            Arc::new(Served::custom(definition, version.into()))
        })
        .collect()
}

/// In the order in which a real server lists them.
const VERBS: [&str; 8] = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

fn subresources(version: &Value, group: &str, name: &str, kind: &str) -> Vec<Subresource> {
    let verbs = ["get", "patch", "update"].map(str::to_owned).to_vec();
    let declared = &version["subresources"];
    let mut subresources = Vec::new();
    if declared["scale"].is_object() {
        subresources.push(Subresource {
            name: "scale".to_owned(),
            group: "autoscaling".to_owned(),
            version: "v1".to_owned(),
            kind: "Scale".to_owned(),
            verbs: verbs.clone(),
        });
    }
    if declared["status"].is_object() {
        subresources.push(Subresource {
            name: "status".to_owned(),
            group: group.to_owned(),
            version: name.to_owned(),
            kind: kind.to_owned(),
            verbs,
        });
    }
    subresources
}

/// The version that objects are stored in.
fn storage_version(crd: &Value) -> Option<String> {
    let versions = crd["spec"]["versions"].as_array()?;
    let storage = versions.iter().find(|version| version["storage"] == true)?;
    Some(text(storage, "name").to_owned())
}

fn is_established(crd: &Value) -> bool {
    condition(crd, "Established").is_some_and(|condition| condition["status"] == "True")
}

/// A condition of the status of a CRD, as it is to be.
struct Condition<'a> {
    kind: &'a str,
    status: &'a str,
    reason: &'a str,
    message: &'a str,
}

fn condition<'a>(crd: &'a Value, kind: &str) -> Option<&'a Value> {
    crd["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == kind)
}

/// Sets a condition; its transition time is `now` if its status changes.
fn set_condition(crd: &mut Value, new: &Condition<'_>, now: &Value) {
    let transition = match condition(crd, new.kind) {
        Some(old) if old["status"] == new.status => old["lastTransitionTime"].clone(),
        _ => now.clone(),
    };
    let value = json!({
        "type": new.kind,
        "status": new.status,
        "reason": new.reason,
        "message": new.message,
        "lastTransitionTime": transition,
    });
    let status = metadata::child(metadata::as_map(crd), "status");
    let conditions = status.entry("conditions").or_insert_with(|| json!([]));
    if !conditions.is_array() {
        *conditions = json!([]);
    }
    let Some(conditions) = conditions.as_array_mut() else { return };
    match conditions.iter_mut().find(|condition| condition["type"] == new.kind) {
        Some(old) => *old = value,
        None => conditions.push(value),
    }
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn strings(value: &Value) -> Vec<String> {
    let values = value.as_array().map(Vec::as_slice).unwrap_or_default();
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}
