//! What a scalar means.

use base64::Engine as _;
use serde_json::{Number, Value};

use super::{reader::Dialect, timestamp};

/// A scalar: its text after escapes, and what its tag and its quotes say.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Scalar {
    pub(super) text: String,
    /// What the text was taken for when it was read. Nothing for a text that was put in since: it is what it looks
    /// like.
    pub(super) kind: Option<Kind>,
    /// Written in quotes or as a block, hence no number.
    pub(super) quoted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Null,
    Bool,
    Int,
    Float,
    Timestamp,
    Binary,
    Str,
}

impl Scalar {
    pub(crate) fn string(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Some(Kind::Str), quoted: false }
    }

    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: None, quoted: false }
    }

    /// A scalar of a kind other than a string.
    pub(crate) fn of(text: impl Into<String>, kind: Kind) -> Self {
        Self { text: text.into(), kind: Some(kind), quoted: false }
    }

    /// A scalar as the reader finds it, with the kind of its tag if it has one.
    pub(super) fn read(text: &str, tag: Option<Kind>, quoted: bool, dialect: Dialect) -> Self {
        let kind = match tag {
            Some(kind) => kind,
            None if quoted => Kind::Str,
            None => resolve(text, dialect).0,
        };
        Self { text: text.to_owned(), kind: Some(kind), quoted }
    }

    /// The same with or without quotes, as `other` has them.
    pub(crate) fn written_as(self, other: &Self) -> Self {
        Self { quoted: other.quoted, ..self }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Puts another text in; what it was taken for stays.
    pub(crate) fn set_text(&mut self, text: impl Into<String>) {
        self.text = text.into();
    }

    pub(crate) fn is_null(&self) -> bool {
        self.kind == Some(Kind::Null)
    }

    /// A string, or a text that was put in and may become anything.
    pub(crate) fn is_string(&self) -> bool {
        matches!(self.kind, None | Some(Kind::Str))
    }

    /// The value after writing the scalar and reading it again.
    pub(super) fn to_json(&self, dialect: Dialect) -> Result<Value, String> {
        let string = || Ok(Value::String(self.text.clone()));
        let kind = match self.kind {
            Some(Kind::Str) => return string(),
            None if self.quoted || self.text.contains('\n') => return string(),
            None => return finite(resolve(&self.text, dialect), &self.text),
            Some(kind) => kind,
        };
        if kind == Kind::Binary {
            let compact: String = self.text.split_whitespace().collect();
            return base64::engine::general_purpose::STANDARD
                .decode(compact)
                .ok()
                .and_then(|bytes| String::from_utf8(bytes).ok())
                .map(Value::String)
                .ok_or_else(|| "a value tagged !!binary is no base64 of UTF-8 text".to_owned());
        }
        let (means, value) = resolve(&self.text, dialect);
        if means == kind {
            // The tag is not written, and then quotes decide.
            return if self.quoted { string() } else { finite((means, value), &self.text) };
        }
        match (kind, value) {
            (Kind::Float, Value::Number(number)) => Ok(number.as_f64().map_or(Value::Null, Value::from)),
            _ => Err(format!("`{}` cannot be {}, which it replaces", self.text, kind.name())),
        }
    }

    pub(super) fn from_json(value: &Value) -> Self {
        let (text, kind) = match value {
            Value::Null => ("null".to_owned(), Kind::Null),
            Value::Bool(flag) => (flag.to_string(), Kind::Bool),
            Value::Number(number) if number.is_f64() => (number.to_string(), Kind::Float),
            Value::Number(number) => (number.to_string(), Kind::Int),
            Value::String(text) => {
                let quoted = text.contains('\n') || resolve(text, Dialect::Version1).0 != Kind::Str;
                return Self { text: text.clone(), kind: Some(Kind::Str), quoted };
            }
            Value::Array(_) | Value::Object(_) => (String::new(), Kind::Str),
        };
        Self { text, kind: Some(kind), quoted: false }
    }
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Int => "an integer",
            Self::Float => "a number",
            Self::Timestamp => "a timestamp",
            Self::Binary => "binary data",
            Self::Str => "a string",
        }
    }
}

fn finite((kind, value): (Kind, Value), text: &str) -> Result<Value, String> {
    if kind == Kind::Float && value.is_null() {
        return Err(format!("`{text}` is no number that JSON has"));
    }
    Ok(value)
}

