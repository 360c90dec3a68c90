use kubewright_schema::names;

use super::super::Field;

/// How much data there may be, in bytes.
pub(super) const DATA_LIMIT: usize = 1024 * 1024;

pub(super) fn validate(map: Field<'_>) {
    let (data, binary) = (map.child("data"), map.child("binaryData"));
    let mut size = 0;
    for (key, entry) in data.entries() {
        check_key(entry, key);
        if binary.map().is_some_and(|binary| binary.contains_key(key)) {
            entry.invalid(key, "duplicate of key present in binaryData");
        }
        size += entry.text().len();
    }
    for (key, entry) in binary.entries() {
        check_key(entry, key);
        size += decoded_length(entry.text());
    }
    if size > DATA_LIMIT {
        // Kubernetes names no field here, and not the object either.
        map.at_key("").too_long(i64::try_from(DATA_LIMIT).unwrap_or(i64::MAX));
    }
}

pub(super) fn validate_update(new: Field<'_>, old: Field<'_>) {
    check_immutable(new, old, &["data", "binaryData"]);
    validate(new);
}

/// Checks that data that was declared immutable is as it was.
pub(super) fn check_immutable(new: Field<'_>, old: Field<'_>, fields: &[&'static str]) {
    if !old.child("immutable").is_true() {
        return;
    }
    let detail = "field is immutable when `immutable` is set";
    if !new.child("immutable").is_true() {
        new.child("immutable").forbidden(detail);
    }
    for field in fields {
        if new.child(field).value() != old.child(field).value() {
            new.child(field).forbidden(detail);
        }
    }
}

/// Checks a key of data.
pub(super) fn check_key(entry: Field<'_>, key: &str) {
    for reason in names::config_map_key(key) {
        entry.invalid(key, reason);
    }
}

/// How many bytes a text in base 64 stands for.
pub(super) fn decoded_length(text: &str) -> usize {
    text.len() / 4 * 3 - text.bytes().rev().take_while(|byte| *byte == b'=').count().min(text.len())
}
