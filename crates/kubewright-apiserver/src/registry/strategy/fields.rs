//! Fields that a client may write and the server does not take, or takes in another form.

use serde_json::{Map, Value, json};

use super::status;
use crate::{
    registry::{Served, metadata},
    user::User,
};

/// A label selector that the oldest budgets had, and that says nothing any more.
const OLD_BUDGET_LABEL: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/// Whether a new object may come with a status.
pub(super) fn keeps_first_status(served: &Served) -> bool {
    id(served) == ("", "nodes")
}

/// Whether the generation of the kind tells how often its desired state has changed.
pub(super) fn counts_changes(served: &Served) -> bool {
    match id(served) {
        ("storage.k8s.io", "csidrivers") => true,
        ("scheduling.k8s.io", "priorityclasses") => false,
        _ => served.definition.generation,
    }
}

/// The field of the metadata that is part of the desired state, if there is one.
pub(super) fn desired_metadata(served: &Served) -> Option<&'static str> {
    match id(served) {
        ("apps", "deployments") => Some("annotations"),
        ("discovery.k8s.io", "endpointslices") => Some("labels"),
        _ => None,
    }
}

pub(super) fn prepare_create(served: &Served, object: &mut Value) {
    let now = metadata::get(object, "creationTimestamp").cloned().unwrap_or_default();
    prepare(served, object, None, &now);
}

pub(super) fn prepare_update(served: &Served, object: &mut Value, old: &Value, now: &Value) {
    prepare(served, object, Some(old), now);
}

/// A request to sign a certificate says who has made it.
pub(super) fn note_creator(served: &Served, object: &mut Value, user: &User) {
    if id(served) != ("certificates.k8s.io", "certificatesigningrequests") {
        return;
    }
    let spec = metadata::child(metadata::as_map(object), "spec");
    for (field, value) in [
        ("username", json!(user.name)),
        ("uid", json!(user.uid)),
        ("groups", json!(user.groups)),
        ("extra", json!(user.extra)),
    ] {
        let is_empty = match &value {
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(entries) => entries.is_empty(),
            _ => false,
        };
        if is_empty {
            spec.remove(field);
        } else {
            spec.insert(field.to_owned(), value);
        }
    }
}

fn id(served: &Served) -> (&str, &str) {
    (served.definition.group.as_str(), served.definition.plural.as_str())
}

fn prepare(served: &Served, object: &mut Value, old: Option<&Value>, now: &Value) {
    match id(served) {
        ("", "nodes") => node(object, old),
        ("", "persistentvolumeclaims") => data_sources(object, old),
        ("", "persistentvolumes") if old.is_none() => {
            // The time of a new object is that of its first phase.
            let status = metadata::child(metadata::as_map(object), "status");
            status.insert("lastPhaseTransitionTime".to_owned(), now.clone());
        }
        ("", "serviceaccounts") => secret_names(object),
        ("apiregistration.k8s.io", "apiservices") if old.is_none() && is_local(object) => {
            let status = status::of_local_api_service(now);
            metadata::as_map(object).insert("status".to_owned(), status);
        }
        ("coordination.k8s.io", "leases") => {
            drop_new(object, old, &["strategy", "preferredHolder"]);
        }
        ("certificates.k8s.io", "certificatesigningrequests") if old.is_some() => {
            restore(object, old, "spec");
        }
        ("discovery.k8s.io", "endpointslices") => topology(object),
        ("policy", "poddisruptionbudgets") => budget_selector(object, old),
        ("resource.k8s.io", "devicetaintrules") => {
            let taint = object.pointer_mut("/spec/taint");
            note_taint(taint, old.map(|old| &old["spec"]["taint"]), now);
        }
        ("resource.k8s.io", "resourceslices") => {
            let devices = object.pointer_mut("/spec/devices").and_then(Value::as_array_mut);
            for device in devices.into_iter().flatten() {
                let taints = device.get_mut("taints").and_then(Value::as_array_mut);
                taints.into_iter().flatten().for_each(|taint| note_taint(Some(taint), None, now));
            }
        }
        _ => {}
    }
}

fn spec(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.get_mut("spec").and_then(Value::as_object_mut)
}

/// Whether the server itself serves the version that an API service is about.
fn is_local(api_service: &Value) -> bool {
    api_service["spec"].get("service").is_none_or(Value::is_null)
}

/// Takes a field from the object as it was.
fn restore(object: &mut Value, old: Option<&Value>, field: &str) {
    if let Some(old) = old {
        super::copy_field(object, old, field);
    }
}

/// Drops fields of the spec that are not in use and cannot be set anew.
fn drop_new(object: &mut Value, old: Option<&Value>, fields: &[&str]) {
    let Some(spec) = spec(object) else { return };
    for field in fields {
        let is_in_use = old.and_then(|old| old["spec"].get(*field)).is_some_and(|value| !value.is_null());
        if !is_in_use {
            spec.remove(*field);
        }
    }
}

