//! Order, equality and text of JSON values as structured merge diff defines them.
//!
//! They differ from `serde_json` in numbers (an integer and a float of equal value are equal) and in
//! having a total order, which decides where a path element stands in a set.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Number, Value};

/// Orders any two values: numbers, then strings, booleans, lists, maps and null.
pub(crate) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Number(l), Value::Number(r)) => compare_numbers(l, r),
        (Value::String(l), Value::String(r)) => l.cmp(r),
        (Value::Bool(l), Value::Bool(r)) => l.cmp(r),
        (Value::Array(l), Value::Array(r)) => compare_each(l.iter(), r.iter(), compare),
        (Value::Object(l), Value::Object(r)) => {
            compare_each(l.iter(), r.iter(), |(lk, lv), (rk, rv)| lk.cmp(rk).then_with(|| compare(lv, rv)))
        }
        _ => rank(left).cmp(&rank(right)),
    }
}

/// Whether two values are equal; `1` equals `1.0`.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(l), Value::Number(r)) => compare_numbers(l, r).is_eq(),
        (Value::Array(l), Value::Array(r)) => l.len() == r.len() && l.iter().zip(r).all(|(l, r)| equal(l, r)),
        (Value::Object(l), Value::Object(r)) => {
            l.len() == r.len() && l.iter().zip(r).all(|((lk, lv), (rk, rv))| lk == rk && equal(lv, rv))
        }
        _ => left == right,
    }
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Number(_) => 0,
        Value::String(_) => 1,
        Value::Bool(_) => 2,
        Value::Array(_) => 3,
        Value::Object(_) => 4,
        Value::Null => 5,
    }
}

fn compare_each<T>(
    mut left: impl Iterator<Item = T>,
    mut right: impl Iterator<Item = T>,
    compare: impl Fn(T, T) -> Ordering,
) -> Ordering {
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(l), Some(r)) => match compare(l, r) {
                Ordering::Equal => {}
                unequal => return unequal,
            },
        }
    }
}

fn compare_numbers(left: &Number, right: &Number) -> Ordering {
    match (left.as_i128(), right.as_i128()) {
        (Some(l), Some(r)) => l.cmp(&r),
        _ => {
            let (l, r) = (left.as_f64().unwrap_or_default(), right.as_f64().unwrap_or_default());
            l.partial_cmp(&r).unwrap_or(Ordering::Equal)
        }
    }
}

/// Writes a value as compact JSON the way Go does: whole floats without a fraction, `<`, `>` and `&`
/// escaped. It is the text inside path elements, which clients compare as strings.
pub(crate) fn write_json(out: &mut String, value: &Value) {
    match value {
        Value::Number(number) => write_number(out, number),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_json(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (i, (key, value)) in map.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_json_string(out, key);
                out.push(':');
                write_json(out, value);
            }
            out.push('}');
        }
        Value::String(text) => write_json_string(out, text),
        Value::Null | Value::Bool(_) => {
            let _ = write!(out, "{value}");
        }
    }
}

fn write_json_string(out: &mut String, text: &str) {
    let plain = Value::String(text.to_owned()).to_string();
    for c in plain.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(c),
        }
    }
}

/// Writes a number as Go's `encoding/json` does.
pub(crate) fn write_number(out: &mut String, number: &Number) {
    let written = match number.as_f64() {
        Some(float) if number.is_f64() => {
            let size = float.abs();
            if size != 0.0 && !(1e-6..1e21).contains(&size) {
                write!(out, "{float:e}")
            } else {
                write!(out, "{float}")
            }
        }
        _ => write!(out, "{number}"),
    };
    debug_assert!(written.is_ok());
}

/// Writes a value as people read it in paths and conflicts: strings quoted, lists in brackets.
pub(crate) fn write_readable(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_quoted(out, text),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                write_readable(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            for (key, value) in map {
                out.push_str(key);
                out.push('=');
                write_readable(out, value);
            }
        }
    }
}

/// Writes a string as Go's `%q` does.
pub(crate) fn write_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            c if c.is_ascii_control() => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if c.is_control() || c == '\u{feff}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// [`write_quoted`] into a new string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    write_quoted(&mut out, text);
    out
}

/// A value as Go's `%v` prints it: `map[a:1 b:[x y]]`, `<nil>`, strings bare.
pub(crate) fn go_plain(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => out.push_str(text),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(' ');
                }
                go_plain(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push_str("map[");
            for (i, (key, value)) in map.iter().enumerate() {
                if i > 0 {
                    out.push(' ');
                }
                out.push_str(key);
                out.push(':');
                go_plain(out, value);
            }
            out.push(']');
        }
    }
}

/// A value as Go's `%#v` prints it: `map[string]interface {}{"a":1}`.
pub(crate) fn go_syntax(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("interface {}(nil)"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(number) => write_number(out, number),
        Value::String(text) => write_quoted(out, text),
        Value::Array(items) => {
            out.push_str("[]interface {}{");
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                go_syntax(out, item);
            }
            out.push('}');
        }
        Value::Object(map) => {
            out.push_str("map[string]interface {}{");
            for (i, (key, value)) in map.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write_quoted(out, key);
                out.push(':');
                go_syntax(out, value);
            }
            out.push('}');
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn json_text(value: &Value) -> String {
        let mut out = String::new();
        write_json(&mut out, value);
        out
    }

    #[test]
    fn integers_and_floats_compare_by_value() {
        assert!(equal(&json!(1), &json!(1.0)));
        assert!(!equal(&json!(1), &json!("1")));
        assert_eq!(compare(&json!(2), &json!(10)), Ordering::Less);
        assert_eq!(compare(&json!(1.5), &json!(1)), Ordering::Greater);
        assert_eq!(compare(&json!(i64::MAX), &json!(i64::MAX - 1)), Ordering::Greater);
    }

    #[test]
    fn kinds_have_a_fixed_order() {
        let ordered = [json!(3), json!("a"), json!(false), json!([1]), json!({"a": 1}), Value::Null];
        for pair in ordered.windows(2) {
            assert_eq!(compare(&pair[0], &pair[1]), Ordering::Less, "{pair:?}");
        }
    }

    #[test]
    fn json_is_written_as_go_writes_it() {
        assert_eq!(json_text(&json!(8080.0)), "8080");
        assert_eq!(json_text(&json!(1.5)), "1.5");
        assert_eq!(json_text(&json!({"a": "<&>"})), r#"{"a":"\u003c\u0026\u003e"}"#);
        assert_eq!(quoted("a\"b\n\u{1}é"), r#""a\"b\n\x01é""#);
    }
}
