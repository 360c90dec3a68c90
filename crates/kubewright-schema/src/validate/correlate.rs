//! Which part of the old object a part of the new one corresponds to.

use serde_json::Value;

use crate::structural::{ListType, Schema};

/// A value, the value it had before, and the schema of both.
#[derive(Clone, Copy)]
pub(crate) struct Correlated<'a> {
    pub(crate) new: &'a Value,
    pub(crate) old: &'a Value,
    pub(crate) schema: &'a Schema,
}

impl<'a> Correlated<'a> {
    /// The field `name`, if both values have it and the schema knows it.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        Some(Self {
            new: self.new.as_object()?.get(name)?,
            old: self.old.as_object()?.get(name)?,
            schema: self.schema.field(name)?,
        })
    }

    /// The item `index` of the new list. Only the items of a list of type map have an identity that survives.
    pub(crate) fn item(self, index: usize) -> Option<Self> {
        let schema = self.schema.items.as_deref()?;
        if self.schema.list_type != Some(ListType::Map) {
            return None;
        }
        let new = self.new.as_array()?.get(index)?;
        let key = self.key(new)?;
        let old = self.old.as_array()?.iter().find(|old| self.key(old).as_ref() == Some(&key))?;
        Some(Self { new, old, schema })
    }

    /// Whether nothing changed. Parts that the schema does not know count as changed, and the order of a list of
    /// type map does not count, as in a real API server.
    pub(crate) fn is_unchanged(self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) => {
                if new.len() != old.len() {
                    return false;
                }
                if self.schema.list_type != Some(ListType::Map) {
                    return new == old;
                }
                (0..new.len()).all(|index| self.item(index).is_some_and(Self::is_unchanged))
            }
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len()
                    && new.keys().all(|name| self.field(name).is_some_and(Self::is_unchanged))
            }
            (new, old) => new == old,
        }
    }

    fn key<'v>(&self, item: &'v Value) -> Option<Vec<Option<&'v Value>>> {
        let item = item.as_object()?;
        Some(self.schema.list_map_keys.iter().map(|key| item.get(key)).collect())
    }
}
