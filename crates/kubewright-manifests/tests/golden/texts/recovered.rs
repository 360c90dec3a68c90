//! Doc comments made of the texts of a golden.

use kubewright_manifests::{
    Style,
    marker::{Target, docs},
};
use serde_json::Value;

use super::{KUBERNETES, Schemas, Texts, below, markers, referenced};

/// The doc comments that have to make the texts of this version of a golden.
///
/// A text belongs to the field if ours has a doc comment, else to its type. What a type says whose fields all have words of
/// their own is nowhere to be seen, and stays ours. Only Kubernetes' types get a text wherever the golden has one, since
/// their doc comments are not written here.
pub(crate) fn texts(schemas: &Schemas, version: &Value) -> Texts {
    let mut recovery = Recovery { schemas, version, texts: Texts::default(), unseen: Texts::default() };
    recovery.node(&schemas.name, "", &version["schema"]["openAPIV3Schema"], false);
    for (place, text) in recovery.unseen.0 {
        recovery.texts.0.entry(place).or_insert(text);
    }
    recovery.texts
}

struct Recovery<'a> {
    schemas: &'a Schemas,
    version: &'a Value,
    texts: Texts,
    /// Of types where a field speaks for them. Another field may not.
    unseen: Texts,
}

// === impl Recovery ===

impl Recovery<'_> {
    /// Takes the texts of a schema and of all below it. `is_hidden`: whether the field that has this type speaks for it.
    fn node(&mut self, definition: &str, pointer: &str, golden: &Value, is_hidden: bool) {
        let schemas = self.schemas;
        let Some(node) = schemas.node(definition, pointer) else { return };
        let target = referenced(node);
        let own = node.get("description").and_then(Value::as_str);
        let speaks = if definition.starts_with(KUBERNETES) {
            self.of_kubernetes(definition, pointer, golden, is_hidden, target.is_none() || own.is_some())
        } else {
            own.is_some_and(|own| self.of_ours(definition, pointer, golden, is_hidden, own))
        };
        if let Some(target) = target {
            self.node(target, "", golden, is_hidden || speaks);
        }
        for (step, golden) in below(node, golden) {
            self.node(definition, &format!("{pointer}{step}"), golden, false);
        }
    }

    /// Gives one of our types or fields the words of the golden. Whether it has words at all is as it was.
    fn of_ours(
        &mut self,
        definition: &str,
        pointer: &str,
        golden: &Value,
        is_hidden: bool,
        own: &str,
    ) -> bool {
        let own = docs::split(own, Style::ControllerGen);
        let targets: &[Target] =
            if pointer.is_empty() { &[Target::Type, Target::Kind] } else { &[Target::Field] };
        let markers: Vec<String> = own
            .markers
            .iter()
            .map(|marker| markers::with_texts_of(golden, self.version, marker, targets))
            .collect();
        let speaks = !own.description.is_empty();
        let words = match golden["description"].as_str() {
            Some(text) if speaks && !is_hidden => text,
            _ => &own.description,
        };
        let texts = if is_hidden { &mut self.unseen } else { &mut self.texts };
        texts.set(definition, pointer, &comment(words, &markers));
        speaks
    }

    fn of_kubernetes(
        &mut self,
        definition: &str,
        pointer: &str,
        golden: &Value,
        is_hidden: bool,
        is_place: bool,
    ) -> bool {
        if !is_hidden && is_place {
            let text = golden["description"].as_str().unwrap_or_default();
            self.texts.set(definition, pointer, text);
        }
        is_place
    }
}

/// A doc comment of which these words and markers are what counts: the rest are notes for developers.
fn comment(words: &str, markers: &[String]) -> String {
    let mut lines = vec!["TODO: not for readers"];
    let (first, rest) = markers.split_at(markers.len().min(1));
    lines.extend(first.iter().map(String::as_str));
    lines.extend(words.split('\n'));
    lines.extend(["---", "Not for readers either.", ""]);
    lines.extend(rest.iter().map(String::as_str));
    lines.join("\n")
}
