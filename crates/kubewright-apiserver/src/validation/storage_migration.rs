//! Requests to write all objects of a resource anew.

use kubewright_schema::names;

use super::{Field, conditions};

/// The conditions with which a migration has come to its end.
const ENDS: [(&str, &str); 2] = [("Succeeded", "Success"), ("Failed", "Failed")];

pub(super) fn create(object: Field<'_>) {
    let target = object.child("spec").child("resource");
    let (group, resource) = (target.child("group"), target.child("resource"));
    if resource.require_or("resource is required to be set") {
        check(resource, names::dns1035_label);
    }
    if !group.is_empty() {
        check(group, names::dns1123_subdomain);
    }
}

pub(super) fn update(subresource: &str, new: Field<'_>, old: Field<'_>) {
    if subresource == "status" {
        return validate_status(new.child("status"), old.child("status"));
    }
    create(new);
    let shape = "storagemigration.StorageVersionMigrationSpec";
    new.child("spec").immutable_as(old.child("spec"), shape);
}

/// All reasons of a rule are one fault here.
fn check(name: Field<'_>, rule: fn(&str) -> Vec<String>) {
    let reasons = rule(name.text());
    if !reasons.is_empty() {
        name.invalid(name.text(), reasons.join(","));
    }
}

fn validate_status(status: Field<'_>, old: Field<'_>) {
    let (version, old_version) = (status.child("resourceVersion"), old.child("resourceVersion"));
    if !version.is_empty()
        && let Some(problem) = version_problem(version.text())
    {
        version.invalid(version.text(), problem);
    }
    let conditions = status.child("conditions");
    conditions::validate(conditions);
    if !old_version.is_empty() && old_version.text() != version.text() {
        version.invalid(version.text(), "field is immutable");
    }
    let is_true = |status: Field<'_>, kind: &str| {
        let condition = status.child("conditions").items().find(|own| own.child("type").text() == kind);
        condition.is_some_and(|condition| condition.child("status").text() == "True")
    };
    let refuse = |detail: String| conditions.invalid_as("[]meta.Condition", detail);
    if ENDS.iter().all(|(kind, _)| is_true(status, kind)) {
        refuse("Both success and failed conditions cannot be true at the same time".to_owned());
    }
    for (kind, name) in ENDS {
        if is_true(old, kind) && !is_true(status, kind) {
            refuse(format!("{name} condition cannot be set to false once it is true"));
        }
    }
}

/// Why a text is not the version of an object.
fn version_problem(text: &str) -> Option<String> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && !text.starts_with('0') {
        return None;
    }
    Some(format!("resource version is not well formed: {text}"))
}
