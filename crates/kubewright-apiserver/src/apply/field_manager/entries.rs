//! `metadata.managedFields`, read and written.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::NEVER_OWNED;
use super::manager::{ManagerId, Operation};
use crate::apply::set::Set;
use crate::apply::updater::{ManagedFields, VersionedSet};

/// The managers of an object, and when each last changed it.
#[derive(Clone, Debug, Default)]
pub(super) struct Managed {
    pub(super) fields: ManagedFields,
    pub(super) times: BTreeMap<String, Timestamp>,
}

// === impl Managed ===

impl Managed {
    /// Reads the managed fields of an object.
    pub(super) fn read(object: &Value) -> Result<Self, String> {
        let mut managed = Self::default();
        let entries = match object.pointer("/metadata/managedFields") {
            None | Some(Value::Null) => return Ok(managed),
            Some(Value::Array(entries)) => entries,
            Some(_) => return Err("managedFields must be a list".to_owned()),
        };
        for (i, entry) in entries.iter().enumerate() {
            let text = |name| entry.get(name).and_then(Value::as_str).unwrap_or_default();
            let operation = match text("operation") {
                "Apply" => Operation::Apply,
                "Update" => Operation::Update,
                _ => return Err("operation must be `Apply` or `Update`".to_owned()),
            };
            if text("apiVersion").is_empty() {
                return Err("apiVersion must not be empty".to_owned());
            }
            match text("fieldsType") {
                "FieldsV1" => {}
                "" => return Err(format!("missing fieldsType in managed fields entry {i}")),
                other => return Err(format!("invalid fieldsType {other:?} in managed fields entry {i}")),
            }
            let set = entry.get("fieldsV1").map_or_else(|| Ok(Set::new()), Set::from_fields_v1);
            let set = set.map_err(|error| format!("error decoding set of entry {i}: {error}"))?;
            let id = ManagerId {
                manager: text("manager").to_owned(),
                operation,
                api_version: text("apiVersion").to_owned(),
                subresource: text("subresource").to_owned(),
            };
            let fields = VersionedSet {
                set,
                api_version: text("apiVersion").to_owned(),
                applied: operation == Operation::Apply,
            };
            let id = id.encode();
            match entry.get("time") {
                None | Some(Value::Null) => {}
                Some(time) => {
                    let time = time.as_str().and_then(|time| time.parse().ok());
                    let time = time.ok_or_else(|| format!("invalid time in managed fields entry {i}"))?;
                    managed.times.insert(id.clone(), time);
                }
            }
            managed.fields.insert(id, fields);
        }
        Ok(managed)
    }

    /// Writes the managed fields into an object; without managers the field is left out.
    pub(super) fn write_to(self, object: &mut Value) {
        if self.fields.is_empty() {
            return remove(object);
        }
        let mut entries: Vec<Entry> = self
            .fields
            .into_iter()
            .filter_map(|(id, fields)| {
                let time = self.times.get(&id).copied();
                ManagerId::decode(&id).map(|manager| Entry { manager, fields, time })
            })
            .collect();
        entries.sort_by(Entry::compare);
        let entries = entries.into_iter().map(Entry::into_value).collect();
        if let Some(metadata) = metadata_mut(object) {
            metadata.insert("managedFields".to_owned(), Value::Array(entries));
        }
    }

    /// Takes from a manager what no manager owns.
    pub(super) fn strip(&mut self, manager: &str) {
        let Some(fields) = self.fields.get_mut(manager) else { return };
        fields.set = fields.set.difference(&NEVER_OWNED);
        if fields.set.is_empty() {
            self.fields.remove(manager);
        }
    }

    /// The second in which a manager last changed the object; those without time come first.
    pub(super) fn seconds(&self, manager: &str) -> i64 {
        self.times.get(manager).map_or(0, |time| time.as_second())
    }
}

struct Entry {
    manager: ManagerId,
    fields: VersionedSet,
    time: Option<Timestamp>,
}

// === impl Entry ===

impl Entry {
    /// The order of entries: applies before updates, then by time, then by name.
    fn compare(&self, other: &Self) -> Ordering {
        let seconds = |entry: &Self| entry.time.map_or(0, Timestamp::as_second);
        self.manager
            .operation
            .cmp(&other.manager.operation)
            .then_with(|| seconds(self).cmp(&seconds(other)))
            .then_with(|| self.manager.manager.cmp(&other.manager.manager))
            .then_with(|| self.fields.api_version.cmp(&other.fields.api_version))
            .then_with(|| self.manager.subresource.cmp(&other.manager.subresource))
    }

    fn into_value(self) -> Value {
        let operation = match self.manager.operation {
            Operation::Apply => "Apply",
            Operation::Update => "Update",
        };
        let mut entry = Map::new();
        let mut insert = |name: &str, text: String| {
            if !text.is_empty() {
                entry.insert(name.to_owned(), Value::String(text));
            }
        };
        insert("manager", self.manager.manager);
        insert("operation", operation.to_owned());
        insert("apiVersion", self.fields.api_version);
        insert(
            "time",
            self.time.map(|time| time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()).unwrap_or_default(),
        );
        insert("fieldsType", "FieldsV1".to_owned());
        insert("subresource", self.manager.subresource);
        entry.insert("fieldsV1".to_owned(), self.fields.set.to_fields_v1());
        Value::Object(entry)
    }
}

/// Whether a request ends the tracking: a list of one empty entry, or an empty list if that counts.
pub(super) fn is_reset(object: &Value, empty_counts: bool) -> bool {
    match object.pointer("/metadata/managedFields") {
        Some(Value::Array(entries)) => match entries.as_slice() {
            [] => empty_counts,
            [Value::Object(entry)] => entry.is_empty(),
            [Value::Null] => true,
            _ => false,
        },
        _ => false,
    }
}

/// Removes the managed fields of an object.
pub(super) fn remove(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

/// The object without managed fields.
pub(super) fn without(object: &Value) -> Cow<'_, Value> {
    if object.pointer("/metadata/managedFields").is_none() {
        return Cow::Borrowed(object);
    }
    let mut object = object.clone();
    remove(&mut object);
    Cow::Owned(object)
}

/// Gives `to` the managed fields of `from`.
pub(super) fn copy(from: &Value, to: &mut Value) {
    let Some(fields) = from.pointer("/metadata/managedFields") else { return };
    if let Some(metadata) = metadata_mut(to) {
        metadata.insert("managedFields".to_owned(), fields.clone());
    }
}

fn metadata_mut(object: &mut Value) -> Option<&mut Map<String, Value>> {
    let metadata = object.as_object_mut()?.entry("metadata").or_insert(Value::Null);
    if metadata.is_null() {
        *metadata = Value::Object(Map::new());
    }
    metadata.as_object_mut()
}
