use serde_json::Value;

use super::Served;
use crate::{
    defaults,
    types::{Type, Types, canonical},
};

impl Served {
    /// The Go type of a built-in kind.
    pub(crate) fn go_type(&self) -> Option<&'static Type> {
        if self.custom.is_some() {
            return None;
        }
        let definition = &self.definition;
        Types::get().kind(&definition.group, &definition.version, &definition.kind)
    }

    /// Brings an object that a client sent into the state in which it is checked: without the fields that its kind
    /// does not have, and with defaults. Gives a text about each field of a custom resource that was dropped; those
    /// of a built-in kind are found when it is decoded.
    ///
    /// With `keep_nulls` nulls stay where they are not allowed, to be refused.
    pub(crate) fn coerce(&self, object: &mut Value, keep_nulls: bool) -> Vec<String> {
        match &self.custom {
            Some(custom) => {
                let unknown = custom.coerce(object, keep_nulls);
                unknown.iter().map(|path| format!("unknown field {path:?}")).collect()
            }
            None => {
                let definition = &self.definition;
                defaults::apply(&definition.group, &definition.version, &definition.kind, object);
                Vec::new()
            }
        }
    }

    /// Writes out what Go writes of a built-in object when it is stored.
    pub(super) fn canonicalize(&self, object: &mut Value) {
        if let Some(ty) = self.go_type() {
            canonical::canonicalize(ty, object);
        }
    }
}
