//! Values written in marker syntax.

use std::fmt::Write as _;

use serde_json::Value;

/// Writes a value so that a marker that takes any value reads it back.
///
/// Strings are always quoted, lists and objects in braces. Two things have no form of their own: a `null` is written
/// as the string `"null"`, and a list that is empty comes back as an empty object, which a schema of an array
/// takes for an empty list.
#[must_use]
pub fn print(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("\"null\""),
        Value::Bool(_) | Value::Number(_) => {
            let _ = write!(out, "{value}");
        }
        Value::String(text) => quote(text, out),
        Value::Array(items) => {
            out.push('{');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                write(item, out);
            }
            out.push('}');
        }
        Value::Object(entries) => {
            out.push('{');
            for (index, (key, item)) in entries.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                quote(key, out);
                out.push_str(": ");
                write(item, out);
            }
            out.push('}');
        }
    }
}

/// A marker is one line, so every control character is escaped.
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // A line separator would end the line for some editors.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
