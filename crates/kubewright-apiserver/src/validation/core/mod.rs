//! The core group.

mod config_map;
mod endpoints;
mod event;
mod limit_range;
mod namespace;
mod node;
pub(crate) mod node_label;
mod persistent_volume;
mod persistent_volume_claim;
pub(crate) mod pod;
mod pod_template;
mod replication_controller;
pub(crate) mod resource_name;
mod resource_quota;
mod secret;
mod service;
mod tls;
pub(crate) mod volume_claim;

pub(super) use self::{
    event::{create as create_event, update as update_event},
    namespace::check_standard_finalizer,
    persistent_volume::validate_inline as validate_inline_volume,
    pod::{storage::validate_csi_driver_name, tolerations::validate as validate_tolerations},
    service::{check_cluster_ips, check_ingress, check_protocol, ingress_warnings},
};
use super::Field;

pub(super) fn create(plural: &str, object: Field<'_>) {
    match plural {
        "pods" => pod::create(object),
        "podtemplates" => pod_template::validate(object, None),
        "replicationcontrollers" => replication_controller::create(object),
        "configmaps" => config_map::validate(object),
        "endpoints" => endpoints::validate(object, None),
        "events" => event::create(object, true),
        "limitranges" => limit_range::validate(object),
        "namespaces" => namespace::create(object),
        "nodes" => node::create(object),
        "persistentvolumeclaims" => persistent_volume_claim::create(object),
        "persistentvolumes" => persistent_volume::create(object),
        "resourcequotas" => resource_quota::create(object),
        "secrets" => secret::validate(object),
        "services" => service::validate(object, None),
        _ => {}
    }
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>, old: Field<'_>) {
    match (plural, subresource) {
        ("pods", _) => pod::update(subresource, new, old),
        ("podtemplates", "") => pod_template::validate(new, Some(old)),
        ("replicationcontrollers", "") => replication_controller::update(new, old),
        ("replicationcontrollers", "status") => replication_controller::update_status(new),
        ("configmaps", _) => config_map::validate_update(new, old),
        ("endpoints", _) => endpoints::validate(new, Some(old)),
        ("events", _) => event::update(new, old, true),
        ("limitranges", _) => limit_range::validate(new),
        ("namespaces", _) => namespace::update(subresource, new),
        ("nodes", _) => node::update(subresource, new, old),
        ("persistentvolumes", "") => persistent_volume::update(new, old),
        ("persistentvolumeclaims", "") => persistent_volume_claim::update(new, old),
        ("persistentvolumeclaims", "status") => persistent_volume_claim::update_status(new),
        ("resourcequotas", _) => resource_quota::update(subresource, new, old),
        ("secrets", _) => secret::validate_update(new, old),
        ("services", "") => service::validate_update(new, old),
        ("services", _) => service::validate_status(new, old),
        _ => {}
    }
}

pub(super) fn warnings(plural: &str, object: Field<'_>, old: Option<Field<'_>>) -> Vec<String> {
    match plural {
        "pods" => pod::warnings(object, old),
        "podtemplates" => pod_template::warnings(object, old),
        "replicationcontrollers" => replication_controller::warnings(object, old),
        "endpoints" => endpoints::warnings(object),
        "nodes" => node::warnings(object),
        "persistentvolumeclaims" => persistent_volume_claim::warnings(object),
        "persistentvolumes" => persistent_volume::warnings(object),
        "secrets" => secret::warnings(object).into_iter().collect(),
        "serviceaccounts" => service_account_warnings(object, old).into_iter().collect(),
        "resourcequotas" if old.is_none() => resource_quota::warnings(object),
        "services" => service::warnings(object),
        _ => Vec::new(),
    }
}

/// The one annotation of service accounts that says what nobody looks at any more.
fn service_account_warnings(account: Field<'_>, old: Option<Field<'_>>) -> Option<String> {
    const ANNOTATION: &str = "kubernetes.io/enforce-mountable-secrets";
    let annotation =
        |account: Field<'_>| account.child("metadata").child("annotations").entry(ANNOTATION).is_set();
    (annotation(account) && !old.is_some_and(annotation)).then(|| {
        format!(
            "metadata.annotations[{ANNOTATION}]: deprecated in v1.32+; prefer separate namespaces to isolate access to \
             mounted secrets"
        )
    })
}

/// Checks amounts of resources as if they were a container's limits.
pub(super) fn validate_limits(limits: Field<'_>) {
    for (name, amount) in limits.entries() {
        resource_name::validate_of_container(amount, name);
        resource_name::validate_amount(amount, name);
    }
}
