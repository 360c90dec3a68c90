//! The protobuf form of OpenAPI v2 documents: the messages of `openapi.v2`, of which clients read the schemas.

use std::collections::BTreeMap;

use serde_json::Value;

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;

/// A message that is being written.
#[derive(Default)]
struct Message(Vec<u8>);

/// How a member of a schema is written.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Double,
    Flag,
    Integer,
}

/// The members of a schema that are one value, with their field.
const MEMBERS: [(&str, u32, Form); 18] = [
    ("$ref", 1, Form::Text),
    ("format", 2, Form::Text),
    ("title", 3, Form::Text),
    ("description", 4, Form::Text),
    ("multipleOf", 6, Form::Double),
    ("maximum", 7, Form::Double),
    ("exclusiveMaximum", 8, Form::Flag),
    ("minimum", 9, Form::Double),
    ("exclusiveMinimum", 10, Form::Flag),
    ("maxLength", 11, Form::Integer),
    ("minLength", 12, Form::Integer),
    ("pattern", 13, Form::Text),
    ("maxItems", 14, Form::Integer),
    ("minItems", 15, Form::Integer),
    ("uniqueItems", 16, Form::Flag),
    ("maxProperties", 17, Form::Integer),
    ("minProperties", 18, Form::Integer),
    ("readOnly", 27, Form::Flag),
];

/// What a `Document` begins with.
pub(super) fn head(document: &Value) -> Vec<u8> {
    let text = |pointer: &str| document.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let mut info = Message::default();
    info.text(1, text("/info/title"));
    info.text(2, text("/info/version"));
    let mut message = Message::default();
    message.text(1, text("/swagger"));
    message.message(2, &info);
    message.0
}

/// The field of a `Document` that has these schemas.
pub(super) fn definitions(schemas: &BTreeMap<String, Value>) -> Vec<u8> {
    let mut message = Message::default();
    message.message(9, &named(schemas));
    message.0
}

/// `Definitions` or `Properties`, which are alike.
fn named<'a>(schemas: impl IntoIterator<Item = (&'a String, &'a Value)>) -> Message {
    let mut all = Message::default();
    for (name, value) in schemas {
        let mut one = Message::default();
        one.text(1, name);
        one.message(2, &schema(value));
        all.message(1, &one);
    }
    all
}

fn schema(schema: &Value) -> Message {
    let mut message = Message::default();
    for (member, field, form) in MEMBERS {
        let Some(value) = schema.get(member) else { continue };
        match form {
            Form::Text => message.text(field, value.as_str().unwrap_or_default()),
            Form::Double => message.double(field, value.as_f64().unwrap_or_default()),
            Form::Flag => message.integer(field, value.as_bool().unwrap_or_default().into()),
            Form::Integer => message.integer(field, value.as_u64().unwrap_or_default()),
        }
    }
    for name in texts(schema.get("required")) {
        message.text(19, name);
    }
    for value in schema.get("enum").and_then(Value::as_array).into_iter().flatten() {
        message.message(20, &any(value));
    }
    match schema.get("additionalProperties") {
        Some(Value::Bool(allowed)) => {
            let mut item = Message::default();
            item.integer(2, (*allowed).into());
            message.message(21, &item);
        }
        Some(value) => message.message(21, &wrapped(value)),
        None => {}
    }
    if let Some(kind) = schema.get("type") {
        let mut item = Message::default();
        for kind in kind.as_str().into_iter().chain(texts(Some(kind))) {
            item.text(1, kind);
        }
        message.message(22, &item);
    }
    if let Some(items) = schema.get("items") {
        message.message(23, &wrapped(items));
    }
    if let Some(Value::Object(properties)) = schema.get("properties") {
        message.message(25, &named(properties));
    }
    for (name, value) in schema.as_object().into_iter().flatten() {
        if name.starts_with("x-") {
            let mut extension = Message::default();
            extension.text(1, name);
            extension.message(2, &any(value));
            message.message(31, &extension);
        }
    }
    message
}

/// A message whose first field is a schema.
fn wrapped(value: &Value) -> Message {
    let mut item = Message::default();
    item.message(1, &schema(value));
    item
}

/// A value as YAML, of which JSON is a part.
fn any(value: &Value) -> Message {
    let mut message = Message::default();
    message.text(2, &value.to_string());
    message
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

// === impl Message ===

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn tag(&mut self, field: u32, wire: u32) {
        self.varint((field << 3 | wire).into());
    }

    fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.tag(field, BYTES);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn message(&mut self, field: u32, message: &Self) {
        self.bytes(field, &message.0);
    }

    fn text(&mut self, field: u32, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn integer(&mut self, field: u32, value: u64) {
        self.tag(field, VARINT);
        self.varint(value);
    }

    fn double(&mut self, field: u32, value: f64) {
        self.tag(field, FIXED64);
        self.0.extend_from_slice(&value.to_le_bytes());
    }
}
