use kubewright_schema::names;
use serde_json::Value;

use crate::validation::{Field, core};

const ATTACHER_LENGTH: usize = 63;
const METADATA_SIZE: usize = 256 * 1024;
const MESSAGE_LENGTH: usize = 1024;
const NAME_PROBLEM: &str = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start \
     and end with an alphanumeric character (e.g. 'Example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

pub(super) fn create(attachment: Field<'_>) {
    validate(attachment);
    check_attacher(attachment.child("spec").child("attacher"));
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    validate(new);
    if new.child("spec").value() != old.child("spec").value() {
        new.child("spec").invalid(Value::Null, "field is immutable");
    }
}

fn validate(attachment: Field<'_>) {
    let spec = attachment.child("spec");
    let source = spec.child("source");
    let (volume, inline) = (source.child("persistentVolumeName"), source.child("inlineVolumeSpec"));
    let detail = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
    match (volume.is_set(), inline.is_set()) {
        (false, false) => source.required(detail),
        (true, true) => source.forbidden(detail),
        (true, false) => {
            volume.require_or("must specify non empty persistentVolumeName");
        }
        (false, true) => core::validate_inline_volume(inline),
    }
    spec.child("nodeName").check(names::dns1123_subdomain);
    let status = attachment.child("status");
    let metadata = status.child("attachmentMetadata");
    let size: usize = metadata.entries().map(|(key, value)| key.len() + value.text().len()).sum();
    if size > METADATA_SIZE {
        metadata.too_long(262_144);
    }
    for error in [status.child("attachError"), status.child("detachError")] {
        if error.child("message").text().len() > MESSAGE_LENGTH {
            error.child("message").too_long(1024);
        }
        error.child("errorCode").in_range(0..=i64::from(i32::MAX));
    }
    if volume.is_set() {
        volume.check(names::dns1123_subdomain);
    }
}

/// Checks the name of the driver, which is found out after all else.
fn check_attacher(attacher: Field<'_>) {
    if !attacher.require() {
        return;
    }
    let name = attacher.text();
    if !names::dns1123_subdomain(&name.to_lowercase()).is_empty() {
        attacher.invalid(name, NAME_PROBLEM);
    }
    if name.chars().count() > ATTACHER_LENGTH {
        attacher.too_long_characters(63);
    }
}
