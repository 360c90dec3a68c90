use std::collections::BTreeSet;

use kubewright_schema::{FieldError, names};

use crate::validation::Field;

const RULES: usize = 20;
const PATTERNS: usize = 20;
const VALUES: usize = 255;
const ACTIONS: [&str; 4] = ["Count", "FailIndex", "FailJob", "Ignore"];
const STATUSES: [&str; 3] = ["False", "True", "Unknown"];
const OPERATORS: [&str; 2] = ["In", "NotIn"];

/// Checks what becomes of a job when one of its pods fails.
pub(super) fn validate(spec: Field<'_>, policy: Field<'_>) {
    let rules = policy.child("rules");
    if rules.len() > RULES {
        rules.too_many(RULES);
    }
    for rule in rules.items() {
        validate_rule(spec, rule);
    }
}

fn validate_rule(spec: Field<'_>, rule: Field<'_>) {
    let action = rule.child("action");
    match action.text() {
        "" => action.required(valid_values(&ACTIONS)),
        "FailIndex" if !spec.child("backoffLimitPerIndex").is_set() => {
            action.invalid("FailIndex", "requires the backoffLimitPerIndex to be set");
        }
        _ => action.one_of(&ACTIONS),
    }
    let (codes, conditions) = (rule.child("onExitCodes"), rule.child("onPodConditions"));
    if codes.is_set() {
        validate_codes(spec, codes);
    }
    if conditions.len() > PATTERNS {
        conditions.too_many(PATTERNS);
    }
    for pattern in conditions.items() {
        pattern.child("type").check(names::label_key);
        let status = pattern.child("status");
        if status.require_or(&valid_values(&STATUSES)) {
            status.one_of(&STATUSES);
        }
    }
    let without_value = |detail: &str| rule.push(FieldError::invalid_without_value(&rule.path(), detail));
    match (codes.is_set(), conditions.is_empty()) {
        (true, false) => without_value("specifying both OnExitCodes and OnPodConditions is not supported"),
        (false, true) => without_value("specifying one of OnExitCodes and OnPodConditions is required"),
        _ => {}
    }
}

fn validate_codes(spec: Field<'_>, codes: Field<'_>) {
    let operator = codes.child("operator");
    if operator.require_or(&valid_values(&OPERATORS)) {
        operator.one_of(&OPERATORS);
    }
    let container = codes.child("containerName");
    if container.is_set() {
        let template = spec.child("template").child("spec");
        let mut all =
            ["containers", "initContainers"].into_iter().flat_map(|sort| template.child(sort).items());
        if !all.any(|own| own.child("name").text() == container.text()) {
            let detail = "must be one of the container or initContainer names in the pod template";
            container.invalid(container.text(), detail);
        }
    }
    let values = codes.child("values");
    if values.is_empty() {
        values.invalid(values.value().clone(), "at least one value is required");
    } else if values.len() > VALUES {
        values.too_many(VALUES);
    }
    let mut seen = BTreeSet::new();
    for value in values.items() {
        let number = value.number();
        if operator.text() == "In" && number == 0 {
            value.invalid(number, "must not be 0 for the In operator");
        }
        if !seen.insert(number) {
            value.duplicate(number);
        }
    }
    let is_ordered = values.list().is_sorted_by_key(|value| value.as_i64().unwrap_or_default());
    if !is_ordered {
        values.invalid(values.value().clone(), "must be ordered");
    }
}

fn valid_values(values: &[&str]) -> String {
    let quoted: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
    format!("valid values: [{}]", quoted.join(" "))
}
