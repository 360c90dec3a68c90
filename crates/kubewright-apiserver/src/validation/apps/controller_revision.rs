use serde_json::Value;

use crate::validation::Field;

pub(super) fn create(revision: Field<'_>) {
    revision.child("revision").not_negative();
    let data = revision.child("data");
    match data.value() {
        Value::Object(_) => {}
        Value::Null => data.required("data is mandatory"),
        _ => data.required("data must be a valid JSON object"),
    }
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    let metadata = new.child("metadata");
    let rule = kubewright_schema::names::NameRule::DnsSubdomain;
    let path = metadata.path();
    new.extend(kubewright_schema::names::validate_object_meta(metadata.value(), true, rule, &path));
    new.child("revision").not_negative();
    new.child("data").immutable(old.child("data"));
}
