//! The core group.

pub(crate) mod node_label;
pub(crate) mod pod;
mod pod_template;
mod replication_controller;
pub(crate) mod resource_name;
pub(crate) mod volume_claim;

use super::Field;

pub(super) fn create(plural: &str, object: Field<'_>) {
    match plural {
        "pods" => pod::create(object),
        "podtemplates" => pod_template::validate(object, None),
        "replicationcontrollers" => replication_controller::create(object),
        _ => {}
    }
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>, old: Field<'_>) {
    match (plural, subresource) {
        ("pods", _) => pod::update(subresource, new, old),
        ("podtemplates", "") => pod_template::validate(new, Some(old)),
        ("replicationcontrollers", "") => replication_controller::update(new, old),
        ("replicationcontrollers", "status") => replication_controller::update_status(new),
        _ => {}
    }
}

pub(super) fn warnings(plural: &str, object: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    match plural {
        "pods" => pod::warnings(object, old),
        "podtemplates" => pod_template::warnings(object, old),
        "replicationcontrollers" => replication_controller::warnings(object, old),
        _ => Vec::new(),
    }
}
