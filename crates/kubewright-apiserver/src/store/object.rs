use std::{
    fmt,
    io::Write,
    sync::{Arc, OnceLock},
};

use bytes::Bytes;
use serde_json::{Map, Value};

/// One version of one object. It never changes: a write makes a new one.
///
/// It is kept as its JSON, which is what most readers want and a small part of what the decoded object takes in
/// memory. [`value`](Object::value) decodes it when it is first asked for, and the object stays decoded as long as it
/// lives. What the store itself holds is therefore asked for its value only where that is wanted again and again; others
/// read a [`copy`](Object::undecoded).
pub struct Object {
    json: Bytes,
    /// Where `apiVersion` and `kind` end in it.
    kind_end: usize,
    /// Where its `resourceVersion` ends, the rest being the same in each version that changes nothing.
    version_end: usize,
    revision: u64,
    labels: Labels,
    /// JSON numbers with a fraction may be read as one that differs in the last digit: an object that has such is never
    /// decoded anew.
    is_exact: bool,
    value: OnceLock<Arc<Value>>,
}

/// The labels of an object, by key.
type Labels = Box<[(Box<str>, Box<str>)]>;

/// An object that is to be written, as JSON but for its revision.
pub(super) struct Draft {
    value: Value,
    /// The JSON before `resourceVersion`, and after it.
    before: Vec<u8>,
    after: Vec<u8>,
    kind_end: usize,
}

// === impl Object ===

impl Object {
    /// An object as a journal has kept it; `None` if it has no revision.
    pub(super) fn restored(value: Value) -> Option<Arc<Self>> {
        let revision = value.pointer("/metadata/resourceVersion")?.as_str()?.parse().ok()?;
        Some(Draft::new(value).at(revision).undecoded())
    }

    /// The object in the version it is stored in.
    pub fn value(&self) -> &Value {
        // It was written by us, so it can be read.
        self.value.get_or_init(|| Arc::new(serde_json::from_slice(&self.json).unwrap_or_default()))
    }

    /// The revision of the commit that made this version.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The object as JSON.
    pub fn json(&self) -> &Bytes {
        &self.json
    }

    /// The object as JSON without `apiVersion` and `kind` and without the brace that opens it, as it stands in a list of a
    /// built-in kind.
    pub fn json_after_kind(&self) -> &[u8] {
        self.json.get(self.kind_end..).unwrap_or_default()
    }

    /// A label of the object.
    pub fn label(&self, key: &str) -> Option<&str> {
        let index = self.labels.binary_search_by(|(own, _)| (**own).cmp(key)).ok()?;
        self.labels.get(index).map(|(_, value)| &**value)
    }

    /// The same version of the object, decoded for its own readers alone.
    pub fn undecoded(&self) -> Arc<Self> {
        Arc::new(Self {
            json: self.json.clone(),
            labels: self.labels.clone(),
            value: if self.is_exact { OnceLock::new() } else { self.value.clone() },
            ..*self
        })
    }

    /// Whether the draft differs from the object by its revision alone.
    pub(super) fn is_like(&self, draft: &Draft) -> bool {
        let (before, after) = self.json.split_at(self.version_end.min(self.json.len()));
        after == draft.after && before.starts_with(&draft.before)
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = String::from_utf8_lossy(&self.json);
        f.debug_struct("Object").field("revision", &self.revision).field("json", &json).finish()
    }
}

// === impl Draft ===

impl Draft {
    /// The object of this value, whose `metadata.resourceVersion` does not count.
    pub(super) fn new(value: Value) -> Self {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let Value::Object(object) = &value else {
            // No kind of object is like that; it has no place for a version.
            after = value.to_string().into_bytes();
            return Self { value, before, after, kind_end: 0 };
        };
        before.push(b'{');
        for name in ["apiVersion", "kind"] {
            if let Some(value) = object.get(name) {
                write_field(&mut before, name, value);
            }
        }
        let kind_end = before.len();
        before.extend_from_slice(b"\"metadata\":{\"resourceVersion\":\"");
        after.push(b'"');
        let metadata = object.get("metadata").and_then(Value::as_object);
        for (name, value) in metadata.into_iter().flatten().filter(|(name, _)| *name != "resourceVersion") {
            after.push(b',');
            write_field(&mut after, name, value);
            after.pop();
        }
        after.extend_from_slice(b"},");
        for (name, value) in object {
            if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
                write_field(&mut after, name, value);
            }
        }
        after.pop();
        after.push(b'}');
        Self { value, before, after, kind_end }
    }

    /// The object as it is at `revision`.
    pub(super) fn at(self, revision: u64) -> Object {
        let Self { mut value, before, after, kind_end } = self;
        let version = if before.is_empty() { String::new() } else { revision.to_string() };
        let version_end = before.len() + version.len();
        let json = [before.as_slice(), version.as_bytes(), after.as_slice()].concat().into();
        set_revision(&mut value, revision);
        let (labels, is_exact) = (labels_of(&value), !has_fractions(&value));
        let value = Arc::new(value).into();
        Object { json, kind_end, version_end, revision, labels, is_exact, value }
    }
}

