use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value};

use super::error::WireError;
use super::reader::Reader;
use crate::types::Special;

/// The JSON form of a special type whose fields are scalars. `None`: the value is absent.
///
/// Types that hold other messages (`JSONSchemaPropsOr...`) are decoded like any message and then put in form by
/// [`collapse`].
pub(super) fn scalar(special: Special, message: &[u8]) -> Result<Option<Value>, WireError> {
    let fields = Scalars::read(message)?;
    Ok(match special {
        Special::Quantity => Some(Value::String(fields.text(1))),
        // Go writes the zero time as an empty message.
        Special::Time | Special::MicroTime if message.is_empty() => None,
        // Times have no fraction in JSON, so what a client sends of one is dropped here as the real server does.
        Special::Time => Some(timestamp(fields.number(1), 0)?.to_string().into()),
        Special::MicroTime => {
            let time = timestamp(fields.number(1), fields.number(2))?;
            Some(time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string().into())
        }
        Special::IntOrString if fields.number(1) == 0 => Some(Value::from(int32(fields.number(2)))),
        Special::IntOrString => Some(Value::String(fields.text(3))),
        Special::RawExtension | Special::FieldsV1 | Special::Json => match fields.bytes(1) {
            [] => None,
            raw => Some(serde_json::from_slice(raw).map_err(|error| WireError::Json(error.to_string()))?),
        },
        Special::List => Some(Value::Array(fields.all(1))),
        Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStringArray => None,
    })
}

/// Whether [`scalar`] decodes this type.
pub(super) fn is_scalar(special: Special) -> bool {
    !matches!(special, Special::SchemaOrArray | Special::SchemaOrBool | Special::SchemaOrStringArray)
}

/// Puts a decoded union of JSON schema into its JSON form: the one member that is set.
pub(super) fn collapse(special: Special, mut members: Map<String, Value>) -> Value {
    let list = match special {
        Special::SchemaOrArray => members.remove("jSONSchemas"),
        Special::SchemaOrStringArray => members.remove("property"),
        _ => None,
    };
    let allows = members.remove("allows");
    list.or_else(|| members.remove("schema")).or(allows).unwrap_or(Value::Null)
}

/// The JSON form of bytes.
pub(super) fn base64(bytes: &[u8]) -> Value {
    Value::String(STANDARD.encode(bytes))
}

/// Go keeps any bytes in a string and replaces what is not UTF-8 when it writes JSON.
pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Numbers of 32 bits come as 64 on the wire, sign-extended; the upper half is dropped as in every implementation.
#[expect(clippy::cast_possible_truncation, reason = "that is the definition of the wire format")]
pub(super) fn int32(value: i64) -> i32 {
    value as i32
}

fn timestamp(seconds: i64, nanoseconds: i64) -> Result<Timestamp, WireError> {
    let nanoseconds = i32::try_from(nanoseconds).map_err(|_| WireError::Range)?;
    Timestamp::new(seconds, nanoseconds).map_err(|_| WireError::Range)
}

/// The fields of a message that has only scalars.
struct Scalars<'a>(Vec<(u32, super::reader::Wire<'a>)>);

impl<'a> Scalars<'a> {
    fn read(message: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(message);
        let mut fields = Vec::new();
        while let Some(field) = reader.next()? {
            fields.push(field);
        }
        Ok(Self(fields))
    }

    fn bytes(&self, number: u32) -> &'a [u8] {
        let mut found = self.0.iter().rev().filter(|(other, _)| *other == number);
        found.find_map(|(_, wire)| wire.into_bytes().ok()).unwrap_or_default()
    }

    fn text(&self, number: u32) -> String {
        text(self.bytes(number))
    }

    fn number(&self, number: u32) -> i64 {
        let mut found = self.0.iter().rev().filter(|(other, _)| *other == number);
        found.find_map(|(_, wire)| wire.into_varint().ok()).unwrap_or_default().cast_signed()
    }

    fn all(&self, number: u32) -> Vec<Value> {
        let found = self.0.iter().filter(|(other, _)| *other == number);
        found.filter_map(|(_, wire)| wire.into_bytes().ok()).map(|bytes| Value::String(text(bytes))).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn times() {
        let message = [0x08, 0x80, 0xa2, 0x8a, 0xf4, 0x05, 0x10, 0x88, 0x27]; // 1585615104 s, 5000 ns
        assert_eq!(scalar(Special::Time, &message), Ok(Some(json!("2020-03-31T00:38:24Z"))));
        assert_eq!(scalar(Special::MicroTime, &message), Ok(Some(json!("2020-03-31T00:38:24.000005Z"))));
        assert_eq!(scalar(Special::Time, &[]), Ok(None));
    }

    #[test]
    fn int_or_string() {
        assert_eq!(scalar(Special::IntOrString, &[0x08, 0, 0x10, 80]), Ok(Some(json!(80))));
        assert_eq!(scalar(Special::IntOrString, &[0x08, 1, 0x1a, 2, b'5', b'%']), Ok(Some(json!("5%"))));
    }

    #[test]
    fn embedded_json_must_parse() {
        assert_eq!(scalar(Special::RawExtension, &[0x0a, 2, b'{', b'}']), Ok(Some(json!({}))));
        assert!(matches!(scalar(Special::RawExtension, &[0x0a, 1, b'{']), Err(WireError::Json(_))));
    }
}
