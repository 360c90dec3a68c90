//! Compares a CRD with a golden file.
//!
//! The documentation of the Go types is not ours to copy. Where the golden has a description, and our type has a doc comment
//! and so a description, the text of the golden is taken over before the comparison. That a description is where it should be
//! is compared; what it says is not, except for the fields that every object has, which are not taken over.

use std::{env, fs, path::PathBuf};

use kubewright_manifests::{
    crd::{CrdBuilder, CrdOptions},
    diagnostic::Severity,
    yaml,
};
use serde_json::Value;

use crate::our_style;

/// Texts for people, which are not compared.
const TEXTS: [&str; 3] = ["description", "deprecationWarning", "message"];

const VERSION: &str = "controller-gen.kubebuilder.io/version";

/// How the file was written.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Written {
    /// By controller-gen: the bytes are compared.
    ByMachine,
    /// By hand, after controller-gen: the values are compared.
    ByHand,
}

/// Compares what `builder` makes with the file `path` of the folder of goldens.
#[track_caller]
pub(crate) fn assert_golden(path: &str, builder: CrdBuilder, written: Written) {
    assert_golden_with(path, builder, CrdOptions::controller_gen(), written);
}

/// [`assert_golden`] with other options.
#[track_caller]
pub(crate) fn assert_golden_with(path: &str, builder: CrdBuilder, options: CrdOptions, written: Written) {
    let Some((ours, golden, text)) = documents(path, builder, options) else { return };
    match written {
        Written::ByMachine => assert_document(ours, &golden, &text),
        Written::ByHand => assert_document(ours, &golden, &yaml::stream([&golden])),
    }
}

/// What `builder` makes, and the file `path` of the folder of goldens: as a value and as text.
#[track_caller]
pub(crate) fn documents(
    path: &str,
    builder: CrdBuilder,
    mut options: CrdOptions,
) -> Option<(Value, Value, String)> {
    let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".yaml");
    if options == CrdOptions::controller_gen() {
        our_style::assert_unchanged(&format!("golden-{name}"), builder.clone());
    }
    let text = read(path)?;
    let golden: Value = serde_saphyr::from_str(&text).expect("the golden is YAML");
    let annotation = golden["metadata"]["annotations"][VERSION].as_str();
    options.tool_version = annotation.map(str::to_owned);
    let built = builder.options(options).build();
    let errors: Vec<_> =
        built.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    Some((built.document, golden, text))
}

/// Compares two documents without the texts for people.
#[track_caller]
pub(crate) fn assert_document_without_texts(mut ours: Value, mut golden: Value) {
    drop_texts(&mut ours);
    drop_texts(&mut golden);
    assert_lines(&yaml::stream([&ours]), &yaml::stream([&golden]));
}

/// Compares the text of a document with that of the golden.
#[track_caller]
pub(crate) fn assert_document(mut ours: Value, golden: &Value, text: &str) {
    adopt_texts(&mut ours, golden);
    assert_lines(&yaml::stream([&ours]), text);
}

/// The text of a golden file; none, with a message, if there are no goldens.
fn read(path: &str) -> Option<String> {
    let root = env::var_os("KUBEWRIGHT_GOLDENS").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/goldens")),
        PathBuf::from,
    );
    if !root.is_dir() {
        #[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
        {
            eprintln!("skipped: no test data at {}, see KUBEWRIGHT_GOLDENS", root.display());
        }
        return None;
    }
    let file = root.join(path);
    Some(fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())))
}

/// Gives each text for people that is in both the words of the golden.
fn adopt_texts(ours: &mut Value, golden: &Value) {
    match (ours, golden) {
        // The message of another rule says nothing.
        (Value::Object(ours), Value::Object(golden)) if ours.get("rule") == golden.get("rule") => {
            for (key, value) in ours {
                let Some(other) = golden.get(key) else { continue };
                if TEXTS.contains(&key.as_str()) && value.is_string() && other.is_string() {
                    let upstream = value.as_str().is_some_and(|text| {
                        text.starts_with("APIVersion defines") || text.starts_with("Kind is a string value")
                    });
                    if !upstream {
                        *value = other.clone();
                    }
                } else {
                    adopt_texts(value, other);
                }
            }
        }
        (Value::Array(ours), Value::Array(golden)) => {
            for (value, other) in ours.iter_mut().zip(golden) {
                adopt_texts(value, other);
            }
        }
        _ => {}
    }
}

fn drop_texts(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|key, value| !(TEXTS.contains(&key.as_str()) && value.is_string()));
            fields.values_mut().for_each(drop_texts);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_texts),
        _ => {}
    }
}

/// Shows the first lines that differ, with what is around them.
#[track_caller]
fn assert_lines(ours: &str, golden: &str) {
    if ours == golden {
        return;
    }
    let (ours, golden): (Vec<_>, Vec<_>) = (ours.lines().collect(), golden.lines().collect());
    let same = ours.iter().zip(&golden).take_while(|(one, other)| one == other).count();
    let from = same.saturating_sub(12);
    let excerpt = |lines: &[&str]| {
        let until = lines.len().min(same + 12);
        lines.get(from..until).map_or_else(String::new, |lines| lines.join("\n"))
    };
    panic!("differs from line {}:\n--- golden\n{}\n--- ours\n{}", same + 1, excerpt(&golden), excerpt(&ours));
}
