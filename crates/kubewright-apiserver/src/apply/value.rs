//! Order, equality and text of JSON values as structured merge diff defines them.
//!
//! They differ from `serde_json` in numbers (an integer and a float of equal value are equal) and in
//! having a total order, which decides where a path element stands in a set.

use std::cmp::Ordering;

use kubewright_schema::error::go;
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

/// Writes a value as people read it in paths and conflicts: strings quoted, lists in brackets.
pub(crate) fn write_readable(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&go::number(number)),
        Value::String(text) => out.push_str(&go::quote(text)),
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

/// A value as Go's `%v` prints it: `map[a:1 b:[x y]]`, `<nil>`, strings bare.
pub(crate) fn go_plain(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("<nil>"),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&go::number(number)),
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
        Value::Number(number) => out.push_str(&go::number(number)),
        Value::String(text) => out.push_str(&go::quote(text)),
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
                out.push_str(&go::quote(key));
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
}
