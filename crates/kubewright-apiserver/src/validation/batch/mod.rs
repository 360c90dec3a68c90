//! The group `batch`.

use super::Field;

pub(super) fn create(_plural: &str, _object: Field<'_>) {}

pub(super) fn update(_plural: &str, _subresource: &str, _new: Field<'_>, _old: Field<'_>) {}

pub(super) fn warnings(_plural: &str, _object: Field<'_>, _old: Option<Field<'_>>) -> Vec<String> {
    Vec::new()
}
