//! What keeps claims off devices, and what of it they tolerate.

use kubewright_schema::names;

use super::validate_pool_name;
use crate::validation::{Field, conditions, core::validate_csi_driver_name, selector};

const EFFECTS: [&str; 3] = ["NoExecute", "NoSchedule", "None"];
const MOST_CONDITIONS: usize = 8;

/// Checks a rule that taints the devices it selects.
pub(super) fn validate_rule(spec: Field<'_>, old: Option<Field<'_>>) {
    let devices = spec.child("deviceSelector");
    if devices.child("driver").is_set() {
        validate_csi_driver_name(devices.child("driver"));
    }
    if devices.child("pool").is_set() {
        validate_pool_name(devices.child("pool"));
    }
    if devices.child("device").is_set() {
        devices.child("device").check(names::dns1123_label);
    }
    validate(spec.child("taint"), old.map(|old| old.child("taint")));
}

/// Checks what is known of a rule.
pub(super) fn validate_status(status: Field<'_>) {
    let conditions = status.child("conditions");
    conditions::validate(conditions);
    if conditions.len() > MOST_CONDITIONS {
        conditions.too_many(MOST_CONDITIONS);
    }
}

/// Checks a taint. An effect that it had before stays.
pub(super) fn validate(taint: Field<'_>, old: Option<Field<'_>>) {
    let effect = taint.child("effect");
    selector::validate_label_key(taint.child("key"));
    taint.child("value").check(names::label_value);
    if old.is_none_or(|old| old.child("effect").text() != effect.text()) && effect.require() {
        effect.one_of(&EFFECTS);
    }
}

/// Checks what a request tolerates.
pub(super) fn validate_toleration(toleration: Field<'_>) {
    let (key, operator) = (toleration.child("key"), toleration.child("operator"));
    let (value, effect) = (toleration.child("value"), toleration.child("effect"));
    if !key.is_empty() {
        key.check(names::label_key);
    }
    match operator.text() {
        "Exists" if !value.is_empty() => value.invalid(value.text(), "must be empty for operator `Exists`"),
        "Exists" => {}
        "Equal" => value.check(names::label_value),
        "" => operator.required(""),
        other => operator.not_supported(other, &["Equal", "Exists"]),
    }
    if key.is_empty() && operator.text() != "Exists" {
        key.required("must not be empty if operator is `Equal`");
    }
    if !effect.is_empty() {
        effect.one_of(&EFFECTS);
    }
}
