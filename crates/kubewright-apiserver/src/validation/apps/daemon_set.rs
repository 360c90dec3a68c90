use super::rollout;
use crate::validation::{Field, core::pod, selector};

pub(super) fn validate(set: Field<'_>, old: Option<Field<'_>>) {
    let spec = set.child("spec");
    let selector = spec.child("selector");
    selector::validate_label_selector(selector);
    let old_template = old.map(|old| old.child("spec").child("template"));
    let template = pod::Template::new(spec.child("template"), old_template);
    template.validate_selected_by(selector);
    rollout::validate_not_empty(selector, "daemonset");
    template.validate();
    template.validate_runs_forever("DaemonSet");
    spec.child("minReadySeconds").not_negative();
    validate_strategy(spec.child("updateStrategy"));
    spec.child("revisionHistoryLimit").not_negative();
}

fn validate_strategy(strategy: Field<'_>) {
    let update = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "OnDelete" => {}
        "RollingUpdate" if !update.is_set() => update.required(""),
        "RollingUpdate" => {
            let (unavailable, surge) = (update.child("maxUnavailable"), update.child("maxSurge"));
            rollout::validate_int_or_percent(unavailable);
            rollout::validate_int_or_percent(surge);
            rollout::validate_at_most_all(unavailable);
            rollout::validate_at_most_all(surge);
            match (rollout::is_zero(unavailable), rollout::is_zero(surge)) {
                (false, false) => {
                    surge.invalid(surge.value().clone(), "may not be set when maxUnavailable is non-zero");
                }
                (true, true) => unavailable.required("cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        _ => strategy.not_supported_as("apps.DaemonSetUpdateStrategy", &["RollingUpdate", "OnDelete"]),
    }
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    new.child("spec")
        .child("selector")
        .immutable_as(old.child("spec").child("selector"), "*meta.LabelSelector");
    validate(new, Some(old));
}

pub(super) fn update_status(new: Field<'_>, old: Field<'_>) {
    let counts = [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
        "collisionCount",
    ];
    rollout::validate_not_negative(new.child("status"), &counts);
    rollout::validate_collisions(new, old);
}

pub(super) fn warnings(set: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    let template = set.child("spec").child("template");
    let is_same = old.is_some_and(|old| old.child("spec").child("template").value() == template.value());
    if is_same { Vec::new() } else { pod::Template::new(template, None).warnings() }
}
