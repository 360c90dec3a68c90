use super::affinity;
use crate::validation::{Field, selector};

/// Checks how pods are spread over nodes.
pub(super) fn validate(constraints: Field<'_>) {
    let all = constraints.list();
    for (index, constraint) in constraints.items().enumerate() {
        validate_positive(constraint.child("maxSkew"));
        let (topology, action) = (constraint.child("topologyKey"), constraint.child("whenUnsatisfiable"));
        topology.require_or("can not be empty");
        action.one_of(&["DoNotSchedule", "ScheduleAnyway"]);
        let is_same = |other: &serde_json::Value| {
            other["topologyKey"] == *topology.value() && other["whenUnsatisfiable"] == *action.value()
        };
        if all.iter().skip(index + 1).any(is_same) {
            let pair = format!("{{{}, {}}}", topology.text(), action.text());
            constraint.at("{topologyKey, whenUnsatisfiable}").duplicate(pair);
        }
        let domains = constraint.child("minDomains");
        if let Some(number) = domains.int() {
            validate_positive(domains);
            if action.text() != "DoNotSchedule" {
                let detail = format!(
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                    action.text()
                );
                domains.invalid(number, detail);
            }
        }
        for policy in [constraint.child("nodeAffinityPolicy"), constraint.child("nodeTaintsPolicy")] {
            if policy.is_set() {
                policy.one_of(&["Honor", "Ignore"]);
            }
        }
        affinity::validate_label_keys(constraint);
        selector::validate_label_selector(constraint.child("labelSelector"));
    }
}

fn validate_positive(number: Field<'_>) {
    if number.number() <= 0 {
        number.invalid(number.number(), "must be greater than zero");
    }
}
