//! Where a pod wants to be, by nodes and by other pods.

use kubewright_schema::names;

use crate::validation::{Field, selector};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

pub(super) fn validate(affinity: Field<'_>) {
    if !affinity.is_set() {
        return;
    }
    let nodes = affinity.child("nodeAffinity");
    if nodes.child(REQUIRED).is_set() {
        validate_node_selector(nodes.child(REQUIRED));
    }
    for term in nodes.child(PREFERRED).items() {
        validate_weight(term);
        // Labels that no node can have do no harm here.
        validate_node_selector_term(term.child("preference"), true);
    }
    for pods in [affinity.child("podAffinity"), affinity.child("podAntiAffinity")] {
        pods.child(REQUIRED).items().for_each(validate_pod_term);
        for term in pods.child(PREFERRED).items() {
            validate_weight(term);
            validate_pod_term(term.child("podAffinityTerm"));
        }
    }
}

fn validate_weight(term: Field<'_>) {
    let weight = term.child("weight");
    if !(1..=100).contains(&weight.number()) {
        weight.invalid(weight.number(), "must be in the range 1-100");
    }
}

/// Checks a selector of nodes, of which one term must be there.
pub(crate) fn validate_node_selector(nodes: Field<'_>) {
    let terms = nodes.child("nodeSelectorTerms");
    if terms.is_empty() {
        return terms.required("must have at least one node selector term");
    }
    for term in terms.items() {
        validate_node_selector_term(term, false);
    }
}

/// Checks one term of a selector of nodes.
pub(crate) fn validate_node_selector_term(term: Field<'_>, any_value: bool) {
    for requirement in term.child("matchExpressions").items() {
        validate_node_requirement(requirement, any_value);
    }
    for requirement in term.child("matchFields").items() {
        validate_node_field_requirement(requirement);
    }
}

fn validate_node_requirement(requirement: Field<'_>, any_value: bool) {
    let (operator, values) = (requirement.child("operator"), requirement.child("values"));
    match operator.text() {
        "In" | "NotIn" if values.is_empty() => {
            values.required("must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
        "Gt" | "Lt" if values.len() != 1 => {
            values.required("must be specified single value when `operator` is 'Lt' or 'Gt'");
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        other => operator.invalid(other, "not a valid selector operator"),
    }
    selector::validate_label_key(requirement.child("key"));
    if !any_value {
        values.items().for_each(|value| value.check(names::label_value));
    }
}

fn validate_node_field_requirement(requirement: Field<'_>) {
    let (operator, values) = (requirement.child("operator"), requirement.child("values"));
    match operator.text() {
        "In" | "NotIn" if values.len() != 1 => {
            values.required(
                "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
            );
        }
        "In" | "NotIn" => {}
        other => operator.invalid(other, "not a valid selector operator"),
    }
    let key = requirement.child("key");
    if key.text() == "metadata.name" {
        values.items().for_each(|value| value.check(names::dns1123_subdomain));
    } else {
        key.invalid(key.text(), "not a valid field selector key");
    }
}

fn validate_pod_term(term: Field<'_>) {
    selector::validate_label_selector(term.child("labelSelector"));
    selector::validate_label_selector(term.child("namespaceSelector"));
    for name in term.child("namespaces").list().iter().filter_map(|name| name.as_str()) {
        for reason in names::dns1123_label(name) {
            term.at("namespace").invalid(name, reason);
        }
    }
    validate_label_keys(term);
    let topology = term.child("topologyKey");
    topology.require_or("can not be empty");
    selector::validate_label_key(topology);
}

/// Checks the keys whose values a pod must share with others, or not: `matchLabelKeys` and `mismatchLabelKeys` beside a
/// `labelSelector`.
pub(super) fn validate_label_keys(term: Field<'_>) {
    let (same, other) = (term.child("matchLabelKeys"), term.child("mismatchLabelKeys"));
    let labels = term.child("labelSelector");
    for keys in [same, other].into_iter().filter(|keys| !keys.is_empty()) {
        if labels.is_set() {
            keys.items().for_each(selector::validate_label_key);
        } else {
            keys.forbidden("must not be specified when labelSelector is not set");
        }
    }
    if same.is_empty() {
        return;
    }
    // The selector has got a requirement of each key when the pod was made, so a key is there twice if somebody wrote
    // it too.
    let matched = labels.child("matchLabels").map();
    let mut seen: Vec<&str> = Vec::new();
    for requirement in labels.child("matchExpressions").items() {
        let key = requirement.child("key").text();
        let position = same.list().iter().rposition(|same| same.as_str() == Some(key));
        let is_known = seen.contains(&key) || matched.is_some_and(|matched| matched.contains_key(key));
        if let (Some(index), true) = (position, is_known) {
            term.at_index(index).invalid(key, "exists in both matchLabelKeys and labelSelector");
        }
        seen.push(key);
    }
    for key in same.items().filter(|key| other.list().contains(key.value())) {
        key.invalid(key.text(), "exists in both matchLabelKeys and mismatchLabelKeys");
    }
}
