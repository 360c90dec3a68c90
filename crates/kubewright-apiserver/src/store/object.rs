use std::{
    fmt::{self, Write},
    sync::OnceLock,
};

use bytes::Bytes;
use serde_json::Value;

/// One version of one object. It never changes: a write makes a new one.
pub struct Object {
    value: Value,
    revision: u64,
    body: OnceLock<Bytes>,
    item: OnceLock<Bytes>,
}

impl Object {
    /// Takes `value` as it is at `revision` and writes its `metadata.resourceVersion`.
    pub(super) fn new(mut value: Value, revision: u64) -> Self {
        set_revision(&mut value, revision);
        Self { value, revision, body: OnceLock::new(), item: OnceLock::new() }
    }

    /// The object in the version it is stored in.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// The revision of the commit that made this version.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The object as JSON, serialised once however many watchers and readers ask for it.
    pub fn json(&self) -> &Bytes {
        // A `Value` always serialises: its keys are strings.
        self.body.get_or_init(|| serde_json::to_vec(&self.value).unwrap_or_default().into())
    }

    /// The object as JSON without `apiVersion` and `kind`, as it stands in a list of a built-in kind.
    pub fn item_json(&self) -> &Bytes {
        self.item.get_or_init(|| item_json(&self.value))
    }
}

/// An object as JSON without `apiVersion` and `kind`.
pub(crate) fn item_json(value: &Value) -> Bytes {
    let Value::Object(object) = value else { return value.to_string().into() };
    let mut text = String::from("{");
    for (name, value) in object {
        if name == "apiVersion" || name == "kind" {
            continue;
        }
        if text.len() > 1 {
            text.push(',');
        }
        // Writing to a string does not fail.
        let _ = write!(text, "{}:{value}", Value::from(name.as_str()));
    }
    text.push('}');
    text.into()
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object").field("revision", &self.revision).field("value", &self.value).finish()
    }
}

/// Writes `metadata.resourceVersion`; a value that is no object stays as it is.
pub(super) fn set_revision(value: &mut Value, revision: u64) {
    let Some(object) = value.as_object_mut() else { return };
    let metadata = object.entry("metadata").or_insert_with(|| Value::Object(serde_json::Map::new()));
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("resourceVersion".to_owned(), Value::from(revision.to_string()));
    }
}
