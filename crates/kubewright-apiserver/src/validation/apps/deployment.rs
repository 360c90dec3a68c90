use super::rollout;
use crate::validation::Field;

pub(super) fn validate(deployment: Field<'_>, old: Option<Field<'_>>) {
    let spec = deployment.child("spec");
    spec.child("replicas").not_negative();
    rollout::validate_template(spec, old);
    validate_strategy(spec.child("strategy"));
    rollout::validate_not_negative(spec, &["minReadySeconds", "revisionHistoryLimit"]);
    let deadline = spec.child("progressDeadlineSeconds");
    if let Some(seconds) = deadline.int() {
        deadline.not_negative();
        if seconds <= spec.child("minReadySeconds").number() {
            deadline.invalid(seconds, "must be greater than minReadySeconds");
        }
    }
}

fn validate_strategy(strategy: Field<'_>) {
    let update = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "Recreate" => {
            if update.is_set() {
                update.forbidden("may not be specified when strategy `type` is 'Recreate'");
            }
        }
        "RollingUpdate" if !update.is_set() => update.required("this should be defaulted and never be nil"),
        "RollingUpdate" => {
            let (unavailable, surge) = (update.child("maxUnavailable"), update.child("maxSurge"));
            rollout::validate_int_or_percent(unavailable);
            rollout::validate_int_or_percent(surge);
            if rollout::is_zero(unavailable) && rollout::is_zero(surge) {
                let detail = "may not be 0 when `maxSurge` is 0";
                unavailable.invalid(unavailable.value().clone(), detail);
            }
            rollout::validate_at_most_all(unavailable);
        }
        _ => strategy.not_supported_as("apps.DeploymentStrategy", &["Recreate", "RollingUpdate"]),
    }
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    validate(new, Some(old));
    new.child("spec")
        .child("selector")
        .immutable_as(old.child("spec").child("selector"), "*meta.LabelSelector");
}

pub(super) fn update_status(new: Field<'_>, old: Field<'_>) {
    let status = new.child("status");
    let counts = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    rollout::validate_not_negative(status, &counts);
    rollout::validate_counts(status, &["updatedReplicas", "readyReplicas", "availableReplicas"]);
    rollout::validate_available(status, "readyReplicas");
    rollout::validate_collisions(new, old);
}
