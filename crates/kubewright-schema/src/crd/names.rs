use serde_json::Value;

use super::{items, text};
use crate::{
    error::{ErrorList, FieldError, FieldPath},
    names::dns1035_label,
};

/// Checks names, wherever they stand. None is required here.
pub(super) fn validate(names: &Value, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    for name in ["plural", "singular"] {
        let value = text(&names[name]);
        errors.extend(label(value, &path.child(name)).filter(|_| !value.is_empty()));
    }
    for name in ["kind", "listKind"] {
        let value = text(&names[name]);
        let reasons = dns1035_label(&value.to_lowercase());
        if !value.is_empty() && !reasons.is_empty() {
            let detail = format!("may have mixed case, but should otherwise match: {}", reasons.join(","));
            errors.push(FieldError::invalid(&path.child(name), value, detail));
        }
    }
    for (index, name) in items(names.get("shortNames")).iter().enumerate() {
        errors.extend(label(text(name), &path.child("shortNames").index(index)));
    }
    let (kind, list_kind) = (text(&names["kind"]), text(&names["listKind"]));
    if !kind.is_empty() && kind == list_kind {
        let detail = "kind and listKind may not be the same";
        errors.push(FieldError::invalid(&path.child("listKind"), list_kind, detail));
    }
    for (index, name) in items(names.get("categories")).iter().enumerate() {
        errors.extend(label(text(name), &path.child("categories").index(index)));
    }
    errors
}

/// The error of a value that is no DNS label.
pub(super) fn label(value: &str, path: &FieldPath) -> Option<FieldError> {
    let reasons = dns1035_label(value);
    (!reasons.is_empty()).then(|| FieldError::invalid(path, value, reasons.join(",")))
}
