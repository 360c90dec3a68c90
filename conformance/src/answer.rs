//! What a server answered to a step, as it is compared and recorded.

use std::{collections::BTreeMap, fmt::Write};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The answer to one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The HTTP status; none for events of a watch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The headers that are not as always.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Vec<String>>,
    /// The body, if there is one: JSON, or a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// The events of a watch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<Value>>,
}

/// How long a line of a recorded file may be before a value is spread over several.
const WIDTH: usize = 160;

/// Writes JSON with one line for whatever fits one.
#[must_use]
pub fn render(value: &Value) -> String {
    let mut out = String::new();
    write(value, 0, 0, &mut out);
    out.push('\n');
    out
}

fn write(value: &Value, indent: usize, used: usize, out: &mut String) {
    let line = value.to_string();
    if indent > 0 && indent + used + line.len() <= WIDTH || !(value.is_object() || value.is_array()) {
        out.push_str(&line);
        return;
    }
    let pad = " ".repeat(indent + 1);
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            out.push_str("{\n");
            for (index, (key, value)) in fields.iter().enumerate() {
                let key = Value::from(key.as_str()).to_string();
                let _ = write!(out, "{pad}{key}: ");
                write(value, indent + 1, key.len() + 2, out);
                out.push_str(if index + 1 < fields.len() { ",\n" } else { "\n" });
            }
            let _ = write!(out, "{}}}", &pad[1..]);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push_str("[\n");
            for (index, item) in items.iter().enumerate() {
                out.push_str(&pad);
                write(item, indent + 1, 0, out);
                out.push_str(if index + 1 < items.len() { ",\n" } else { "\n" });
            }
            let _ = write!(out, "{}]", &pad[1..]);
        }
        _ => out.push_str(&line),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_rendered_is_the_same_when_read_and_short_values_are_on_one_line() {
        let value =
            json!({"case": [{"status": 200, "body": {"text": "x".repeat(200), "list": [1, 2]}}], "none": {}});
        let text = render(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).ok(), Some(value));
        assert!(text.contains("\n    \"list\": [1,2],\n"), "{text}");
    }
}
