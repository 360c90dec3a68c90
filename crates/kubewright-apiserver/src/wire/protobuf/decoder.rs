use serde_json::{Map, Number, Value};

use super::error::{ProtobufError, WireError};
use super::messages::{Field, MessageId, Messages, Shape, Type};
use super::reader::{Reader, Wire};
use super::special;
use super::{MAGIC, MAX_DEPTH};
use crate::types::Special;

/// Decodes a protobuf body of a built-in kind to the JSON value that a client would have sent instead.
///
/// Fields that JSON would leave out (zeros of fields with `omitempty`, zero times) are left out. Unknown fields are
/// ignored, as in every protobuf implementation.
///
/// # Errors
///
/// If the body is not an encoded Kubernetes object, its kind is not built in, or a field is broken.
pub fn decode(body: &[u8]) -> Result<Value, ProtobufError> {
    let envelope = Envelope::read(body)?;
    decode_envelope(&envelope, 0)
}

/// `runtime.Unknown`: the type of an object and its encoded form.
struct Envelope<'a> {
    api_version: String,
    kind: String,
    raw: &'a [u8],
}

impl<'a> Envelope<'a> {
    fn read(body: &'a [u8]) -> Result<Self, ProtobufError> {
        let body = body.strip_prefix(MAGIC).ok_or(ProtobufError::NoPrefix)?;
        let mut envelope = Self { api_version: String::new(), kind: String::new(), raw: &[] };
        envelope.fill(body).map_err(ProtobufError::Envelope)?;
        Ok(envelope)
    }

    fn fill(&mut self, body: &'a [u8]) -> Result<(), WireError> {
        let mut reader = Reader::new(body);
        while let Some((number, wire)) = reader.next()? {
            match number {
                1 => {
                    let mut type_meta = Reader::new(wire.into_bytes()?);
                    while let Some((number, wire)) = type_meta.next()? {
                        match number {
                            1 => self.api_version = special::text(wire.into_bytes()?),
                            2 => self.kind = special::text(wire.into_bytes()?),
                            _ => {}
                        }
                    }
                }
                2 => self.raw = wire.into_bytes()?,
                _ => {} // the content encoding and type are informative only
            }
        }
        Ok(())
    }
}

fn decode_envelope(envelope: &Envelope<'_>, depth: usize) -> Result<Value, ProtobufError> {
    let Envelope { api_version, kind, raw } = envelope;
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    let messages = Messages::built_in();
    let id = messages
        .of_kind(group, version, kind)
        .ok_or_else(|| ProtobufError::UnknownKind { api_version: api_version.clone(), kind: kind.clone() })?;
    let mut object = Map::new();
    let result = Decoder { messages, depth }.message(id, raw, &mut object);
    result.map_err(|failure| ProtobufError::Malformed {
        api_version: api_version.clone(),
        kind: kind.clone(),
        field: failure.field(),
        reason: failure.reason,
    })?;
    object.insert("apiVersion".into(), api_version.clone().into());
    object.insert("kind".into(), kind.clone().into());
    Ok(Value::Object(object))
}

/// Decodes messages at one depth.
#[derive(Clone, Copy)]
struct Decoder<'a> {
    messages: &'a Messages,
    depth: usize,
}

/// Where and why decoding failed.
struct Failure {
    /// The segments of the path, innermost first.
    path: Vec<String>,
    reason: WireError,
}

