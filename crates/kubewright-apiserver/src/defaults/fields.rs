use serde_json::{Map, Value};

/// The fields of an object, as code for defaults reads and sets them. Null is absent.
pub(super) type Fields = Map<String, Value>;

pub(super) fn absent(fields: &Fields, name: &str) -> bool {
    fields.get(name).is_none_or(Value::is_null)
}

pub(super) fn text<'a>(fields: &'a Fields, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn object<'a>(fields: &'a Fields, name: &str) -> Option<&'a Fields> {
    fields.get(name).and_then(Value::as_object)
}

pub(super) fn object_mut<'a>(fields: &'a mut Fields, name: &str) -> Option<&'a mut Fields> {
    fields.get_mut(name).and_then(Value::as_object_mut)
}

/// The object in a field whose Go struct is always there.
pub(super) fn always<'a>(fields: &'a mut Fields, name: &str) -> Option<&'a mut Fields> {
    default(fields, name, Map::new());
    object_mut(fields, name)
}

/// The objects in a list.
pub(super) fn items<'a>(fields: &'a mut Fields, name: &str) -> impl Iterator<Item = &'a mut Fields> {
    let items = fields.get_mut(name).and_then(Value::as_array_mut).map_or(&mut [][..], Vec::as_mut_slice);
    items.iter_mut().filter_map(Value::as_object_mut)
}

/// Sets a field that is a pointer, a list or a map in Go, if it is absent.
pub(super) fn default(fields: &mut Fields, name: &str, value: impl Into<Value>) {
    if absent(fields, name) {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Sets a string that is not a pointer in Go: the empty string is absent, too.
pub(super) fn default_text(fields: &mut Fields, name: &str, value: &str) {
    if absent(fields, name) || fields.get(name).is_some_and(|text| text == "") {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Sets a list or map that may not be empty.
pub(super) fn default_non_empty(fields: &mut Fields, name: &str, value: impl Into<Value>) {
    if is_empty(fields, name) {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Whether a list or map is absent or empty.
pub(super) fn is_empty(fields: &Fields, name: &str) -> bool {
    match fields.get(name) {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(entries)) => entries.is_empty(),
        Some(_) => false,
    }
}
