//! The group `apps`: what runs pods from a template.

mod controller_revision;
mod daemon_set;
mod deployment;
mod replica_set;
mod rollout;
mod stateful_set;

use super::Field;

pub(super) fn create(plural: &str, object: Field<'_>) {
    match plural {
        "deployments" => deployment::validate(object, None),
        "replicasets" => replica_set::validate(object, None),
        "statefulsets" => stateful_set::create(object),
        "daemonsets" => daemon_set::validate(object, None),
        "controllerrevisions" => controller_revision::create(object),
        _ => {}
    }
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>, old: Field<'_>) {
    match (plural, subresource) {
        ("deployments", "") => deployment::update(new, old),
        ("deployments", "status") => deployment::update_status(new, old),
        ("replicasets", "") => replica_set::update(new, old),
        ("replicasets", "status") => replica_set::update_status(new),
        ("statefulsets", "") => stateful_set::update(new, old),
        ("statefulsets", "status") => stateful_set::update_status(new, old),
        ("daemonsets", "") => daemon_set::update(new, old),
        ("daemonsets", "status") => daemon_set::update_status(new, old),
        ("controllerrevisions", "") => controller_revision::update(new, old),
        _ => {}
    }
}

pub(super) fn warnings(plural: &str, object: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    match plural {
        "deployments" | "replicasets" => rollout::warnings(object, old),
        "statefulsets" => stateful_set::warnings(object, old),
        "daemonsets" => daemon_set::warnings(object, old),
        _ => Vec::new(),
    }
}
