//! Paths of files within a volume or on a node.

use super::Field;

/// Checks that no part of the path leads upwards.
pub(crate) fn validate_no_backsteps(path: Field<'_>) {
    if has_backsteps(path.text()) {
        path.invalid(path.text(), "must not contain '..'");
    }
}

pub(crate) fn has_backsteps(path: &str) -> bool {
    path.split('/').any(|part| part == "..")
}

/// Checks that the path leads from where it starts to something below.
pub(crate) fn validate_descending(path: Field<'_>) {
    if path.text().starts_with('/') {
        path.invalid(path.text(), "must be a relative path");
    }
    validate_no_backsteps(path);
}

/// Checks that the path leads to something below that is not reserved.
pub(crate) fn validate_not_reserved(path: Field<'_>) {
    validate_descending(path);
    let text = path.text();
    if text.starts_with("..") && !text.starts_with("../") {
        path.invalid(text, "must not start with '..'");
    }
}
