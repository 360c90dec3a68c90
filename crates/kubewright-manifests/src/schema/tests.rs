//! What small types compile to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Options, compile};
use crate::Style;

mod enums;
mod markers;
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

/// Whether an API server takes the schema. Types that are no objects are put into one.
fn is_structural(schema: &Value) {
    let schema = json!({"type": "object", "properties": {"spec": schema}});
    let text = schema.to_string();
    assert!(!text.contains("$ref") && !text.contains("$defs") && !text.contains("\"null\""), "{text}");
    #[cfg(feature = "check")]
    if let Err(errors) = kubewright_schema::Structural::parse(&schema) {
        panic!("{}\n{schema:#}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
    }
}
