//! How Go prints and names values. Error texts contain them, so they must come out byte for byte alike.

use std::{fmt::Write, ops::Range};

use serde_json::{Number, Value};

/// Go's `%q`: a double-quoted string with Go escapes.
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
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
            // Writing to a string cannot fail.
            c if (c as u32) < 0x20 || c == '\u{7f}' => drop(write!(out, "\\x{:02x}", c as u32)),
            c if c.is_ascii() || is_printable(c) => out.push(c),
            c if (c as u32) < 0x1_0000 => drop(write!(out, "\\u{:04x}", c as u32)),
            c => drop(write!(out, "\\U{:08x}", c as u32)),
        }
    }
    out.push('"');
    out
}

/// Go's `unicode.IsPrint`. `char::escape_debug` knows which characters are printable, but has no predicate.
pub(crate) fn is_printable(c: char) -> bool {
    match c {
        ' '..='~' => true,
        c => !c.is_control() && !c.is_whitespace() && c.escape_debug().count() == 1,
    }
}

/// Go's `%v` of a 64-bit float: the shortest digits, with an exponent below 1e-4 and from 1e6 on.
pub(crate) fn float(value: f64) -> String {
    shortest(value, -4..6, 2)
}

/// A float as Go's `encoding/json` writes it.
fn json_float(value: f64) -> String {
    shortest(value, -6..21, 1)
}

/// The shortest digits that stand for the value, padded with zeros where `plain` holds the exponent. Rust would write
/// the exact value instead.
fn shortest(value: f64, plain: Range<i32>, least_digits: usize) -> String {
    let scientific = format!("{value:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !plain.contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        let width = if exponent < 0 { least_digits } else { 2 };
        return format!("{mantissa}e{sign}{:0width$}", exponent.unsigned_abs());
    }
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits = mantissa.replace('.', "");
    match usize::try_from(exponent) {
        Err(_) => {
            let zeros = usize::try_from(-exponent - 1).unwrap_or(0);
            format!("{sign}0.{}{digits}", "0".repeat(zeros))
        }
        Ok(exponent) if digits.len() <= exponent + 1 => {
            format!("{sign}{digits}{}", "0".repeat(exponent + 1 - digits.len()))
        }
        Ok(exponent) => {
            let (whole, fraction) = digits.split_at(exponent + 1);
            format!("{sign}{whole}.{fraction}")
        }
    }
}

/// Go's `%v` of a JSON number after Kubernetes decoded it: integers that fit 64 signed bits stay integers,
/// everything else is a float.
pub fn number(number: &Number) -> String {
    match (number.as_i64(), number.as_f64()) {
        (Some(integer), _) => integer.to_string(),
        (None, Some(value)) => float(value),
        (None, None) => number.to_string(),
    }
}

/// Go's `%v` of a value after Kubernetes decoded it: `map[a:1 b:[c d]]`, keys sorted, strings as they are.
pub fn value(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(value) => number(value),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(self::value).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let fields: Vec<String> =
                fields.into_iter().map(|(name, field)| format!("{name}:{}", self::value(field))).collect();
            format!("map[{}]", fields.join(" "))
        }
    }
}

/// A value as Go's `encoding/json` writes it: compact, keys sorted, `<`, `>` and `&` escaped.
pub fn json(value: &Value) -> String {
    let mut out = String::new();
    write_json(value, &mut out);
    out
}

/// An object as Go's `encoding/json` writes a struct: the fields named in `order` first and in that order.
pub(crate) fn json_struct(object: &Value, order: &[&str]) -> String {
    let Some(fields) = object.as_object() else { return json(object) };
    let known = order.iter().filter_map(|name| fields.get_key_value(*name));
    let rest = fields.iter().filter(|(name, _)| !order.contains(&name.as_str()));
    let mut out = String::from("{");
    for (index, (name, field)) in known.chain(rest).enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_json_string(name, &mut out);
        out.push(':');
        write_json(field, &mut out);
    }
    out.push('}');
    out
}

/// [`json`] at the end of `out`.
pub fn write_json(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => drop(write!(out, "{integer}")),
            (None, Some(value)) => out.push_str(&json_float(value)),
            (None, None) => drop(write!(out, "{number}")),
        },
        Value::String(text) => write_json_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => {
            out.push('{');
            for (index, (key, field)) in fields.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_json_string(key, out);
                out.push(':');
                write_json(field, out);
            }
            out.push('}');
        }
    }
}

fn write_json_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => drop(write!(out, "\\u{:04x}", c as u32)),
            c if (c as u32) < 0x20 => drop(write!(out, "\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// The kind of a value, as the JSON decoder names it: `cannot unmarshal array into Go value`.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The type that holds an untyped value, as `%T` prints it.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn floats_print_as_in_go() {
        let cases: [(f64, &str, &str); 15] = [
            (0.0, "0", "0"),
            (1.0, "1", "1"),
            (-1.5, "-1.5", "-1.5"),
            (100_000.0, "100000", "100000"),
            (123_456.0, "123456", "123456"),
            (1_000_000.0, "1e+06", "1000000"),
            (12_345_678.5, "1.23456785e+07", "12345678.5"),
            (9.223_372_036_854_776e18, "9.223372036854776e+18", "9223372036854776000"),
            (1e20, "1e+20", "100000000000000000000"),
            (1e21, "1e+21", "1e+21"),
            (1.5e300, "1.5e+300", "1.5e+300"),
            (0.0001, "0.0001", "0.0001"),
            (0.000_05, "5e-05", "0.00005"),
            (1e-7, "1e-07", "1e-7"),
            (1e-9, "1e-09", "1e-9"),
        ];
        for (value, verb, encoded) in cases {
            assert_eq!(float(value), verb);
            assert_eq!(json_float(value), encoded);
        }
    }

    #[test]
    fn strings_quote_as_in_go() {
        assert_eq!(quote("a\"b\\c\n\u{1}\u{7f}é\u{200b}"), r#""a\"b\\c\n\x01\x7fé\u200b""#);
    }

    #[test]
    fn json_escapes_html() {
        assert_eq!(
            json(&json!({"b": [1, 2.0, null], "a": "<&>"})),
            r#"{"a":"\u003c\u0026\u003e","b":[1,2,null]}"#
        );
    }
}
