//! Schemas of Rust types against those that controller-gen makes of the same types in Go.
//!
//! The Go types, and what controller-gen v0.23 made of them, are in `conformance/controller-gen/cases`. Here are the same types
//! in Rust.

#![allow(dead_code, reason = "the types are there for their schemas")]
#![allow(clippy::tabs_in_doc_comments, reason = "a tab is one of the cases")]

mod bounds;
mod core_types;
mod declarative;
mod descriptions;
mod embedded_metadata;
mod flattening;
mod optionality;
#[path = "../our_style/mod.rs"]
mod our_style;
mod rules;
mod values;

use std::{fs, path::Path};

use kubewright_manifests::{
    Style,
    crd::{CrdBuilder, CrdOptions},
    schema::{self, Options},
};
use schemars::JsonSchema;
use serde_json::{Map, Value};

/// Compares `T`, which is the spec of the recorded kind, or its root if it has a spec itself.
#[track_caller]
fn assert_recorded<T: JsonSchema + 'static>(case: &str, plural: &str) {
    let mut options = Options::default();
    options.max_description_length = if case == "flattening" { None } else { Some(0) };
    assert_recorded_run::<T>(case, "crd", plural, options, &[]);
    let mut options = Options::default();
    options.max_description_length = Some(0);
    assert_our_style_unchanged::<T>(&format!("{case}-{plural}"), plural, options);
}

/// The root of a kind with this spec.
#[derive(JsonSchema)]
struct WithSpec<T> {
    spec: T,
}

/// Compares the definition with `T` as its spec, or its root if it has a spec itself, with the document of this name.
#[track_caller]
fn assert_our_style_unchanged<T: JsonSchema + 'static>(name: &str, plural: &str, schema: Options) {
    let kind = plural[..1].to_uppercase() + plural[1..].trim_end_matches('s');
    let has_spec = schema::compile::<T>(&Options::default()).schema["properties"].get("spec").is_some();
    let (group, version) = ("parity.example.com", "v1");
    let builder = if has_spec {
        CrdBuilder::of_root::<T>(group, version, kind)
    } else {
        CrdBuilder::of_root::<WithSpec<T>>(group, version, kind)
    };
    let mut options = CrdOptions::default();
    options.schema = schema;
    our_style::assert_unchanged_with(name, builder, options);
}

/// Compares `T` with what a run of the case wrote, without these fields of the spec.
#[track_caller]
fn assert_recorded_run<T: JsonSchema>(
    case: &str,
    run: &str,
    plural: &str,
    mut options: Options,
    left_out: &[&str],
) {
    options.style = Style::ControllerGen;
    options.allow_dangerous_types = true;
    let compiled = schema::compile::<T>(&options);
    assert!(compiled.diagnostics.is_empty(), "{:#?}", compiled.diagnostics);
    let mut ours = compiled.schema;
    let mut recorded = recorded(case, run, plural);
    if ours["properties"].get("spec").is_some() {
        if let Some(properties) = recorded["properties"].as_object_mut() {
            properties.retain(|name, _| name == "spec");
        }
    } else {
        recorded = recorded["properties"]["spec"].take();
    }
    for field in left_out {
        without(&mut recorded, field);
        without(&mut ours, field);
    }
    let (ours, recorded) = (lines(&ours), lines(&recorded));
    let differences: Vec<String> = recorded
        .iter()
        .filter(|line| !ours.contains(line))
        .map(|line| format!("- {line}"))
        .chain(ours.iter().filter(|line| !recorded.contains(line)).map(|line| format!("+ {line}")))
        .collect();
    assert!(differences.is_empty(), "recorded (-) and ours (+):\n{}", differences.join("\n"));
}

fn recorded(case: &str, run: &str, plural: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../conformance/controller-gen/cases")
        .join(case)
        .join("expected")
        .join(run)
        .join(format!("parity.example.com_{plural}.yaml"));
    let text =
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{} is not there: {error}", file.display()));
    // YAML takes this default of a text for a number, which is too large to be one.
    let text = text.replace("default: 1e400", "default: \"1e400\"");
    let mut crd: Value = serde_saphyr::from_str(&text).unwrap();
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"].take()
}

fn without(schema: &mut Value, field: &str) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        assert!(properties.remove(field).is_some(), "there is no field `{field}`");
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != field);
    }
}

/// One line for each value in a document, with its path.
fn lines(value: &Value) -> Vec<String> {
    fn add(value: &Value, path: &str, lines: &mut Vec<String>) {
        match value {
            Value::Object(fields) if *fields != Map::new() => {
                for (name, value) in fields {
                    add(value, &format!("{path}.{name}"), lines);
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (index, item) in items.iter().enumerate() {
                    add(item, &format!("{path}[{index}]"), lines);
                }
            }
            // `1` and `1.0` are one number.
            Value::Number(number) => lines.push(format!("{path}: {}", number.as_f64().unwrap_or(f64::NAN))),
            value => lines.push(format!("{path}: {value}")),
        }
    }
    let mut lines = Vec::new();
    add(value, "", &mut lines);
    lines
}
