use std::{fmt, ops::RangeInclusive};

use kubewright_schema::{ErrorList, FieldError, FieldPath};
use serde_json::{Map, Value};

use super::{
    report::{Place, Report, Segment},
    shape,
};

static NULL: Value = Value::Null;

/// A field of an object that is being checked: its value, its place, and where faults are written.
///
/// What is not there reads as null, and as the empty text, list or map. A check is a function of a field that writes
/// what is wrong with it:
///
/// ```ignore
/// fn validate_port(port: Field<'_>) {
///     if port.child("name").is_set() {
///         port.child("name").check(names::dns1123_label);
///     }
///     port.child("containerPort").in_range(1..=65535);
/// }
/// ```
#[derive(Clone, Copy)]
pub(crate) struct Field<'a> {
    value: &'a Value,
    place: Place,
    report: &'a Report,
}

impl fmt::Debug for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Field").field("path", &self.path().as_str()).field("value", self.value).finish()
    }
}

// === impl Field: reading ===

impl<'a> Field<'a> {
    /// The object itself.
    pub(crate) fn root(object: &'a Value, report: &'a Report) -> Self {
        Self { value: object, place: Place::default(), report }
    }

    /// The field `name` below this one.
    pub(crate) fn child(self, name: &'static str) -> Self {
        let value = self.value.get(name).unwrap_or(&NULL);
        Self { value, ..self.at(name) }
    }

    /// The place `name` below this one with this one's value: for faults that Kubernetes reports where the JSON has no
    /// field.
    pub(crate) fn at(self, name: &'static str) -> Self {
        Self { place: self.report.below(self.place, Segment::Child(name)), ..self }
    }

    /// The place of the entry `index` with this one's value.
    pub(crate) fn at_index(self, index: usize) -> Self {
        Self { place: self.report.below(self.place, Segment::Index(index)), ..self }
    }

    /// [`Field::at`] for a name that is not known beforehand.
    pub(crate) fn at_owned(self, name: &str) -> Self {
        Self { place: self.report.below(self.place, Segment::Owned(name.into())), ..self }
    }

    /// The place of the entry `key` with this one's value.
    pub(crate) fn at_key(self, key: &str) -> Self {
        Self { place: self.report.below(self.place, Segment::Key(key.into())), ..self }
    }

    /// The same place with another value.
    pub(crate) fn with(self, value: &'a Value) -> Self {
        Self { value, ..self }
    }

    /// The entry `key` of this map.
    pub(crate) fn entry(self, key: &str) -> Self {
        self.at_key(key).with(self.value.get(key).unwrap_or(&NULL))
    }

    /// The items of this list.
    pub(crate) fn items(self) -> impl DoubleEndedIterator<Item = Self> + ExactSizeIterator {
        self.list().iter().enumerate().map(move |(index, item)| self.at_index(index).with(item))
    }

    /// The entries of this map, each with its key.
    pub(crate) fn entries(self) -> impl Iterator<Item = (&'a str, Self)> {
        self.map().into_iter().flatten().map(move |(key, value)| (key.as_str(), self.at_key(key).with(value)))
    }

    pub(crate) fn value(self) -> &'a Value {
        self.value
    }

    /// The values of this list.
    pub(crate) fn list(self) -> &'a [Value] {
        self.value.as_array().map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn map(self) -> Option<&'a Map<String, Value>> {
        self.value.as_object()
    }

    /// The text, empty if there is none.
    pub(crate) fn text(self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    pub(crate) fn int(self) -> Option<i64> {
        self.value.as_i64()
    }

    /// The number, 0 if there is none.
    pub(crate) fn number(self) -> i64 {
        self.int().unwrap_or_default()
    }

    pub(crate) fn bool(self) -> Option<bool> {
        self.value.as_bool()
    }

    /// Whether the field is there and says true.
    pub(crate) fn is_true(self) -> bool {
        self.bool() == Some(true)
    }

    /// Whether there is anything, be it empty.
    pub(crate) fn is_set(self) -> bool {
        !self.value.is_null()
    }

    /// How many items or entries there are.
    pub(crate) fn len(self) -> usize {
        match self.value {
            Value::Array(items) => items.len(),
            Value::Object(entries) => entries.len(),
            _ => 0,
        }
    }

    /// Whether there is no text, item or entry.
    pub(crate) fn is_empty(self) -> bool {
        self.len() == 0 && self.text().is_empty()
    }

    pub(crate) fn path(self) -> FieldPath {
        self.report.path(self.place)
    }

    pub(crate) fn report(self) -> &'a Report {
        self.report
    }
}

// === impl Field: faults ===

