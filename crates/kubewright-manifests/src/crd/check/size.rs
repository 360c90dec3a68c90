//! How large a document may be.

use serde_json::Value;

use super::locate::Locator;
use crate::diagnostic::{Diagnostic, Severity};

/// What etcd takes in one request, and so the largest object.
const LARGEST_OBJECT: usize = 1_572_864;

/// What all annotations of an object may be together. `kubectl apply` puts the whole object into one.
const LARGEST_ANNOTATIONS: usize = 262_144;

pub(super) fn check(document: &Value, locator: &Locator<'_>) -> Option<Diagnostic> {
    // The API server stores definitions as JSON, and kubectl's annotation holds JSON.
    let size = document.to_string().len();
    let shorter = "shorten the descriptions: `+kubewright:description:maxLength=..` on a type or a field, or for all of them \
                   the option `maxDescLen`";
    let (severity, message, help) = if size > LARGEST_OBJECT {
        let message = format!(
            "{} is too large to be stored: {size} bytes, at most {LARGEST_OBJECT}",
            locator.document()
        );
        (Severity::Error, message, vec![shorter.to_owned()])
    } else if size > LARGEST_ANNOTATIONS {
        let message = format!(
            "{} is too large for `kubectl apply`: {size} bytes, and its annotation holds at most {LARGEST_ANNOTATIONS}",
            locator.document()
        );
        let apply = "use `kubectl apply --server-side`, which has no such annotation";
        (Severity::Warning, message, vec![apply.to_owned(), shorter.to_owned()])
    } else {
        return None;
    };
    Some(Diagnostic { severity, code: "too-large".to_owned(), message, place: locator.place(""), help })
}
