//! Values as the messages of a real server show them: in the JSON of the types that it checks, with Go's names of the
//! fields, in the order of their declaration, also those that are empty.

use std::{collections::BTreeMap, sync::LazyLock};

use kubewright_schema::error::go;
use serde_json::Value;

static TABLE: &str = include_str!("../../data/shapes.json");

/// The fields of each type. Read when a message first shows a value.
static SHAPES: LazyLock<BTreeMap<String, Vec<String>>> =
    LazyLock::new(|| serde_json::from_str(TABLE).unwrap_or_default());

/// A value of a type such as `core.Toleration`, `*core.Probe`, `[]core.PodIP` or `{}string`.
pub(super) fn show(shape: &str, value: &Value) -> String {
    let mut out = String::new();
    write(shape, value, &mut out);
    out
}

/// A value as [`show`] does it, over several lines, indented by one blank each.
pub(super) fn show_lines(shape: &str, value: &Value) -> String {
    let line = show(shape, value);
    let mut out = String::with_capacity(2 * line.len());
    let (mut depth, mut in_text, mut is_escaped) = (0, false, false);
    let mut last = ' ';
    for char in line.chars() {
        let breaks_before = match char {
            _ if in_text => false,
            '}' | ']' => {
                depth -= 1;
                !matches!(last, '{' | '[')
            }
            _ => matches!(last, '{' | '[' | ','),
        };
        if breaks_before {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', depth));
        }
        out.push(char);
        match char {
            '"' if !is_escaped => in_text = !in_text,
            '{' | '[' if !in_text => depth += 1,
            ':' if !in_text => out.push(' '),
            _ => {}
        }
        is_escaped = in_text && char == '\\' && !is_escaped;
        last = if in_text { ' ' } else { char };
    }
    out
}

fn write(shape: &str, value: &Value, out: &mut String) {
    if let Some(inner) = shape.strip_prefix('*') {
        match value {
            Value::Null => out.push_str("null"),
            value => write(inner, value, out),
        }
    } else if let Some(item) = shape.strip_prefix("[]") {
        match value {
            Value::Array(items) => {
                write_all('[', items.iter().map(|value| (None, item, value)), ']', out);
            }
            _ => out.push_str("null"),
        }
    } else if let Some(entry) = shape.strip_prefix("{}") {
        match value {
            Value::Object(entries) => {
                let entries = entries.iter().map(|(key, value)| (Some(key.as_str()), entry, value));
                write_all('{', entries, '}', out);
            }
            _ => out.push_str("null"),
        }
    } else if let Some(zero) = shape.strip_prefix("json:") {
        match value {
            Value::Null => out.push_str(zero),
            value => go::write_json(value, out),
        }
    } else {
        match (shape, value) {
            ("string", Value::Null) => out.push_str("\"\""),
            ("int", Value::Null) => out.push('0'),
            ("bool", Value::Null) => out.push_str("false"),
            ("string" | "int" | "bool" | "bytes", value) => go::write_json(value, out),
            (shape, value) => write_struct(shape, value, out),
        }
    }
}

fn write_struct(shape: &str, value: &Value, out: &mut String) {
    let fields = SHAPES.get(shape).into_iter().flatten().filter_map(|field| {
        let mut parts = field.splitn(3, ' ');
        let (name, path, shape) = (parts.next()?, parts.next()?, parts.next()?);
        let own = path.split('/').try_fold(value, |value, name| value.get(name)).unwrap_or(&Value::Null);
        match name.strip_suffix('?') {
            Some(_) if is_empty(shape, own) => None,
            Some(name) => Some((Some(name), shape, own)),
            None => Some((Some(name), shape, own)),
        }
    });
    write_all('{', fields, '}', out);
}

/// Whether Go leaves the value out where it may. It never leaves out a struct.
fn is_empty(shape: &str, value: &Value) -> bool {
    match value {
        Value::Null => !shape.contains('.') || shape.starts_with(['*', '[', '{']),
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty() && shape.starts_with("{}"),
    }
}

fn write_all<'a>(
    open: char,
    items: impl Iterator<Item = (Option<&'a str>, &'a str, &'a Value)>,
    close: char,
    out: &mut String,
) {
    out.push(open);
    for (index, (name, shape, value)) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        if let Some(name) = name {
            go::write_json(&Value::from(name), out);
            out.push(':');
        }
        write(shape, value, out);
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_look_as_in_go() {
        assert_eq!(
            show("core.Toleration", &json!({"key": "a", "operator": "Exists"})),
            r#"{"Key":"a","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":null}"#
        );
        assert_eq!(show("[]core.PodIP", &json!([{"ip": "1.2.3.4"}])), r#"[{"IP":"1.2.3.4"}]"#);
        assert_eq!(show("*core.Probe", &Value::Null), "null");
        assert_eq!(
            show("meta.LabelSelector", &json!({"matchLabels": {"a": "b"}})),
            r#"{"matchLabels":{"a":"b"}}"#
        );
    }

    #[test]
    fn values_over_several_lines_are_indented() {
        let resources = json!({"limits": {"a,\"[": "1"}, "requests": {}});
        assert_eq!(
            show_lines("core.VolumeResourceRequirements", &resources),
            "{\n \"Limits\": {\n  \"a,\\\"[\": \"1\"\n },\n \"Requests\": {}\n}"
        );
    }
}
