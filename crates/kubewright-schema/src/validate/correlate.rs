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

    /// The item `index` of the new list, if it has an old version.
    pub(crate) fn item(self, index: usize) -> Option<Self> {
        let schema = self.schema.items.as_deref()?;
        let new = self.new.as_array()?.get(index)?;
        let old = old_item(self.schema, new, self.old)?;
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
}

/// The old version of an item. Only the items of a list of type map have an identity that survives: the values of
/// their keys, all of which must be there.
pub(crate) fn old_item<'a>(list: &Schema, item: &Value, old: &'a Value) -> Option<&'a Value> {
    if list.list_type != Some(ListType::Map) || list.list_map_keys.is_empty() {
        return None;
    }
    let key = |item: &Value, name: &String| {
        item.as_object()?
            .get(name)
            .filter(|key| !key.is_null() && !key.is_object() && !key.is_array())
            .cloned()
    };
    let keys =
        |item: &Value| list.list_map_keys.iter().map(|name| key(item, name)).collect::<Option<Vec<Value>>>();
    let wanted = keys(item)?;
    old.as_array()?.iter().find(|old| keys(old).as_ref() == Some(&wanted))
}
