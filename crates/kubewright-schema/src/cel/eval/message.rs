//! The messages that the expressions of mutating admission policies make: `Object{..}` and what is in it, and `JSONPatch{..}`.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use kube_cel::cel::{
    Value as Cel,
    objects::{Key, Map, Opaque},
};

use super::{Failure, functions};
use crate::cel::checker::{JSON_PATCH, is_object_type};

/// A message with the fields that it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cel) struct Message {
    name: String,
    fields: BTreeMap<String, Cel>,
}

impl Message {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), fields: BTreeMap::new() }
    }

    /// Sets a field.
    ///
    /// # Errors
    /// If it cannot hold the value, which only then shows if the type of that was not known before.
    pub(super) fn set(&mut self, field: &str, value: Cel) -> Result<(), Failure> {
        if self.name == JSON_PATCH && field != "value" && !matches!(value, Cel::String(_)) {
            let of = functions::go_type(&value);
            return Err(Failure::other(format!("unexpected type {of} for JSONPatchType '{field}' field")));
        }
        self.fields.insert(field.to_owned(), value);
        Ok(())
    }

    pub(in crate::cel) fn name(&self) -> &str {
        &self.name
    }

    pub(in crate::cel) fn fields(&self) -> &BTreeMap<String, Cel> {
        &self.fields
    }

    /// A field as what reads it sees it: what is in it are plain maps.
    pub(super) fn field(&self, name: &str) -> Option<Cel> {
        self.fields.get(name).map(plain)
    }

    pub(super) fn into_value(self) -> Cel {
        Cel::Opaque(Arc::new(self))
    }

    pub(super) fn is_zero(&self) -> bool {
        is_object_type(&self.name) && self.fields.is_empty()
    }
}

impl Opaque for Message {
    fn runtime_type_name(&self) -> &str {
        &self.name
    }
}

/// A message as a map.
fn plain(value: &Cel) -> Cel {
    match value {
        Cel::Opaque(opaque) => match opaque.downcast_ref::<Message>() {
            Some(message) if message.name != JSON_PATCH => {
                let entry =
                    |(name, value): (&String, &Cel)| (Key::String(Arc::new(name.clone())), plain(value));
                let map: HashMap<Key, Cel> = message.fields.iter().map(entry).collect();
                Cel::Map(Map { map: Arc::new(map) })
            }
            _ => value.clone(),
        },
        _ => value.clone(),
    }
}