impl Decoder<'_> {
    /// Decodes `message` into `object`, which may have fields of an earlier part of the same message.
    fn message(self, id: MessageId, message: &[u8], object: &mut Map<String, Value>) -> Result<(), Failure> {
        if self.depth >= MAX_DEPTH {
            return Err(WireError::TooDeep.into());
        }
        let inner = Self { depth: self.depth + 1, ..self };
        let descriptor = self.messages.get(id);
        let mut reader = Reader::new(message);
        while let Some((number, wire)) = reader.next()? {
            let Some(field) = descriptor.field(number) else { continue };
            inner.field(field, wire, object).map_err(|failure| failure.below(field))?;
        }
        for field in descriptor.fields() {
            if field.omit_empty
                && !field.pointer
                && !field.inline
                && object.get(&field.name).is_some_and(is_zero)
            {
                object.remove(&field.name);
            }
        }
        Ok(())
    }

    fn field(self, field: &Field, wire: Wire<'_>, object: &mut Map<String, Value>) -> Result<(), Failure> {
        match field.shape {
            Shape::One(Type::Message(id)) if field.inline => {
                self.message(id, wire.into_bytes()?, object)?;
            }
            Shape::One(Type::Message(id)) if self.messages.get(id).special.is_none() => {
                // Parts of one message that come apart are merged.
                let mut inner = match object.remove(&field.name) {
                    Some(Value::Object(earlier)) => earlier,
                    _ => Map::new(),
                };
                self.message(id, wire.into_bytes()?, &mut inner)?;
                object.insert(field.name.clone(), Value::Object(inner));
            }
            Shape::One(kind) => {
                if let Some(value) = self.value(kind, wire)? {
                    object.insert(field.name.clone(), value);
                }
            }
            Shape::Repeated(kind) => {
                let slot = object.entry(field.name.as_str()).or_insert_with(|| Value::Array(Vec::new()));
                let Value::Array(items) = slot else { return Ok(()) };
                match (kind, wire) {
                    (Type::Bool | Type::Int32 | Type::Int64, Wire::Bytes(packed)) => {
                        let mut reader = Reader::new(packed);
                        while !reader.is_empty() {
                            items.extend(self.value(kind, Wire::Varint(reader.varint()?))?);
                        }
                    }
                    (Type::Double, Wire::Bytes(packed)) => {
                        let mut reader = Reader::new(packed);
                        while !reader.is_empty() {
                            let bits = u64::from_le_bytes(reader.array()?);
                            items.extend(self.value(kind, Wire::Fixed64(bits))?);
                        }
                    }
                    _ => {
                        let item = self.value(kind, wire).map_err(|failure| failure.at(items.len()))?;
                        items.push(item.unwrap_or(Value::Null));
                    }
                }
            }
            Shape::Map(kind) => {
                let (key, value) = self.entry(kind, wire.into_bytes()?)?;
                let slot = object.entry(field.name.as_str()).or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(entries) = slot {
                    entries.insert(key, value);
                }
            }
        }
        Ok(())
    }

    /// One entry of a map: a message of key and value, where an absent one is the zero.
    fn entry(self, kind: Type, entry: &[u8]) -> Result<(String, Value), Failure> {
        let (mut key, mut value) = (String::new(), None);
        let mut reader = Reader::new(entry);
        while let Some((number, wire)) = reader.next()? {
            match number {
                1 => key = special::text(wire.into_bytes()?),
                2 => value = Some(wire),
                _ => {}
            }
        }
        let zero = match kind {
            Type::Bool | Type::Int32 | Type::Int64 => Wire::Varint(0),
            Type::Double => Wire::Fixed64(0),
            Type::String | Type::Bytes | Type::Message(_) => Wire::Bytes(&[]),
        };
        let value = self.value(kind, value.unwrap_or(zero)).map_err(|failure| failure.within(&key))?;
        Ok((key, value.unwrap_or(Value::Null)))
    }

    /// `None`: JSON has nothing for this value.
    fn value(self, kind: Type, wire: Wire<'_>) -> Result<Option<Value>, Failure> {
        Ok(Some(match kind {
            Type::String => Value::String(special::text(wire.into_bytes()?)),
            Type::Bytes => special::base64(wire.into_bytes()?),
            Type::Bool => Value::Bool(wire.into_varint()? != 0),
            Type::Int32 => Value::from(special::int32(wire.into_varint()?.cast_signed())),
            Type::Int64 => Value::from(wire.into_varint()?.cast_signed()),
            Type::Double => {
                let Wire::Fixed64(bits) = wire else {
                    return Err(WireError::WireType(wire.number()).into());
                };
                Value::Number(Number::from_f64(f64::from_bits(bits)).ok_or(WireError::Range)?)
            }
            Type::Message(id) => return self.whole_message(id, wire.into_bytes()?),
        }))
    }

    fn whole_message(self, id: MessageId, message: &[u8]) -> Result<Option<Value>, Failure> {
        match self.messages.get(id).special {
            Some(Special::RawExtension) => self.raw_extension(message),
            Some(special) if special::is_scalar(special) => Ok(special::scalar(special, message)?),
            Some(special) => {
                let mut members = Map::new();
                self.message(id, message, &mut members)?;
                Ok(Some(special::collapse(special, members)))
            }
            None => {
                let mut object = Map::new();
                self.message(id, message, &mut object)?;
                Ok(Some(Value::Object(object)))
            }
        }
    }

    /// An embedded object is JSON, or protobuf in an envelope of its own.
    fn raw_extension(self, message: &[u8]) -> Result<Option<Value>, Failure> {
        let mut reader = Reader::new(message);
        let mut raw: &[u8] = &[];
        while let Some((number, wire)) = reader.next()? {
            if number == 1 {
                raw = wire.into_bytes()?;
            }
        }
        if !raw.starts_with(MAGIC) {
            return Ok(special::scalar(Special::RawExtension, message)?);
        }
        if self.depth >= MAX_DEPTH {
            return Err(WireError::TooDeep.into());
        }
        let inner = Envelope::read(raw).and_then(|envelope| decode_envelope(&envelope, self.depth + 1));
        inner.map(Some).map_err(|error| match error {
            ProtobufError::Malformed { reason, .. } | ProtobufError::Envelope(reason) => reason.into(),
            other => WireError::Embedded(other.to_string()).into(),
        })
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

// === impl Failure ===

impl Failure {
    fn below(mut self, field: &Field) -> Self {
        if !field.inline {
            self.path.push(field.name.clone());
        }
        self
    }

    fn at(mut self, index: usize) -> Self {
        self.path.push(format!("[{index}]"));
        self
    }

    fn within(mut self, key: &str) -> Self {
        self.path.push(format!("[{key}]"));
        self
    }

    fn field(&self) -> String {
        let mut path = String::new();
        for segment in self.path.iter().rev() {
            if !path.is_empty() && !segment.starts_with('[') {
                path.push('.');
            }
            path.push_str(segment);
        }
        path
    }
}

impl From<WireError> for Failure {
    fn from(reason: WireError) -> Self {
        Self { path: Vec::new(), reason }
    }
}
