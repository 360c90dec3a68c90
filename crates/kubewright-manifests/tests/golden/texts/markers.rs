//! Markers, and the texts for people in them.

use kubewright_manifests::marker::{CrdEffect, Effect, Marker, SchemaEffect, Target, parse};
use serde_json::Value;

/// The arguments whose values are sentences.
const SENTENCES: [&str; 3] = ["message", "description", "warning"];

/// A marker with what the golden says in place of our sentences. `node` is where the golden has what the marker made, `version`
/// the version of the kind.
pub(super) fn with_texts_of(golden: &Value, version: &Value, text: &str, targets: &[Target]) -> String {
    let Ok(marker) = parse(text, targets) else { return text.to_owned() };
    let golden = if marker.on_items { &golden["items"] } else { golden };
    let (argument, sentence) = match marker.definition.effect {
        Effect::Schema(SchemaEffect::Validation) => {
            let rules = golden["x-kubernetes-validations"].as_array();
            ("message", found(rules, "rule", marker.argument("rule"), "message"))
        }
        Effect::Schema(SchemaEffect::ExternalDocs) => {
            ("description", golden["externalDocs"].get("description"))
        }
        Effect::Crd(CrdEffect::PrintColumn) => {
            let columns = version["additionalPrinterColumns"].as_array();
            ("description", found(columns, "name", marker.argument("name"), "description"))
        }
        Effect::Crd(CrdEffect::DeprecatedVersion) => ("warning", version.get("deprecationWarning")),
        _ => return text.to_owned(),
    };
    sentence.map_or_else(|| text.to_owned(), |sentence| replaced(&marker, argument, &sentence.to_string()))
}

/// A marker with its sentences left out, for the comparison with another one; none if it has no effect here.
#[track_caller]
pub(super) fn without_texts(text: &str, targets: &[Target]) -> Option<String> {
    let mut marker = parse(text, targets).unwrap_or_else(|error| panic!("{text}: {error}"));
    if marker.definition.effect == Effect::Nothing {
        return None;
    }
    for argument in SENTENCES {
        if marker.argument(argument).is_some() {
            let without = replaced(&marker, argument, "\"\"");
            marker = parse(&without, targets).unwrap_or_else(|error| panic!("{without}: {error}"));
        }
    }
    Some(marker.text)
}

/// The member `wanted` of the element whose member `key` has this value.
fn found<'v>(
    list: Option<&'v Vec<Value>>,
    key: &str,
    value: Option<&Value>,
    wanted: &str,
) -> Option<&'v Value> {
    list?.iter().find(|element| element.get(key) == value)?.get(wanted)
}

/// The text of a marker with another value for an argument that it has.
fn replaced(marker: &Marker, name: &str, value: &str) -> String {
    let mut text = marker.text.clone();
    if let Some(argument) = marker.arguments.iter().find(|argument| argument.name == name) {
        text.replace_range(argument.range.clone(), value);
    }
    text
}
