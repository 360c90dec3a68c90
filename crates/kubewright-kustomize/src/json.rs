//! JSON as Go writes it.

use serde_json::{Map, Value};

/// Keys in order, and some characters escaped.
pub(crate) fn go_json(value: &Value) -> String {
    escaped(&sorted(value).to_string())
}

/// The same over several lines.
pub(crate) fn go_json_indented(value: &Value) -> String {
    escaped(&format!("{:#}", sorted(value)))
}

/// With keys in order, also where serde_json keeps that in which they came.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(map) => {
            let mut entries: Vec<(&String, &Value)> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            Value::Object(
                entries.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect::<Map<_, _>>(),
            )
        }
        other => other.clone(),
    }
}

/// These characters are in strings only.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                text.push_str(&format!("\\u{:04x}", u32::from(character)));
            }
            other => text.push(other),
        }
    }
    text
}
