use super::rollout;
use crate::validation::Field;

pub(super) fn validate(set: Field<'_>, old: Option<Field<'_>>) {
    let spec = set.child("spec");
    rollout::validate_not_negative(spec, &["replicas", "minReadySeconds"]);
    rollout::validate_template(spec, old);
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    validate(new, Some(old));
    new.child("spec")
        .child("selector")
        .immutable_as(old.child("spec").child("selector"), "*meta.LabelSelector");
}

pub(super) fn update_status(new: Field<'_>) {
    let status = new.child("status");
    let counts = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ];
    rollout::validate_not_negative(status, &counts);
    rollout::validate_counts(status, &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"]);
    rollout::validate_available(status, "readyReplicas");
}
