//! Formats, patterns, enums.

use kubewright_schema::{Schema, SchemaType};
use serde_json::Value;

use super::Walk;
use crate::compatibility::rule::{
    ENUM_ADDED, ENUM_REMOVED, ENUM_VALUE_ADDED, ENUM_VALUE_REMOVED, FORMAT_CHANGED, FORMAT_REMOVED,
    NUMBER_FORMAT_REMOVED, PATTERN_CHANGED, PATTERN_REMOVED,
};

impl Walk<'_> {
    pub(super) fn values(&mut self, old: &Schema, new: &Schema) {
        self.format(old, new);
        self.pattern(old, new);
        self.enumeration(old, new);
    }

    fn format(&mut self, old: &Schema, new: &Schema) {
        let shown = |format: &str| Some(format).filter(|format| !format.is_empty()).map(Value::from);
        let is_number = matches!(new.schema_type, Some(SchemaType::Integer | SchemaType::Number));
        let rule = match (old.format.as_str(), new.format.as_str()) {
            (old, new) if old == new => return,
            (_, "") if is_number => NUMBER_FORMAT_REMOVED,
            (_, "") => FORMAT_REMOVED,
            _ => FORMAT_CHANGED,
        };
        self.add(rule, Some("format"), shown(&old.format), shown(&new.format));
    }

    fn pattern(&mut self, old: &Schema, new: &Schema) {
        let shown = |schema: &Schema| schema.pattern.as_ref().map(|pattern| Value::from(pattern.as_str()));
        let rule = match (shown(old), shown(new)) {
            (old, new) if old == new => return,
            (_, None) => PATTERN_REMOVED,
            _ => PATTERN_CHANGED,
        };
        self.add(rule, Some("pattern"), shown(old), shown(new));
    }

    fn enumeration(&mut self, old: &Schema, new: &Schema) {
        const ENUM: Option<&str> = Some("enum");
        let (before, after) = (&old.enumeration, &new.enumeration);
        match (before.is_empty(), after.is_empty()) {
            (true, true) => {}
            (true, false) => self.add(ENUM_ADDED, ENUM, None, Some(after.clone().into())),
            (false, true) => self.add(ENUM_REMOVED, ENUM, Some(before.clone().into()), None),
            (false, false) => {
                for value in before.iter().filter(|value| !after.contains(value)) {
                    self.add(ENUM_VALUE_REMOVED, ENUM, Some(value.clone()), None);
                }
                for value in after.iter().filter(|value| !before.contains(value)) {
                    self.add(ENUM_VALUE_ADDED, ENUM, None, Some(value.clone()));
                }
            }
        }
    }
}
