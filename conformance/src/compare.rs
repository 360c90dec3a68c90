//! Where two answers differ.

use std::{collections::BTreeSet, fmt};

use serde_json::Value;

use crate::answer::Answer;

/// One place where an answer is not the expected one.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The number of the step, from 1.
    pub step: usize,
    /// The JSON pointer into the answer.
    pub path: String,
    /// What was recorded there.
    pub expected: Option<Value>,
    /// What came.
    pub got: Option<Value>,
}

/// The differences between the recorded answers of a case and others.
#[must_use]
pub fn answers(expected: &[Answer], got: &[Answer]) -> Vec<Difference> {
    let mut differences = Vec::new();
    for step in 0..expected.len().max(got.len()) {
        let value = |answers: &[Answer]| {
            answers.get(step).map(|answer| serde_json::to_value(answer).unwrap_or_default())
        };
        let (expected, got) = (value(expected), value(got));
        let status = |answer: &Option<Value>| answer.as_ref().map(|answer| answer["status"].clone());
        if status(&expected) != status(&got) {
            // Nothing of the rest could be the same.
            differences.push(Difference { step: step + 1, path: "/status".to_owned(), expected, got });
            continue;
        }
        differ(step + 1, "", expected.as_ref(), got.as_ref(), &mut differences);
    }
    differences
}

fn differ(
    step: usize,
    path: &str,
    expected: Option<&Value>,
    got: Option<&Value>,
    differences: &mut Vec<Difference>,
) {
    match (expected, got) {
        (expected, got) if expected == got => {}
        (Some(Value::Object(expected)), Some(Value::Object(got))) => {
            let keys: BTreeSet<&String> = expected.keys().chain(got.keys()).collect();
            for key in keys {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                differ(step, &path, expected.get(key), got.get(key), differences);
            }
        }
        (Some(Value::Array(expected)), Some(Value::Array(got))) => {
            for index in 0..expected.len().max(got.len()) {
                let path = format!("{path}/{index}");
                differ(step, &path, expected.get(index), got.get(index), differences);
            }
        }
        (expected, got) => differences.push(Difference {
            step,
            path: path.to_owned(),
            expected: expected.cloned(),
            got: got.cloned(),
        }),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
        let Self { step, path, expected, got } = self;
        write!(f, "step {step} {path}\n    expected {}\n    got      {}", text(expected), text(got))
    }
}
