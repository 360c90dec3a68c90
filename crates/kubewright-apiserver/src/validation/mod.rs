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

mod admission_registration;
mod apps;
mod batch;
mod core;
mod field;
mod file_path;
mod ip;
mod port;
mod quantity;
mod report;
mod selector;
mod shape;
mod signer;

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
    match group {
        "" => core::create(plural, object),
        "admissionregistration.k8s.io" => admission_registration::create(plural, object),
        "apps" => apps::create(plural, object),
        "batch" => batch::create(plural, object),
        _ => {}
    }
    report.into_errors()
}

/// What is wrong with a change by way of a subresource, which is empty for the object itself.
pub(crate) fn update(group: &str, plural: &str, subresource: &str, new: &Value, old: &Value) -> ErrorList {
    let (report, unused) = (Report::default(), Report::default());
    let (new, old) = (Field::root(new, &report), Field::root(old, &unused));
    match group {
        "" => core::update(plural, subresource, new, old),
        "admissionregistration.k8s.io" => admission_registration::update(plural, subresource, new),
        "apps" => apps::update(plural, subresource, new, old),
        "batch" => batch::update(plural, subresource, new, old),
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
        "apps" => apps::warnings(plural, object, old),
        "batch" => batch::warnings(plural, object, old),
        _ => Vec::new(),
    }
}