/// What a plain text is. A float that JSON does not have is null.
fn resolve(text: &str, dialect: Dialect) -> (Kind, Value) {
    let string = || (Kind::Str, Value::String(text.to_owned()));
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return (Kind::Null, Value::Null),
        "true" | "True" | "TRUE" => return (Kind::Bool, Value::Bool(true)),
        "false" | "False" | "FALSE" => return (Kind::Bool, Value::Bool(false)),
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" | "-.inf"
        | "-.Inf" | "-.INF" => return (Kind::Float, Value::Null),
        _ => {}
    }
    if dialect == Dialect::Version1 {
        match text {
            "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return (Kind::Bool, Value::Bool(true)),
            "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => {
                return (Kind::Bool, Value::Bool(false));
            }
            _ => {}
        }
    }
    match text.as_bytes()[0] {
        b'.' => float(text).map_or_else(string, |value| (Kind::Float, value)),
        b'0'..=b'9' | b'+' | b'-' => {
            if let Some(time) = timestamp::parse(text) {
                // Version 1 reads them, and keeps the text.
                return match dialect {
                    Dialect::Version1 => string(),
                    Dialect::Version2 => (Kind::Timestamp, Value::String(time)),
                };
            }
            let digits = text.replace('_', "");
            if let Some(number) = integer(&digits) {
                return (Kind::Int, Value::Number(number));
            }
            float(&digits).map_or_else(string, |value| (Kind::Float, value))
        }
        _ => string(),
    }
}

/// An integer of 64 bits in decimal, or with a prefix that tells its base. A leading zero tells eight.
fn integer(text: &str) -> Option<Number> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => ("-", &text[1..]),
        b'+' => ("", &text[1..]),
        _ => ("", text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        Some(_) if digits.starts_with('0') => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !digits.starts_with(|first: char| first.is_digit(radix)) {
        return None;
    }
    if let Ok(signed) = i64::from_str_radix(&format!("{sign}{digits}"), radix) {
        return Some(signed.into());
    }
    // Only a number without any sign may need the last bit.
    (text.as_bytes()[0].is_ascii_digit()).then(|| u64::from_str_radix(digits, radix).ok())?.map(Number::from)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, within the range of a float.
fn float(text: &str) -> Option<Value> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_decimal = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    let float: f64 = is_decimal.then(|| text.parse().ok())??;
    Number::from_f64(float).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &str, dialect: Dialect) -> Value {
        Scalar::read(text, None, false, dialect).to_json(dialect).unwrap()
    }

    #[test]
    fn plain_texts_are_numbers_in_every_notation_of_go() {
        for (text, expected) in [
            ("0777", json!(511)),
            ("0o17", json!(15)),
            ("0x1F", json!(31)),
            ("-0b11", json!(-3)),
            ("1_000", json!(1000)),
            ("+5", json!(5)),
            ("18446744073709551615", json!(u64::MAX)),
            ("1e3", json!(1000.0)),
            (".5", json!(0.5)),
            ("08", json!(8.0)),
            ("0", json!(0)),
            ("-", json!("-")),
            ("1.2.3", json!("1.2.3")),
            ("0x", json!("0x")),
            ("--1", json!("--1")),
            ("+-1", json!("+-1")),
            ("1e999", json!("1e999")),
        ] {
            assert_eq!(value(text, Dialect::Version2), expected, "{text}");
        }
    }

    #[test]
    fn the_dialects_differ_in_booleans_and_times() {
        assert_eq!(value("yes", Dialect::Version1), json!(true));
        assert_eq!(value("yes", Dialect::Version2), json!("yes"));
        assert_eq!(value("2020-01-02", Dialect::Version1), json!("2020-01-02"));
        assert_eq!(value("2020-01-02", Dialect::Version2), json!("2020-01-02T00:00:00Z"));
    }

    #[test]
    fn a_replaced_text_keeps_quotes_and_kind() {
        let mut quoted = Scalar::read("80", None, true, Dialect::Version2);
        quoted.set_text("81");
        assert_eq!(quoted.to_json(Dialect::Version2), Ok(json!("81")));
        let mut number = Scalar::read("80", None, false, Dialect::Version2);
        number.set_text("81");
        assert_eq!(number.to_json(Dialect::Version2), Ok(json!(81)));
        number.set_text("http");
        assert_eq!(
            number.to_json(Dialect::Version2).unwrap_err(),
            "`http` cannot be an integer, which it replaces"
        );
    }
}
