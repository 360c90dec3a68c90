use std::collections::{BTreeMap, BTreeSet};

use kubewright_schema::names;
use serde_json::Value;

use crate::validation::{Field, core::node_label, selector};

const MOST_PARAMETERS: usize = 512;
const PARAMETERS_SIZE: usize = 256 * 1024;

pub(super) fn create(class: Field<'_>) {
    validate(class);
    class.child("provisioner").require();
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    validate(new);
    // These are found after all else.
    for field in ["provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"] {
        let value = new.child(field);
        if value.value() != old.child(field).value() {
            if field == "provisioner" {
                value.require();
            }
            value.invalid(Value::Null, "field is immutable");
        }
    }
}

pub(super) fn warnings(class: Field<'_>) -> Vec<String> {
    let terms = class.child("allowedTopologies").items();
    let keys = terms.flat_map(|term| term.child("matchLabelExpressions").items()).map(|one| one.child("key"));
    keys.filter_map(|key| Some(format!("{}: {}", key.path(), node_label::deprecation(key.text())?))).collect()
}

fn validate(class: Field<'_>) {
    check_provisioner(class.child("provisioner"));
    check_parameters(class.child("parameters"));
    let (reclaim, binding) = (class.child("reclaimPolicy"), class.child("volumeBindingMode"));
    if !reclaim.is_empty() {
        reclaim.one_of(&["Delete", "Retain"]);
    }
    if binding.is_set() {
        binding.one_of(&["Immediate", "WaitForFirstConsumer"]);
    } else {
        binding.required("");
    }
    check_topologies(class.child("allowedTopologies"));
}

/// Checks the name of a driver, if there is one. Its case does not matter.
pub(super) fn check_provisioner(provisioner: Field<'_>) {
    if provisioner.is_empty() {
        return;
    }
    let name = provisioner.text().to_lowercase();
    for reason in names::label_key(&name) {
        provisioner.invalid(name.as_str(), reason);
    }
}

pub(super) fn check_parameters(parameters: Field<'_>) {
    let limit = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
    if parameters.len() > MOST_PARAMETERS {
        parameters.too_long(limit(MOST_PARAMETERS));
        return;
    }
    let mut size = 0;
    for (key, value) in parameters.entries() {
        if key.is_empty() {
            parameters.invalid("", "field can not be empty.");
        }
        size += key.len() + value.text().len();
    }
    if size > PARAMETERS_SIZE {
        parameters.too_long(limit(PARAMETERS_SIZE));
    }
}

fn check_topologies(terms: Field<'_>) {
    let mut seen: Vec<BTreeMap<&str, BTreeSet<&str>>> = vec![BTreeMap::new()];
    for term in terms.items() {
        let expressions = term.child("matchLabelExpressions");
        let mut values_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for expression in expressions.items() {
            let (key, values) = (expression.child("key"), expression.child("values"));
            if values.is_empty() {
                values.required("");
            }
            let mut known = BTreeSet::new();
            for value in values.items() {
                if !known.insert(value.text()) {
                    value.duplicate(value.text());
                }
            }
            selector::validate_label_key(key);
            if values_of.insert(key.text(), known).is_some() {
                key.duplicate(key.text());
            }
        }
        // A term that says nothing counts as one that was there before.
        if seen.contains(&values_of) {
            expressions.duplicate("");
        }
        seen.push(values_of);
    }
}
