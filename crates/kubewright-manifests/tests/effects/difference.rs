//! What differs between two documents, a line for each value.

use serde_json::Value;

/// From how many values on a part that is gone or new as a whole is not written out.
const LARGE: usize = 16;

/// The values that are gone, with a minus, and those that are new, with a plus.
pub(crate) fn between(before: &Value, after: &Value) -> Vec<String> {
    let (mut gone, mut new) = (Vec::new(), Vec::new());
    compare(Some(before), Some(after), "", &mut gone, &mut new);
    let gone = gone.into_iter().map(|line| format!("- {line}"));
    gone.chain(new.into_iter().map(|line| format!("+ {line}"))).collect()
}

fn compare(
    before: Option<&Value>,
    after: Option<&Value>,
    path: &str,
    gone: &mut Vec<String>,
    new: &mut Vec<String>,
) {
    match (before, after) {
        (Some(Value::Object(was)), Some(Value::Object(is))) => {
            let added = is.keys().filter(|name| !was.contains_key(*name));
            for name in was.keys().chain(added) {
                compare(was.get(name), is.get(name), &below(path, name), gone, new);
            }
        }
        (Some(Value::Array(was)), Some(Value::Array(is))) if is_deep(was) || is_deep(is) => {
            for index in 0..was.len().max(is.len()) {
                compare(was.get(index), is.get(index), &format!("{path}[{index}]"), gone, new);
            }
        }
        (before, after) if before != after => {
            gone.extend(before.into_iter().flat_map(|value| summary(value, path)));
            new.extend(after.into_iter().flat_map(|value| summary(value, path)));
        }
        _ => {}
    }
}

fn summary(value: &Value, path: &str) -> Vec<String> {
    let mut all = Vec::new();
    add(value, path, &mut all);
    if all.len() < LARGE { all } else { vec![format!("{path}: {} values", all.len())] }
}

/// A line for each value, with its path.
pub(crate) fn lines(value: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    add(value, "", &mut lines);
    lines
}

fn add(value: &Value, path: &str, lines: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                add(value, &below(path, name), lines);
            }
        }
        Value::Array(items) if is_deep(items) => {
            for (index, item) in items.iter().enumerate() {
                add(item, &format!("{path}[{index}]"), lines);
            }
        }
        value => lines.push(format!("{path}: {value}")),
    }
}

/// Whether a list has more than plain values, whose order is seen best in one line.
fn is_deep(items: &[Value]) -> bool {
    items.iter().any(|item| item.is_object() || item.is_array())
}

fn below(path: &str, name: &str) -> String {
    let name = if name.contains('.') { format!("[{name}]") } else { name.to_owned() };
    if path.is_empty() { name } else { format!("{path}.{name}") }
}
