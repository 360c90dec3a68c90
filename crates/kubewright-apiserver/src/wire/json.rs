use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// A document and the keys that stand in it more than once, in the order of the document. The last value of a
/// key counts, as in Go.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) value: Value,
    pub(crate) duplicates: Vec<String>,
}

impl Document {
    /// The duplicates, in words.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.duplicates.iter().map(|path| format!("duplicate field {path:?}")).collect()
    }
}

/// Reads JSON.
pub(crate) fn parse(bytes: &[u8]) -> Result<Document, serde_json::Error> {
    let mut duplicates = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Reader { path: String::new(), duplicates: &mut duplicates }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(Document { value, duplicates })
}

/// Builds a `Value` as `Value`'s own `Deserialize` does, and remembers duplicates on the way.
struct Reader<'a> {
    path: String,
    duplicates: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            let path = format!("{}[{}]", self.path, items.len());
            match access.next_element_seed(Reader { path, duplicates: self.duplicates })? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let path = if self.path.is_empty() { key.clone() } else { format!("{}.{key}", self.path) };
            if object.contains_key(&key) && !self.duplicates.contains(&path) {
                self.duplicates.push(path.clone());
            }
            let value = access.next_value_seed(Reader { path, duplicates: self.duplicates })?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut duplicates = Vec::new();
        let value = Reader { path: String::new(), duplicates: &mut duplicates }.deserialize(deserializer)?;
        Ok(Self { value, duplicates })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn duplicates_are_named_by_their_paths() {
        let document = parse(br#"{"a":1,"a":2,"b":[{"c":1,"c":2,"c":3}]}"#).expect("valid JSON");
        assert_eq!(document.value, json!({"a": 2, "b": [{"c": 3}]}));
        assert_eq!(document.duplicates, ["a", "b[0].c"]);
    }

    #[test]
    fn what_follows_the_document_is_an_error() {
        assert!(parse(b"{} x").is_err());
        assert!(parse(b"").is_err());
    }
}
