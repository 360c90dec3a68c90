//! Declared and undeclared fields, required ones, items.

use kubewright_schema::{AdditionalProperties, Schema, Structural};
use serde_json::json;

use super::{Surroundings, Walk, presence::fits_with_defaults_below};
use crate::compatibility::rule::{
    ADDITIONAL_PROPERTIES_ADDED, ADDITIONAL_PROPERTIES_CHANGED, DEFAULT_ADDED_UNDER_RULES, FIELD_ADDED,
    FIELD_ADDED_TO_OPEN_OBJECT, FIELD_REMOVED, ITEMS_CHANGED, PRESERVE_UNKNOWN_ADDED,
    PRESERVE_UNKNOWN_REMOVED, REQUIRED_ADDED, REQUIRED_ADDED_WITH_DEFAULT, REQUIRED_REMOVED,
};

/// What happens to the fields that an object does not declare.
#[derive(Clone, Copy)]
enum Undeclared<'a> {
    Dropped,
    Kept,
    Checked(&'a Structural),
}

impl<'a> Undeclared<'a> {
    fn of(schema: &'a Schema) -> Self {
        match &schema.additional_properties {
            Some(AdditionalProperties::Schema(schema)) => Self::Checked(schema),
            Some(AdditionalProperties::Allowed(_)) => Self::Kept,
            None => Self::Dropped,
        }
    }
}

impl Walk<'_> {
    pub(super) fn fields(&mut self, old: &Schema, new: &Schema, around: Surroundings, below: Surroundings) {
        let is_object = around.is_object || (old.embedded_resource && new.embedded_resource);
        // Declared or not, every Kubernetes object has these.
        let field = |schema: &Schema, name: &str| {
            let declared = schema.properties.get(name).cloned();
            declared.or_else(|| is_object.then(|| object_field(name)).flatten())
        };
        for (name, property) in &old.properties {
            match field(new, name) {
                Some(successor) => self.below_field(name, |walk| walk.node(property, &successor, below)),
                None => self.add_field(FIELD_REMOVED, name, None),
            }
        }
        let open = old.preserve_unknown_fields || old.additional_properties.is_some();
        for (name, property) in new.properties.iter().filter(|(name, _)| !old.properties.contains_key(*name))
        {
            match field(old, name) {
                Some(predecessor) => self.below_field(name, |walk| walk.node(&predecessor, property, below)),
                None if open => self.add_field(FIELD_ADDED_TO_OPEN_OBJECT, name, None),
                None => self.add_field(FIELD_ADDED, name, None),
            }
            let visible = property.default.is_some() && below.watched || !fits_with_defaults_below(property);
            if visible && field(old, name).is_none() {
                self.add_field(DEFAULT_ADDED_UNDER_RULES, name, Some("default"));
            }
        }
        self.required(old, new, around);
        self.undeclared(old, new, below);
    }

    fn required(&mut self, old: &Schema, new: &Schema, around: Surroundings) {
        // To require what every object has requires nothing.
        let always_there = |name: &str| around.is_object && object_field(name).is_some();
        let gained = |from: &Schema, to: &Schema| -> Vec<String> {
            to.required
                .iter()
                .filter(|name| !from.required.contains(name) && !always_there(name))
                .cloned()
                .collect()
        };
        for name in gained(old, new) {
            let has_default = new.properties.get(&name).is_some_and(|property| property.default.is_some());
            let rule = if has_default { REQUIRED_ADDED_WITH_DEFAULT } else { REQUIRED_ADDED };
            self.add_field(rule, &name, Some("required"));
        }
        for name in gained(new, old) {
            // If the field is gone, that is all there is to say.
            if new.properties.contains_key(&name) || !old.properties.contains_key(&name) {
                self.add_field(REQUIRED_REMOVED, &name, Some("required"));
            }
        }
    }

    fn undeclared(&mut self, old: &Schema, new: &Schema, below: Surroundings) {
        const PRESERVE: Option<&str> = Some("x-kubernetes-preserve-unknown-fields");
        const ADDITIONAL: Option<&str> = Some("additionalProperties");
        match (old.preserve_unknown_fields, new.preserve_unknown_fields) {
            (true, false) => self.add(PRESERVE_UNKNOWN_REMOVED, PRESERVE, None, None),
            (false, true) => self.add(PRESERVE_UNKNOWN_ADDED, PRESERVE, None, None),
            _ => {}
        }
        match (Undeclared::of(old), Undeclared::of(new)) {
            (Undeclared::Checked(old), Undeclared::Checked(new)) => {
                self.below_all(|walk| walk.node(old, new, below));
            }
            (Undeclared::Dropped, Undeclared::Dropped) => {}
            (Undeclared::Kept, Undeclared::Kept)
                if old.additional_properties == new.additional_properties => {}
            (Undeclared::Dropped, Undeclared::Kept | Undeclared::Checked(_))
                if !old.preserve_unknown_fields =>
            {
                self.add(ADDITIONAL_PROPERTIES_ADDED, ADDITIONAL, None, None);
            }
            _ => self.add(ADDITIONAL_PROPERTIES_CHANGED, ADDITIONAL, None, None),
        }
    }

    pub(super) fn items(&mut self, old: &Schema, new: &Schema, below: Surroundings) {
        match (&old.items, &new.items) {
            (Some(old), Some(new)) => self.below_all(|walk| walk.node(old, new, below)),
            (None, None) => {}
            _ => self.add(ITEMS_CHANGED, Some("items"), None, None),
        }
    }
}

/// The schema that an object's own fields have without being declared.
fn object_field(name: &str) -> Option<Structural> {
    let schema_type = match name {
        "apiVersion" | "kind" => "string",
        "metadata" => "object",
        _ => return None,
    };
    Structural::parse(&json!({"type": "object", "properties": {name: {"type": schema_type}}}))
        .ok()
        .and_then(|schema| schema.properties.get(name).cloned())
}
