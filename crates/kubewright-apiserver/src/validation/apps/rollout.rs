//! What the kinds of this group share: selectors, counts, and how pods are replaced.

use kubewright_schema::names;
use serde_json::{Value, json};

use crate::validation::{Field, core::pod, selector};

/// Checks a selector that must be there and select something.
pub(super) fn validate_selector(selector: Field<'_>, kind: &str) {
    if !selector.is_set() {
        return selector.required("");
    }
    selector::validate_label_selector(selector);
    validate_not_empty(selector, kind);
}

/// Checks that a selector, if there is one, selects something.
pub(super) fn validate_not_empty(selector: Field<'_>, kind: &str) {
    if selector.is_set() && selector::requirements(selector) == 0 {
        selector.invalid(json!({}), format!("empty selector is invalid for {kind}"));
    }
}

/// Checks the selector and the template of something that keeps a number of pods.
pub(super) fn validate_template(spec: Field<'_>, old: Option<Field<'_>>) {
    let selector = spec.child("selector");
    validate_selector(selector, "deployment");
    let old_template = old.map(|old| old.child("spec").child("template"));
    let template = pod::Template::new(spec.child("template"), old_template);
    if selector::selects(selector, None).is_none() {
        return selector.invalid_as("*meta.LabelSelector", "invalid label selector");
    }
    if !selector.is_set() || selector::requirements(selector) > 0 {
        template.validate_selected_by(selector);
    }
    template.validate();
    template.validate_runs_forever("ReplicaSet");
}

/// Checks that numbers are not negative.
pub(super) fn validate_not_negative(place: Field<'_>, fields: &[&'static str]) {
    for &field in fields {
        place.child(field).not_negative();
    }
}

/// Checks that no more pods are counted than there are.
pub(super) fn validate_counts(status: Field<'_>, fields: &[&'static str]) {
    for &field in fields {
        let count = status.child(field);
        if count.number() > status.child("replicas").number() {
            count.invalid(count.number(), "cannot be greater than status.replicas");
        }
    }
}

/// Checks that no more pods are available than ready.
pub(super) fn validate_available(status: Field<'_>, ready: &str) {
    let count = status.child("availableReplicas");
    if count.number() > status.child("readyReplicas").number() {
        count.invalid(count.number(), format!("cannot be greater than {ready}"));
    }
}

/// Checks that a count of collisions does not fall.
pub(super) fn validate_collisions(new: Field<'_>, old: Field<'_>) {
    let (count, before) =
        (new.child("status").child("collisionCount"), old.child("status").child("collisionCount"));
    if before.is_set() && count.int().is_none_or(|count| count < before.number()) {
        count.invalid(count.number(), "cannot be decremented");
    }
}

/// Checks a number of pods, or a percentage of them.
pub(super) fn validate_int_or_percent(amount: Field<'_>) {
    match amount.value() {
        Value::String(_) => amount.check(names::percent),
        _ => amount.with(&Value::from(amount.number())).not_negative(),
    }
}

/// Checks that a percentage is not of more than all.
pub(super) fn validate_at_most_all(amount: Field<'_>) {
    if percentage(amount).is_some_and(|percentage| percentage > 100) {
        amount.invalid(amount.text(), "must not be greater than 100%");
    }
}

/// Whether it is none, be it by number or by percentage.
pub(super) fn is_zero(amount: Field<'_>) -> bool {
    match amount.value() {
        // What is no percentage reads as a number, if it is one.
        Value::String(text) => percentage(amount).unwrap_or_else(|| text.parse().unwrap_or_default()) == 0,
        _ => amount.number() == 0,
    }
}

fn percentage(amount: Field<'_>) -> Option<i64> {
    let digits = amount.text().strip_suffix('%')?;
    names::percent(amount.text()).is_empty().then(|| digits.parse().unwrap_or(i64::MAX))
}

/// What the client should know about something that is fine and has a template.
pub(super) fn warnings(object: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    let template = object.child("spec").child("template");
    match old {
        None => {
            let mut warnings = Vec::from_iter(pod::name_warning(object));
            warnings.extend(pod::Template::new(template, None).warnings());
            warnings
        }
        Some(old) if is_new_generation(object, old) => pod::Template::new(template, None).warnings(),
        Some(_) => Vec::new(),
    }
}

/// Whether the change has touched the desired state.
pub(super) fn is_new_generation(object: Field<'_>, old: Field<'_>) -> bool {
    let generation = |object: Field<'_>| object.child("metadata").child("generation").number();
    generation(object) != generation(old)
}
