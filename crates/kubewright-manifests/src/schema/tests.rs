//! What small types compile to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Options, compile};
use crate::Style;

#[cfg(feature = "check")]
mod decoding;
mod enums;
mod markers;
mod random;
mod types;

fn ours<T: JsonSchema>() -> Value {
    checked::<T>(&Options::default())
}

fn go<T: JsonSchema>() -> Value {
    checked::<T>(&Options { style: Style::ControllerGen, ..Options::default() })
}

fn checked<T: JsonSchema>(options: &Options) -> Value {
    let compiled = compile::<T>(options);
    assert_eq!(compiled.diagnostics, [], "{}", serde_json::to_string_pretty(&compiled.schema).unwrap());
    is_structural(&compiled.schema);
    compiled.schema
}

/// Fails if an API server would not take the schema.
#[track_caller]
fn is_structural(schema: &Value) {
    if let Some(reason) = unstructured(schema) {
        panic!("{reason}\n{schema:#}");
    }
}

/// Why an API server would not take the schema. Types that are no objects are put into one.
fn unstructured(schema: &Value) -> Option<String> {
    let schema = json!({"type": "object", "properties": {"spec": schema}});
    let text = schema.to_string();
    if text.contains("\"$ref\":\"") || text.contains("$defs") || text.contains("\"null\"") {
        return Some("there is a reference or a null in it".to_owned());
    }
    #[cfg(feature = "check")]
    if let Err(errors) = kubewright_schema::Structural::parse(&schema) {
        return Some(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
    None
}