/// Writes a field and a comma.
fn write_field(json: &mut Vec<u8>, name: &str, value: &Value) {
    // Writing to memory does not fail.
    let _ = write!(json, "{}:{value},", Value::from(name));
}

fn labels_of(value: &Value) -> Labels {
    let labels = value.pointer("/metadata/labels").and_then(Value::as_object);
    let text = |(key, value): (&String, &Value)| Some((key.as_str().into(), value.as_str()?.into()));
    // They are sorted, as all fields of a value are.
    labels.into_iter().flatten().filter_map(text).collect()
}

fn has_fractions(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_fractions),
        Value::Object(fields) => fields.values().any(has_fractions),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// Writes `metadata.resourceVersion`; a value that is no object stays as it is.
fn set_revision(value: &mut Value, revision: u64) {
    let Some(object) = value.as_object_mut() else { return };
    let metadata = object.entry("metadata").or_insert(Value::Null);
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    if let Some(metadata) = metadata.as_object_mut() {
        metadata.insert("resourceVersion".to_owned(), Value::from(revision.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn json_of(object: &Object) -> Value {
        serde_json::from_slice(object.json()).expect("JSON")
    }

    #[test]
    fn an_object_is_its_value_at_its_revision() {
        let value = json!({
            "apiVersion": "v1",
            "aKind": {"resourceVersion": "1"},
            "kind": "ConfigMap",
            "metadata": {"labels": {"b": "2", "a": "1"}, "name": "x", "resourceVersion": "3"},
            "data": {"k\"": "\u{1f600}"},
        });
        let mut expected = value.clone();
        expected["metadata"]["resourceVersion"] = json!("17");
        let object = Draft::new(value).at(17);
        assert_eq!(object.value(), &expected);
        assert_eq!(json_of(&object), expected);
        assert_eq!(object.undecoded().value(), &expected);
        assert_eq!((object.label("a"), object.label("b"), object.label("c")), (Some("1"), Some("2"), None));
    }

    #[test]
    fn in_a_list_it_has_no_kind() {
        let object = Draft::new(json!({"apiVersion": "v1", "data": {}, "kind": "K", "metadata": {}})).at(5);
        let item = [b"{", object.json_after_kind()].concat();
        let item: Value = serde_json::from_slice(&item).expect("JSON");
        assert_eq!(item, json!({"data": {}, "metadata": {"resourceVersion": "5"}}));
    }

    #[test]
    fn what_is_no_object_of_the_api_is_kept_as_well() {
        for value in [json!(null), json!("text"), json!([1])] {
            assert_eq!(json_of(&Draft::new(value.clone()).at(9)), value);
        }
        for value in [json!({}), json!({"metadata": 1})] {
            let object = Draft::new(value).at(9);
            assert_eq!(json_of(&object), json!({"metadata": {"resourceVersion": "9"}}));
            assert_eq!(object.value(), &json_of(&object));
        }
    }

    #[test]
    fn a_draft_is_like_what_differs_by_the_revision_alone() {
        let value = |version: &str, data: &str| json!({"kind": "K", "metadata": {"resourceVersion": version}, "data": data});
        let object = Draft::new(value("1", "a")).at(12);
        assert!(object.is_like(&Draft::new(value("", "a"))));
        assert!(!object.is_like(&Draft::new(value("12", "b"))));
        assert!(!object.is_like(&Draft::new(json!({"kind": "L", "metadata": {}, "data": "a"}))));
    }

    proptest! {
        #[test]
        fn numbers_outlast_being_stored(number in prop::num::f64::NORMAL, whole: i64) {
            let value = json!({"metadata": {"resourceVersion": "2"}, "spec": [number, whole]});
            let decoded = Draft::new(value.clone()).at(2).undecoded();
            prop_assert_eq!(decoded.value(), &value);
        }
    }
}
