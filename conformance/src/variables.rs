//! What `$ns`, `$case` and `$(step.path)` in the texts of a case stand for.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::{Captures, Regex};
use serde_json::Value;

use crate::player::PlayError;

/// The answers that later steps may refer to, and the name of the case.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    pub(crate) case: String,
    answers: BTreeMap<String, Value>,
}

static VARIABLE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$(?:(ns|case)\b|\(([a-z0-9-]+)\.([^()]+)\))").expect("a pattern"));

// === impl Variables ===

impl Variables {
    pub(crate) fn new(case: &str) -> Self {
        Self { case: case.to_owned(), answers: BTreeMap::new() }
    }

    /// Keeps an answer. Its headers are below `@`: `$(step.@.etag)`.
    pub(crate) fn insert(&mut self, step: &str, mut body: Value, headers: &BTreeMap<String, String>) {
        if !step.is_empty() {
            if let Some(fields) = body.as_object_mut() {
                fields.insert("@".to_owned(), serde_json::json!(headers));
            }
            self.answers.insert(step.to_owned(), body);
        }
    }

    /// Fills in a text.
    pub(crate) fn fill(&self, text: &str) -> Result<String, PlayError> {
        let mut missing = None;
        let filled = VARIABLE.replace_all(text, |found: &Captures<'_>| {
            let Some(step) = found.get(2) else { return self.case.clone() };
            let path = &found[3];
            match self.find(step.as_str(), path) {
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
                None => {
                    missing = Some(found[0].to_owned());
                    String::new()
                }
            }
        });
        match missing {
            Some(name) => Err(PlayError::Missing(name)),
            None => Ok(filled.into_owned()),
        }
    }

    /// Fills in the texts of a value. A text that is one reference becomes the value that it refers to.
    pub(crate) fn fill_value(&self, value: &Value) -> Result<Value, PlayError> {
        Ok(match value {
            Value::String(text) => {
                let whole = VARIABLE.captures(text).filter(|found| found[0].len() == text.len());
                match whole.and_then(|found| Some((found.get(2)?, found.get(3)?))) {
                    Some((step, path)) => self
                        .find(step.as_str(), path.as_str())
                        .cloned()
                        .ok_or_else(|| PlayError::Missing(text.clone()))?,
                    None => Value::String(self.fill(text)?),
                }
            }
            Value::Array(items) => {
                items.iter().map(|item| self.fill_value(item)).collect::<Result<Vec<_>, _>>()?.into()
            }
            Value::Object(fields) => {
                let fields = fields.iter().map(|(key, value)| Ok((self.fill(key)?, self.fill_value(value)?)));
                Value::Object(fields.collect::<Result<_, PlayError>>()?)
            }
            other => other.clone(),
        })
    }

    /// What an answer has at a dotted path; `.` alone is all of it.
    fn find(&self, step: &str, path: &str) -> Option<&Value> {
        let mut value = self.answers.get(step)?;
        for part in path.split('.').filter(|part| !part.is_empty()) {
            value = match part.parse::<usize>() {
                Ok(index) if value.is_array() => value.get(index)?,
                _ => value.get(part)?,
            };
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_are_filled_in_as_texts_and_as_values() {
        let mut variables = Variables::new("one");
        let body = json!({"metadata": {"uid": "u", "generation": 2}, "items": [{"a": 1}]});
        variables.insert("made", body, &BTreeMap::from([("etag".to_owned(), "\"e\"".to_owned())]));
        let filled = variables.fill_value(&json!({
            "a": "$ns/$case", "b": "x$(made.metadata.uid)", "c": "$(made.metadata.generation)", "d": "$(made.items.0)",
            "e": "^a$", "f": "$nsx", "g": "$(made.@.etag)",
        }));
        let expected = json!({
            "a": "one/one", "b": "xu", "c": 2, "d": {"a": 1}, "e": "^a$", "f": "$nsx", "g": "\"e\"",
        });
        assert_eq!(filled.ok(), Some(expected));
        assert!(variables.fill("$(other.x)").is_err());
    }
}
