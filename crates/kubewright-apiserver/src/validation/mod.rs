//! What is wrong with objects of built-in kinds beyond their metadata, in the words and the order of a real server.
//!
//! Strategies ask three questions, each of a resource by its group and plural: what is wrong with a new object
//! ([`create`]), what is wrong with a change of an object or of one of its subresources ([`update`]), and what to warn
//! about where nothing is wrong ([`warnings`]). Each group of the API has a folder, each kind a file in it (the pod,
//! which is a world of its own, a folder); concepts that several kinds share are files here.
//!
//! All checks are functions of a [`Field`]: a value with its place in the object. They write what they find to the
//! field's [`Report`] and return nothing, or what later checks need. Objects come in their canonical form, with
//! defaults.

mod address;
mod admission_registration;
mod api_service;
mod apps;
mod autoscaling;
mod batch;
mod certificates;
mod cidr;
mod conditions;
mod coordination;
mod core;
mod devices;
mod diff;
mod discovery;
mod field;
mod file_path;
mod flow_control;
mod ip;
mod metadata;
mod networking;
mod policy;
mod port;
mod rbac;
mod report;
mod runtime_class;
mod scheduling;
mod selector;
mod shape;
mod signer;
mod storage;
mod storage_migration;

use kubewright_schema::ErrorList;
use serde_json::Value;

pub(crate) use self::{
    core::pod::{app_armor_profile, larger as larger_amount, qos_class, total as total_resources},
    field::Field,
    report::Report,
};

/// What is wrong with a new object.
pub(crate) fn create(group: &str, plural: &str, object: &Value) -> ErrorList {
    let report = Report::default();
    let object = Field::root(object, &report);
    metadata::check_finalizers(group, plural, object);
    match group {
        "" => core::create(plural, object),
        "admissionregistration.k8s.io" => admission_registration::create(plural, object),
        "apiregistration.k8s.io" => api_service::validate(object),
        "apps" => apps::create(plural, object),
        "autoscaling" => autoscaling::create(object),
        "batch" => batch::create(plural, object),
        "certificates.k8s.io" => certificates::create(plural, object),
        "coordination.k8s.io" => coordination::validate(object),
        "discovery.k8s.io" => discovery::create(object),
        "events.k8s.io" => core::create_event(object, false),
        "flowcontrol.apiserver.k8s.io" => flow_control::create(plural, object),
        "networking.k8s.io" => networking::create(plural, object),
        "node.k8s.io" => runtime_class::create(object),
        "policy" => policy::create(plural, object),
        "rbac.authorization.k8s.io" => rbac::create(plural, object),
        "resource.k8s.io" => devices::create(plural, object),
        "scheduling.k8s.io" => scheduling::create(object),
        "storage.k8s.io" => storage::create(plural, object),
        "storagemigration.k8s.io" => storage_migration::create(object),
        _ => {}
    }
    report.into_errors()
}

/// What is wrong with a change by way of a subresource, which is empty for the object itself.
pub(crate) fn update(group: &str, plural: &str, subresource: &str, new: &Value, old: &Value) -> ErrorList {
    let (report, unused) = (Report::default(), Report::default());
    let (new, old) = (Field::root(new, &report), Field::root(old, &unused));
    metadata::check_again(group, plural, subresource, new);
    metadata::check_finalizers(group, plural, new);
    match group {
        "" => core::update(plural, subresource, new, old),
        "admissionregistration.k8s.io" => admission_registration::update(plural, subresource, new),
        "apiregistration.k8s.io" => api_service::update(subresource, new),
        "apps" => apps::update(plural, subresource, new, old),
        "autoscaling" => autoscaling::update(subresource, new, old),
        "batch" => batch::update(plural, subresource, new, old),
        "certificates.k8s.io" => certificates::update(plural, subresource, new, old),
        "coordination.k8s.io" => coordination::validate(new),
        "discovery.k8s.io" => discovery::update(new, old),
        "events.k8s.io" => core::update_event(new, old, false),
        "flowcontrol.apiserver.k8s.io" => flow_control::update(plural, subresource, new),
        "networking.k8s.io" => networking::update(plural, subresource, new, old),
        "node.k8s.io" => runtime_class::update(new, old),
        "policy" => policy::update(plural, subresource, new),
        "rbac.authorization.k8s.io" => rbac::update(plural, new, old),
        "resource.k8s.io" => devices::update(plural, subresource, new, old),
        "scheduling.k8s.io" => scheduling::update(new, old),
        "storage.k8s.io" => storage::update(plural, subresource, new, old),
        "storagemigration.k8s.io" => storage_migration::update(subresource, new, old),
        _ => {}
    }
    report.into_errors()
}

/// What is wrong with a binding of a pod to a node.
pub(crate) fn binding(binding: &Value) -> ErrorList {
    let report = Report::default();
    core::pod::binding::validate(Field::root(binding, &report));
    report.into_errors()
}

/// What the client should know about an object that is fine, be it new or changed.
pub(crate) fn warnings(group: &str, plural: &str, object: &Value, old: Option<&Value>) -> Vec<String> {
    let (report, unused) = (Report::default(), Report::default());
    let (object, old) = (Field::root(object, &report), old.map(|old| Field::root(old, &unused)));
    match group {
        "" => core::warnings(plural, object, old),
        "admissionregistration.k8s.io" => admission_registration::warnings(plural, object),
        "apps" => apps::warnings(plural, object, old),
        "batch" => batch::warnings(plural, object, old),
        "discovery.k8s.io" => discovery::warnings(object, old.is_none()),
        "networking.k8s.io" => networking::warnings(plural, object, old.is_none()),
        "node.k8s.io" => runtime_class::warnings(object),
        "storage.k8s.io" => storage::warnings(plural, object, old),
        _ => Vec::new(),
    }
}

/// What the client should know about a status that is fine.
pub(crate) fn status_warnings(group: &str, plural: &str, object: &Value) -> Vec<String> {
    let report = Report::default();
    match (group, plural) {
        ("", "services") | ("networking.k8s.io", "ingresses") => {
            core::ingress_warnings(Field::root(object, &report))
        }
        _ => Vec::new(),
    }
}

/// What is wrong with what a service says of its addresses. It is asked before any are handed out.
pub(crate) fn service_addresses(service: &Value, old: Option<&Value>) -> ErrorList {
    let (report, unused) = (Report::default(), Report::default());
    let spec = |service, report| Field::root(service, report).child("spec");
    core::check_cluster_ips(spec(service, &report), old.map(|old| spec(old, &unused)));
    report.into_errors()
}