fn node(object: &mut Value, old: Option<&Value>) {
    if let Some(spec) = spec(object) {
        settle_pod_ranges(spec);
    }
    drop_new(object, old, &["configSource", "podPreemptionPolicy"]);
    if old.is_none()
        && let Some(status) = object.get_mut("status").and_then(Value::as_object_mut)
    {
        status.remove("config");
    }
}

/// The older field of a node's ranges has the first of them, and says which that is.
fn settle_pod_ranges(spec: &mut Map<String, Value>) {
    let one = text(spec.get("podCIDR")).to_owned();
    let first = text(spec.get("podCIDRs").and_then(|ranges| ranges.get(0))).to_owned();
    if !one.is_empty() && one != first {
        spec.insert("podCIDRs".to_owned(), json!([one]));
    } else if one.is_empty() && !first.is_empty() {
        spec.insert("podCIDR".to_owned(), json!(first));
    }
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

/// A service account refers to Secrets by their names.
fn secret_names(object: &mut Value) {
    let secrets = object.get_mut("secrets").and_then(Value::as_array_mut);
    for secret in secrets.into_iter().flatten().filter_map(Value::as_object_mut) {
        secret.retain(|field, _| field == "name");
    }
}

/// A taint says since when it has its effect.
fn note_taint(taint: Option<&mut Value>, old: Option<&Value>, now: &Value) {
    let Some(taint) = taint.and_then(Value::as_object_mut) else { return };
    let is_absent = taint.get("timeAdded").is_none_or(Value::is_null);
    let is_stale = old.is_some_and(|old| {
        old.get("effect") != taint.get("effect") && old.get("timeAdded") == taint.get("timeAdded")
    });
    if is_absent || is_stale {
        taint.insert("timeAdded".to_owned(), now.clone());
    }
}

/// The names of nodes have a field of their own.
fn topology(object: &mut Value) {
    let endpoints = object.get_mut("endpoints").and_then(Value::as_array_mut);
    for endpoint in endpoints.into_iter().flatten().filter_map(Value::as_object_mut) {
        endpoint.remove("deprecatedTopology");
    }
}

fn budget_selector(object: &mut Value, old: Option<&Value>) {
    let expression = json!([{"key": OLD_BUDGET_LABEL, "operator": "Exists"}]);
    let Some(spec) = spec(object) else { return };
    let Some(selector) = spec.get_mut("selector").and_then(Value::as_object_mut) else { return };
    if old.is_some_and(|old| old["spec"]["selector"].as_object() == Some(selector)) {
        return;
    }
    let has_labels =
        selector.get("matchLabels").and_then(Value::as_object).is_some_and(|labels| !labels.is_empty());
    let is_old_form = |operator: &str| {
        let mut expression = expression.clone();
        expression[0]["operator"] = json!(operator);
        !has_labels && selector.get("matchExpressions") == Some(&expression)
    };
    if is_old_form("Exists") || is_old_form("DoesNotExist") {
        return;
    }
    if let Some(expressions) = selector.get_mut("matchExpressions").and_then(Value::as_array_mut) {
        expressions.retain(|expression| expression["key"] != OLD_BUDGET_LABEL);
    }
    if let Some(labels) = selector.get_mut("matchLabels").and_then(Value::as_object_mut) {
        labels.remove(OLD_BUDGET_LABEL);
    }
}

/// Where a claim gets its first data from is said in two fields: the older one knows claims and snapshots alone.
fn data_sources(object: &mut Value, old: Option<&Value>) {
    let Some(spec) = spec(object) else { return };
    let is_set = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
    let old_has = |field: &str| is_set(old.and_then(|old| old["spec"].get(field)));
    let has_namespace = |reference: &Value| {
        reference.get("namespace").and_then(Value::as_str).is_some_and(|name| !name.is_empty())
    };
    if spec.get("dataSourceRef").is_some_and(has_namespace) && !old_has("dataSourceRef") {
        spec.remove("dataSourceRef");
    }
    if !old_has("dataSource") && !old_has("dataSourceRef") && !is_set(spec.get("dataSourceRef")) {
        let is_known = |source: &Value| {
            let text = |field: &str| source.get(field).and_then(Value::as_str).unwrap_or_default();
            matches!(
                (text("kind"), text("apiGroup")),
                ("PersistentVolumeClaim", "") | ("VolumeSnapshot", "snapshot.storage.k8s.io")
            )
        };
        if !spec.get("dataSource").is_some_and(is_known) {
            spec.remove("dataSource");
        }
    }
    match (spec.get("dataSource").cloned(), spec.get("dataSourceRef").cloned()) {
        (Some(source), None | Some(Value::Null)) if source.is_object() => {
            spec.insert("dataSourceRef".to_owned(), source);
        }
        (None | Some(Value::Null), Some(mut reference))
            if reference.is_object() && !has_namespace(&reference) =>
        {
            metadata::as_map(&mut reference).remove("namespace");
            spec.insert("dataSource".to_owned(), reference);
        }
        _ => {}
    }
}
