use serde_json::{Value, json};

use super::{annotations, tolerations, validate_again};
use crate::validation::{Field, diff, shape};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// Checks a change of a pod, of which most must stay as it was.
pub(super) fn validate(new: Field<'_>, old: Field<'_>) {
    validate_again(new, old);
    let notes = new.child("metadata").child("annotations");
    annotations::validate_update(notes, old.child("metadata").child("annotations"));
    annotations::validate(notes, new.child("spec"));
    let (new, old) = (new.child("spec"), old.child("spec"));
    for sort in ["containers", "initContainers"] {
        if !validate_containers(new.child(sort), old.child(sort)) {
            return;
        }
    }
    if !validate_deadline(new.child("activeDeadlineSeconds"), old.child("activeDeadlineSeconds")) {
        return;
    }
    tolerations::validate_update(new.child("tolerations"), old.child("tolerations"));
    validate_gates(new.child("schedulingGates"), old.child("schedulingGates"));
    validate_rest(new, old);
}

/// Containers neither come nor go, but their images may change. Gives whether to look further.
fn validate_containers(new: Field<'_>, old: Field<'_>) -> bool {
    if new.len() != old.len() {
        new.forbidden("pod updates may not add or remove containers");
        return false;
    }
    for container in new.items() {
        container.child("image").require();
        super::containers::validate_image_of_pod(container);
    }
    true
}

/// A deadline may be set and come nearer. Gives whether to look further.
fn validate_deadline(new: Field<'_>, old: Field<'_>) -> bool {
    match (new.int(), old.int()) {
        (Some(seconds), _) if !(0..=i64::from(i32::MAX)).contains(&seconds) => {
            new.in_range(0..=i64::from(i32::MAX));
            false
        }
        (Some(seconds), Some(before)) if before < seconds => {
            new.invalid(seconds, "must be less than or equal to previous value");
            false
        }
        (None, Some(_)) => {
            new.invalid(Value::Null, "must not update from a positive integer to nil value");
            true
        }
        _ => true,
    }
}

/// Gates only go.
fn validate_gates(new: Field<'_>, old: Field<'_>) {
    for gate in new.items() {
        let name = gate.child("name");
        if !old.list().iter().any(|old| old["name"] == *name.value()) {
            let text = name.text();
            name.forbidden(format!("only deletion is allowed, but found new scheduling gate '{text}'"));
        }
    }
}

/// Checks that nothing else has changed. Pods that wait for their gates may still be told of nodes.
fn validate_rest(new: Field<'_>, old: Field<'_>) {
    if new.value() == old.value() {
        return;
    }
    let is_gated = !old.child("schedulingGates").is_empty();
    if is_gated {
        validate_node_selector(new.child("nodeSelector"), old.child("nodeSelector"));
        let nodes = |spec: &Value| spec.pointer("/affinity/nodeAffinity").cloned().unwrap_or_default();
        let (new_nodes, old_nodes) = (nodes(new.value()), nodes(old.value()));
        if new_nodes != old_nodes {
            let place = new.child("affinity").child("nodeAffinity");
            validate_node_affinity(place, &old_nodes);
        }
    }
    let fixed = without_what_may_change(new.value(), old.value(), is_gated);
    if fixed != *old.value() {
        let detail = "pod updates may not change fields other than `spec.containers[*].image`,\
                      `spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions \
                      to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it \
                      was previously negative)";
        let shown = |spec: &Value| shape::show_lines("core.PodSpec", spec);
        new.forbidden(format!("{detail}\n{}", diff::unified(&shown(old.value()), &shown(&fixed))));
    }
}

/// The new spec with all that may change as it was before.
fn without_what_may_change(new: &Value, old: &Value, is_gated: bool) -> Value {
    let mut fixed = new.clone();
    let Some(fields) = fixed.as_object_mut() else { return fixed };
    let mut restore = |name: &str| match old.get(name) {
        Some(value) => drop(fields.insert(name.to_owned(), value.clone())),
        None => drop(fields.remove(name)),
    };
    for name in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        restore(name);
    }
    const GRACE: &str = "terminationGracePeriodSeconds";
    if old[GRACE].as_i64().is_some_and(|seconds| seconds < 0) && new[GRACE].as_i64() == Some(1) {
        restore(GRACE);
    }
    if is_gated {
        restore("nodeSelector");
    }
    for list in ["containers", "initContainers"] {
        let containers = fields.get_mut(list).and_then(Value::as_array_mut);
        for (index, container) in containers.into_iter().flatten().enumerate() {
            copy(container, &old[list][index], "image");
        }
    }
    if is_gated {
        let nodes = &old["affinity"]["nodeAffinity"];
        let has_affinity = |spec: &Value| spec.get("affinity").is_some_and(|affinity| !affinity.is_null());
        let others = ["podAffinity", "podAntiAffinity"];
        let says_more = others.iter().any(|field| !new["affinity"][*field].is_null());
        match (has_affinity(new), has_affinity(old)) {
            (false, _) if nodes.is_null() => {}
            (false, _) => drop(fields.insert("affinity".to_owned(), json!({ "nodeAffinity": nodes }))),
            (true, false) if !says_more => drop(fields.remove("affinity")),
            (true, _) => {
                if let Some(affinity) = fields.get_mut("affinity") {
                    copy(affinity, &old["affinity"], "nodeAffinity");
                }
            }
        }
    }
    fixed
}

/// Takes a field from another object, also its absence.
fn copy(object: &mut Value, from: &Value, field: &str) {
    let Some(fields) = object.as_object_mut() else { return };
    match from.get(field) {
        Some(value) => drop(fields.insert(field.to_owned(), value.clone())),
        None => drop(fields.remove(field)),
    }
}

fn validate_node_selector(new: Field<'_>, old: Field<'_>) {
    let is_kept = |(key, value): (&String, &Value)| new.value().get(key) == Some(value);
    if !old.map().into_iter().flatten().all(is_kept) {
        let detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
        new.invalid(new.value().clone(), detail);
    }
}

/// What a pod requires of nodes may become more.
fn validate_node_affinity(new: Field<'_>, old: &Value) {
    let empty = Vec::new();
    let old_terms = old[REQUIRED]["nodeSelectorTerms"].as_array().unwrap_or(&empty);
    let terms = new.child(REQUIRED).child("nodeSelectorTerms");
    if !old_terms.is_empty() && old_terms.len() != terms.len() {
        let detail = "no additions/deletions to non-empty NodeSelectorTerms list are allowed";
        return terms.invalid_as("[]core.NodeSelectorTerm", detail);
    }
    for (term, old) in terms.items().zip(old_terms) {
        if !has_only_additions(term.value(), old) {
            term.invalid_as(
                "core.NodeSelectorTerm",
                "only additions are allowed (no mutations or deletions)",
            );
        }
    }
}

fn has_only_additions(new: &Value, old: &Value) -> bool {
    let list = |term: &Value, field: &str| term[field].as_array().cloned().unwrap_or_default();
    let fields = ["matchExpressions", "matchFields"];
    // A term without requirements selects nothing, with one it would select something.
    if fields.iter().all(|field| list(old, field).is_empty()) {
        return fields.iter().all(|field| list(new, field).is_empty());
    }
    fields.iter().all(|field| list(new, field).starts_with(&list(old, field)))
}
