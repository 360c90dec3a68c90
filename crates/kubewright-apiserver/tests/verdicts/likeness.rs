//! Answers about one definition as they are to be about another with the same versions.

use std::collections::BTreeMap;

use json_patch::Patch;
use serde_json::Value;

use crate::{
    definition::Definition,
    recorded::{Case, Recorded},
};

/// Where the words of two definitions differ: those of the one, and those that the other has in their place.
pub(crate) struct Likeness<'a> {
    to: &'a Definition,
    words: Vec<(&'a str, &'a str)>,
}

// === impl Likeness ===

impl<'a> Likeness<'a> {
    pub(crate) fn new(from: &'a Definition, to: &'a Definition) -> Self {
        let pointers = [
            "/spec/group",
            "/spec/names/listKind",
            "/spec/names/kind",
            "/spec/names/plural",
            "/spec/names/singular",
        ];
        let words = pointers.map(|pointer| (from.text(pointer), to.text(pointer)));
        Self { to, words: words.into_iter().filter(|(from, _)| !from.is_empty()).collect() }
    }

    /// The objects and the answers, in the words of the other definition.
    pub(crate) fn of(&self, recorded: &Recorded) -> (BTreeMap<String, Value>, Vec<Case>) {
        let mut bases = recorded.bases.clone();
        for (version, base) in &mut bases {
            self.to.give_type(version, base);
        }
        let cases = recorded.cases.iter().enumerate();
        let cases = cases.map(|(number, case)| self.case(case, &bases[&case.version], number)).collect();
        (bases, cases)
    }

    fn case(&self, case: &Case, base: &Value, number: usize) -> Case {
        let patch = serde_json::to_value(&case.patch).expect("JSON");
        let changes = patch.as_array().into_iter().flatten().cloned().map(|mut change| {
            let is_type = change["path"] == "/apiVersion" || change["path"] == "/kind";
            if let (true, Value::String(value)) = (is_type, &mut change["value"]) {
                *value = self.text(value);
            }
            change
        });
        let patch: Patch = serde_json::from_value(changes.collect()).expect("a patch");
        let mut case = Case { patch, ..case.clone() };
        let sent = case.object(base, number).to_string();
        case.verdict.message = self.message(&case.verdict.message, &sent);
        for (_, _, message) in &mut case.verdict.causes {
            *message = self.text(message);
        }
        case.verdict.causes.sort_unstable();
        case
    }

    /// A message may end with the first bytes of what was sent, where words may be cut off.
    fn message(&self, message: &str, sent: &str) -> String {
        let text = self.text(message);
        let cut =
            message.strip_suffix(" ...)").and_then(|rest| rest.rsplit_once(" (")).map(|(_, cut)| cut.len());
        match (text.rsplit_once(" ("), cut.and_then(|length| sent.get(..length))) {
            (Some((before, _)), Some(first)) => format!("{before} ({first} ...)"),
            _ => text,
        }
    }

    /// The text with the other definition's words in place of those that stand alone in it.
    fn text(&self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        let mut alone = true;
        while let Some(letter) = rest.chars().next() {
            let found = self.words.iter().find(|(word, _)| {
                let after = rest.strip_prefix(word).map(|after| after.chars().next());
                alone && after.is_some_and(|after| !after.is_some_and(char::is_alphanumeric))
            });
            if let Some((word, other)) = found {
                result.push_str(other);
                rest = &rest[word.len()..];
                alone = false;
            } else {
                result.push(letter);
                rest = &rest[letter.len_utf8()..];
                alone = !letter.is_alphanumeric();
            }
        }
        result
    }
}
