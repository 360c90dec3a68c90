//! Nulls and defaults: what is there when nothing was written.

use kubewright_schema::{FieldPath, Schema};

use super::{Surroundings, Walk};
use crate::compatibility::rule::{
    DEFAULT_ADDED, DEFAULT_ADDED_UNDER_RULES, DEFAULT_CHANGED, DEFAULT_REMOVED, NULL_KEPT, NULLABLE_ADDED,
    NULLABLE_REMOVED,
};

impl Walk<'_> {
    pub(super) fn presence(&mut self, old: &Schema, new: &Schema, around: Surroundings) {
        match (old.nullable, new.nullable) {
            (true, false) => self.add(NULLABLE_REMOVED, Some("nullable"), None, None),
            (false, true) => {
                // An API server refuses null wherever there is an enum, also if the enum lists it.
                let kept = old.default.is_some() || around.watched || !new.enumeration.is_empty();
                self.add(if kept { NULL_KEPT } else { NULLABLE_ADDED }, Some("nullable"), None, None);
            }
            _ => {}
        }
        let rule = match (&old.default, &new.default) {
            (None, Some(_)) if around.watched || !fits_with_defaults_below(new) => DEFAULT_ADDED_UNDER_RULES,
            (None, Some(_)) => DEFAULT_ADDED,
            (Some(_), None) => DEFAULT_REMOVED,
            (Some(old), Some(new)) if old != new => DEFAULT_CHANGED,
            _ => return,
        };
        self.add(rule, Some("default"), old.default.clone(), new.default.clone());
    }
}

/// Whether the default of a schema is valid once it got the defaults of its own fields. An API server checks defaults
/// without them.
pub(super) fn fits_with_defaults_below(schema: &Schema) -> bool {
    let Some(mut default) = schema.default.clone() else { return true };
    schema.apply_defaults(&mut default);
    schema.validate(&default, None, &FieldPath::new("default")).is_empty()
}