impl Field<'_> {
    pub(crate) fn push(self, error: FieldError) {
        self.report.push(error);
    }

    pub(crate) fn extend(self, errors: ErrorList) {
        self.report.extend(errors);
    }

    /// `Required value: <detail>`.
    pub(crate) fn required(self, detail: impl Into<String>) {
        self.push(FieldError::required(&self.path(), detail));
    }

    /// `Invalid value: <value>: <detail>`.
    pub(crate) fn invalid(self, value: impl Into<Value>, detail: impl Into<String>) {
        self.push(FieldError::invalid(&self.path(), value, detail));
    }

    /// `Invalid value: <value>: <detail>` with the value as Go's own types show it.
    pub(crate) fn invalid_shown(self, shown: impl Into<String>, detail: impl Into<String>) {
        self.push(FieldError::invalid(&self.path(), self.value.clone(), detail).shown_as(shown));
    }

    /// `Invalid value: <value>: <detail>` with the value as one of an internal type of Kubernetes, such as
    /// `core.Toleration` or `[]core.PodIP`.
    pub(crate) fn invalid_as(self, shape: &str, detail: impl Into<String>) {
        self.invalid_shown(shape::show(shape, self.value), detail);
    }

    /// `Duplicate value: <value>`.
    pub(crate) fn duplicate(self, value: impl Into<Value>) {
        self.push(FieldError::duplicate(&self.path(), value));
    }

    /// [`Field::duplicate`] with the value as Go's own types show it.
    pub(crate) fn duplicate_shown(self, shown: impl Into<String>) {
        self.push(FieldError::duplicate(&self.path(), self.value.clone()).shown_as(shown));
    }

    /// [`Field::duplicate`] with the value as one of an internal type of Kubernetes.
    pub(crate) fn duplicate_as(self, shape: &str) {
        let error = FieldError::duplicate(&self.path(), self.value.clone());
        self.push(error.shown_as(shape::show(shape, self.value)));
    }

    /// `Not found: <value>`.
    pub(crate) fn not_found(self, value: impl Into<Value>) {
        self.push(FieldError::not_found(&self.path(), value));
    }

    /// `Forbidden: <detail>`.
    pub(crate) fn forbidden(self, detail: impl Into<String>) {
        self.push(FieldError::forbidden(&self.path(), detail));
    }

    /// `Forbidden: <detail>`, of no field.
    pub(crate) fn forbidden_nowhere(self, detail: impl Into<String>) {
        let mut error = FieldError::forbidden(&FieldPath::root(), detail);
        error.field.clear();
        self.push(error);
    }

    /// `Unsupported value: <value>: supported values: ...`, in the order given.
    pub(crate) fn not_supported<S: AsRef<str>>(self, value: impl Into<Value>, supported: &[S]) {
        self.push(FieldError::not_supported(&self.path(), value, supported));
    }

    /// [`Field::not_supported`] with the value as one of an internal type of Kubernetes.
    pub(crate) fn not_supported_as(self, shape: &str, supported: &[&str]) {
        let error = FieldError::not_supported(&self.path(), self.value.clone(), supported);
        self.push(error.shown_as(shape::show(shape, self.value)));
    }

    /// `Too long: may not be more than <max> bytes`.
    pub(crate) fn too_long(self, max: i64) {
        self.push(FieldError::too_long(&self.path(), max));
    }

    /// `Too long: may not be more than <max> characters`.
    pub(crate) fn too_long_characters(self, max: i64) {
        let mut error = FieldError::too_long(&self.path(), max);
        error.detail = error.detail.replace("byte", "character");
        self.push(error);
    }

    /// `Too many: <actual>: must have at most <max> items`.
    pub(crate) fn too_many(self, max: usize) {
        let count = |count| i64::try_from(count).unwrap_or(i64::MAX);
        self.push(FieldError::too_many(&self.path(), count(self.len()), count(max)));
    }

    /// `Internal error: <detail>`.
    pub(crate) fn internal(self, detail: impl Into<String>) {
        self.push(FieldError::internal(&self.path(), detail));
    }
}

// === impl Field: checks of one value ===

impl Field<'_> {
    /// Checks the text by one of the rules for names, which give reasons.
    pub(crate) fn check(self, rule: fn(&str) -> Vec<String>) {
        for reason in rule(self.text()) {
            self.invalid(self.text(), reason);
        }
    }

    /// Whether there is a text. It is required.
    pub(crate) fn require(self) -> bool {
        self.require_or("")
    }

    /// Whether there is a text. It is required, for the reason given.
    pub(crate) fn require_or(self, detail: &str) -> bool {
        let is_there = !self.text().is_empty();
        if !is_there {
            self.required(detail);
        }
        is_there
    }

    /// Checks that the text is one of the supported ones, which the message lists in the order given.
    pub(crate) fn one_of(self, supported: &[&str]) {
        if !supported.contains(&self.text()) {
            self.not_supported(self.text(), supported);
        }
    }

    /// Checks that the number, if there is one, is not below 0.
    pub(crate) fn not_negative(self) {
        if let Some(number) = self.int().filter(|number| *number < 0) {
            self.invalid(number, "must be greater than or equal to 0");
        }
    }

    /// Checks that the number, if there is one, is within a range.
    pub(crate) fn in_range(self, range: RangeInclusive<i64>) {
        if let Some(number) = self.int().filter(|number| !range.contains(number)) {
            self.invalid(number, format!("must be between {} and {}, inclusive", range.start(), range.end()));
        }
    }

    /// Checks that the value is that of `old`.
    pub(crate) fn immutable(self, old: Field<'_>) {
        if self.value != old.value {
            self.invalid(self.value.clone(), "field is immutable");
        }
    }

    /// [`Field::immutable`] with the value as one of an internal type of Kubernetes.
    pub(crate) fn immutable_as(self, old: Field<'_>, shape: &str) {
        if self.value != old.value {
            self.invalid_as(shape, "field is immutable");
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn faults_have_their_paths() {
        let object = json!({"spec": {"ports": [{"port": 1}, {"port": 0, "name": "A"}], "data": {"k": "v"}}});
        let report = Report::default();
        let spec = Field::root(&object, &report).child("spec");
        for port in spec.child("ports").items() {
            port.child("name").require();
            port.child("port").in_range(1..=5);
        }
        for (key, entry) in spec.child("data").entries() {
            entry.duplicate(key);
        }
        spec.child("none").at("at").at_index(3).forbidden("no");
        Field::root(&object, &report).required("");
        assert_eq!(
            report.into_errors().iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "spec.ports[0].name: Required value",
                "spec.ports[1].port: Invalid value: 0: must be between 1 and 5, inclusive",
                "spec.data[k]: Duplicate value: \"k\"",
                "spec.none.at[3]: Forbidden: no",
                "<nil>: Required value",
            ]
        );
    }
}
