//! Disruption budgets.

use super::{Field, conditions, selector};

const EVICTION_POLICIES: [&str; 2] = ["AlwaysAllow", "IfHealthyBudget"];

pub(super) fn create(plural: &str, object: Field<'_>) {
    if plural == "poddisruptionbudgets" {
        validate_budget(object.child("spec"));
    }
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>) {
    match (plural, subresource) {
        ("poddisruptionbudgets", "status") => validate_status(new.child("status")),
        _ => create(plural, new),
    }
}

fn validate_budget(spec: Field<'_>) {
    let (least, most) = (spec.child("minAvailable"), spec.child("maxUnavailable"));
    if least.is_set() && most.is_set() {
        spec.invalid_as(
            "policy.PodDisruptionBudgetSpec",
            "minAvailable and maxUnavailable cannot be both set",
        );
    }
    check_share(least);
    check_share(most);
    selector::validate_label_selector(spec.child("selector"));
    let policy = spec.child("unhealthyPodEvictionPolicy");
    if policy.is_set() {
        policy.one_of(&EVICTION_POLICIES);
    }
}

/// Checks a number of pods, or how many of a hundred.
fn check_share(share: Field<'_>) {
    if !share.value().is_string() {
        share.not_negative();
        return;
    }
    let before = share.report().len();
    share.check(kubewright_schema::names::percent);
    let is_percent = share.report().len() == before;
    let percent = share.text().trim_end_matches('%').parse::<i64>();
    if is_percent && percent.is_ok_and(|percent| percent > 100) {
        share.invalid(share.text(), "must not be greater than 100%");
    }
}

fn validate_status(status: Field<'_>) {
    conditions::validate(status.child("conditions"));
    for field in ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] {
        status.child(field).not_negative();
    }
}
