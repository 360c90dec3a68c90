//! Labels, annotations and what selects by them.

use kubewright_schema::names;
use serde_json::{Map, Value};

use super::Field;
use crate::selector::LabelSelector;

const ANNOTATIONS_SIZE: usize = 256 * 1024;

/// Checks the keys and values of labels, which are reported at the map.
pub(crate) fn validate_labels(labels: Field<'_>) {
    for (key, value) in labels.map().into_iter().flatten() {
        for reason in names::label_key(key) {
            labels.invalid(key.as_str(), reason);
        }
        let value = value.as_str().unwrap_or_default();
        for reason in names::label_value(value) {
            labels.invalid(value, reason);
        }
    }
}

/// Checks the keys of annotations, whose case does not matter, and their size.
pub(crate) fn validate_annotations(annotations: Field<'_>) {
    let mut size = 0;
    for (key, value) in annotations.map().into_iter().flatten() {
        size += key.len() + value.as_str().unwrap_or_default().len();
        let lowercase = key.to_lowercase();
        for reason in names::label_key(&lowercase) {
            annotations.invalid(key.as_str(), reason);
        }
    }
    if size > ANNOTATIONS_SIZE {
        annotations.too_long(262_144);
    }
}

/// Checks the key of a label.
pub(crate) fn validate_label_key(key: Field<'_>) {
    key.check(names::label_key);
}

/// Checks a label selector, if there is one.
pub(crate) fn validate_label_selector(selector: Field<'_>) {
    validate_labels(selector.child("matchLabels"));
    for requirement in selector.child("matchExpressions").items() {
        let (operator, values) = (requirement.child("operator"), requirement.child("values"));
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => {
                values.required("must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => operator.invalid(other, "not a valid selector operator"),
        }
        validate_label_key(requirement.child("key"));
        for value in values.items() {
            value.check(names::label_value);
        }
    }
}

/// How many requirements a label selector has.
pub(crate) fn requirements(selector: Field<'_>) -> usize {
    selector.child("matchLabels").len() + selector.child("matchExpressions").len()
}

/// Whether a label selector selects labels; `None` if it makes no sense.
pub(crate) fn selects(selector: Field<'_>, labels: Option<&Map<String, Value>>) -> Option<bool> {
    if !selector.is_set() {
        return Some(false);
    }
    let selector = LabelSelector::from_object(Some(selector.value())).ok()?;
    Some(selector.matches_labels(labels))
}
