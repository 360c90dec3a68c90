use jiff::Timestamp;
use serde_json::{Map, Value};

use super::duration;
use crate::selector::LabelSelector;

/// Reads an object without caring whether a field is there: absent is the zero, as in Kubernetes' typed objects.
///
/// Paths are JSON pointers.
#[derive(Clone, Copy)]
pub(super) struct Object<'a> {
    value: &'a Value,
    now: Timestamp,
}

impl<'a> Object<'a> {
    pub(super) fn new(value: &'a Value, now: Timestamp) -> Self {
        Self { value, now }
    }

    pub(super) fn now(self) -> Timestamp {
        self.now
    }

    pub(super) fn get(self, path: &str) -> Option<Self> {
        let value = self.value.pointer(path).filter(|value| !value.is_null())?;
        Some(Self { value, ..self })
    }

    pub(super) fn has(self, path: &str) -> bool {
        self.get(path).is_some()
    }

    pub(super) fn text(self, path: &str) -> &'a str {
        self.value.pointer(path).and_then(Value::as_str).unwrap_or_default()
    }

    /// The text, or another where it is empty.
    pub(super) fn text_or(self, path: &str, absent: &'a str) -> &'a str {
        match self.text(path) {
            "" => absent,
            text => text,
        }
    }

    pub(super) fn int(self, path: &str) -> i64 {
        self.value.pointer(path).and_then(Value::as_i64).unwrap_or_default()
    }

    pub(super) fn bool(self, path: &str) -> bool {
        self.bool_or(path, false)
    }

    pub(super) fn bool_or(self, path: &str, absent: bool) -> bool {
        self.value.pointer(path).and_then(Value::as_bool).unwrap_or(absent)
    }

    pub(super) fn list(
        self,
        path: &str,
    ) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator + use<'a> {
        let items = self.value.pointer(path).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        items.iter().map(move |value| Self { value, ..self })
    }

    pub(super) fn texts(self, path: &str) -> Vec<&'a str> {
        self.list(path).filter_map(|item| item.value.as_str()).collect()
    }

    /// The number of items of a list or entries of a map.
    pub(super) fn len(self, path: &str) -> i64 {
        let len = match self.value.pointer(path) {
            Some(Value::Array(items)) => items.len(),
            Some(Value::Object(entries)) => entries.len(),
            _ => 0,
        };
        i64::try_from(len).unwrap_or(i64::MAX)
    }

    pub(super) fn map(self, path: &str) -> Option<&'a Map<String, Value>> {
        self.value.pointer(path).and_then(Value::as_object)
    }

    /// A quantity; zero where there is none.
    pub(super) fn quantity(self, path: &str) -> String {
        self.get(path).map_or_else(|| "0".into(), Self::to_text)
    }

    /// A string as it is and a number in decimal: the form of `IntOrString` and quantities.
    pub(super) fn to_text(self) -> String {
        self.value.as_str().map_or_else(|| self.value.to_string(), str::to_owned)
    }

    pub(super) fn name(self) -> &'a str {
        self.text("/metadata/name")
    }

    pub(super) fn deleting(self) -> bool {
        self.has("/metadata/deletionTimestamp")
    }

    /// The time since creation.
    pub(super) fn age(self) -> String {
        self.since("/metadata/creationTimestamp")
    }

    /// The time since the time at `path`.
    pub(super) fn since(self, path: &str) -> String {
        duration::age(self.value.pointer(path).and_then(Value::as_str), self.now)
    }

    /// The condition of this type in `/status/conditions`.
    pub(super) fn condition(self, kind: &str) -> Option<Self> {
        self.list("/status/conditions").find(|condition| condition.text("/type") == kind)
    }

    pub(super) fn condition_is_true(self, kind: &str) -> bool {
        self.condition(kind).is_some_and(|condition| condition.text("/status") == "True")
    }

    /// The names and the images of containers.
    pub(super) fn containers(self, path: &str) -> (String, String) {
        let column =
            |field| self.list(path).map(|container| container.text(field)).collect::<Vec<_>>().join(",");
        (column("/name"), column("/image"))
    }

    /// A map of labels in one line.
    pub(super) fn labels(self, path: &str) -> String {
        let pairs = self.map(path).into_iter().flatten();
        let pairs = pairs.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
        match pairs.collect::<Vec<_>>() {
            pairs if pairs.is_empty() => "<none>".into(),
            pairs => pairs.join(","),
        }
    }

    /// A `LabelSelector` in one line.
    pub(super) fn selector(self, path: &str) -> String {
        match self.selector_text(path) {
            Some(text) if text.is_empty() => "<none>".into(),
            Some(text) => text,
            None => "<error>".into(),
        }
    }

    /// A `LabelSelector` in one line, empty for everything; `None` if it is invalid.
    pub(super) fn selector_text(self, path: &str) -> Option<String> {
        let selector = self.get(path).map(|selector| selector.value);
        selector.map_or_else(
            || Some(String::new()),
            |selector| LabelSelector::from_object(Some(selector)).ok().map(|selector| selector.to_string()),
        )
    }
}
