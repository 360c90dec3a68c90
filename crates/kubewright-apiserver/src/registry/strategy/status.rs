//! What a change of a status takes back, and what it sets by itself.

use serde_json::{Value, json};

use super::{copy_field, items, text};
use crate::{
    apply::{Path, PathElement, Set},
    registry::{Served, metadata},
};

/// The metadata that a change of the status leaves alone, for the kinds that are strict about it.
const FIXED: [&str; 5] = ["labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp"];

/// Takes back what a change of the status may not change of the metadata: what any update may change, some kinds take
/// along.
pub(super) fn restore_metadata(served: &Served, object: &mut Value, old: &Value) {
    let fields: &[&str] = match (served.definition.group.as_str(), served.definition.plural.as_str()) {
        _ if keeps_metadata(served) => &FIXED,
        // Old kubelets get the owners wrong.
        ("", "pods") => &["ownerReferences", "deletionTimestamp"],
        ("apps", "deployments") => &["labels"],
        _ => &[],
    };
    metadata::restore(object, old, fields);
}

/// Whether a change of the status leaves all metadata alone.
fn keeps_metadata(served: &Served) -> bool {
    matches!(
        (served.definition.group.as_str(), served.definition.plural.as_str()),
        (
            "admissionregistration.k8s.io"
                | "apiregistration.k8s.io"
                | "flowcontrol.apiserver.k8s.io"
                | "resource.k8s.io"
                | "storage.k8s.io"
                | "storagemigration.k8s.io",
            _
        ) | ("networking.k8s.io", "servicecidrs")
    )
}

/// What a write to an endpoint of a built-in resource takes back, and so does not own.
pub(super) fn reset_fields(served: &Served, subresource: &str) -> Set {
    let definition = &served.definition;
    let paths: &[&[&str]] = match (definition.group.as_str(), definition.plural.as_str(), subresource) {
        ("certificates.k8s.io", "certificatesigningrequests", "") => &[&["spec"], &["status"]],
        ("certificates.k8s.io", "certificatesigningrequests", "status") => {
            &[&["spec"], &["status", "conditions"]]
        }
        (.., "approval") => &[&["spec"], &["status", "certificate"]],
        (.., "" | "finalize") if definition.subresource("status").is_some() => &[&["status"]],
        (.., "status") if keeps_metadata(served) => &[&["metadata"], &["spec"]],
        ("", "pods", "status") => {
            &[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]]
        }
        ("apps", "deployments", "status") => &[&["spec"], &["metadata", "labels"]],
        (.., "status") => &[&["spec"]],
        _ => &[],
    };
    paths.iter().map(|path| path.iter().copied().map(PathElement::field).collect::<Path>()).collect()
}

/// Notes when what the status tells has come to be.
pub(super) fn note_times(served: &Served, object: &mut Value, old: &Value, now: &Value) {
    match (served.definition.group.as_str(), served.definition.plural.as_str()) {
        ("", "persistentvolumes") => note_phase(object, old, now),
        ("certificates.k8s.io", "certificatesigningrequests") => {
            keep_verdicts(object, old);
            note_conditions(object, old, now);
        }
        _ => {}
    }
}

fn note_phase(volume: &mut Value, old: &Value, now: &Value) {
    const FIELD: &str = "lastPhaseTransitionTime";
    let (status, before) = (&volume["status"], &old["status"]);
    let is_same = text(status, "phase") == text(before, "phase");
    let time = match (is_same, status.get(FIELD)) {
        (true, None | Some(Value::Null)) => before.get(FIELD).cloned(),
        (false, None | Some(Value::Null)) => Some(now.clone()),
        (false, own) if own == before.get(FIELD) => Some(now.clone()),
        _ => return,
    };
    let status = metadata::child(metadata::as_map(volume), "status");
    match time {
        Some(time) => status.insert(FIELD.to_owned(), time),
        None => status.remove(FIELD),
    };
}

/// Only the approval of a request changes whether it is approved.
fn keep_verdicts(request: &mut Value, old: &Value) {
    for kind in ["Approved", "Denied"] {
        let is_verdict = |condition: &&Value| text(condition, "type") == kind;
        let before: Vec<&Value> = items(&old["status"]["conditions"]).iter().filter(is_verdict).collect();
        let Some(conditions) = request.pointer_mut("/status/conditions").and_then(Value::as_array_mut) else {
            return;
        };
        let own: Vec<&mut Value> =
            conditions.iter_mut().filter(|condition| text(condition, "type") == kind).collect();
        if own.len() == before.len() {
            own.into_iter().zip(before).for_each(|(own, before)| own.clone_from(before));
        }
    }
}

/// Sets the times that the client left out.
pub(super) fn note_conditions(request: &mut Value, old: &Value, now: &Value) {
    let conditions = request.pointer_mut("/status/conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        let is_same = |before: &&Value| {
            ["type", "status"].iter().all(|field| text(before, field) == text(condition, field))
                && before["lastTransitionTime"].is_string()
        };
        let before = items(&old["status"]["conditions"]).iter().find(is_same);
        let since = before.map_or_else(|| now.clone(), |before| before["lastTransitionTime"].clone());
        for (field, time) in [("lastUpdateTime", now.clone()), ("lastTransitionTime", since)] {
            if condition.get(field).is_none_or(Value::is_null) && condition.is_object() {
                condition[field] = time;
            }
        }
    }
}

/// The first status of a version that the server itself serves: there is nothing to wait for.
pub(super) fn of_local_api_service(now: &Value) -> Value {
    json!({
        "conditions": [{
            "type": "Available",
            "status": "True",
            "lastTransitionTime": now,
            "reason": "Local",
            "message": "Local APIServices are always available",
        }],
    })
}

/// Lets the approval of a request change nothing but its conditions.
pub(super) fn prepare_approval(request: &mut Value, old: &Value, now: &Value) {
    note_conditions(request, old, now);
    let conditions = request["status"]["conditions"].take();
    copy_field(request, old, "spec");
    copy_field(request, old, "status");
    let status = metadata::child(metadata::as_map(request), "status");
    if conditions.is_null() {
        status.remove("conditions");
    } else {
        status.insert("conditions".to_owned(), conditions);
    }
}
