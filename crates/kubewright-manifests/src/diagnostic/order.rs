//! The order of diagnostics.

use std::{cmp::Ordering, path::Path};

use super::{Diagnostic, Place};

/// Sorts diagnostics for people, and drops those that say the same twice.
///
/// Files come first, by path and position; then what is known by the names of types; then what is in generated
/// documents. At one place errors come before warnings. Two diagnostics say the same if they have one place and one
/// message; the help of both is kept.
#[must_use]
pub fn arrange(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by(|left, right| {
        compare(&left.place, &right.place)
            .then_with(|| right.severity.cmp(&left.severity))
            .then_with(|| left.code.cmp(&right.code))
            .then_with(|| left.message.cmp(&right.message))
    });
    let mut arranged: Vec<Diagnostic> = Vec::with_capacity(diagnostics.len());
    for diagnostic in diagnostics {
        let same = arranged.iter_mut().rev().take_while(|last| last.place == diagnostic.place);
        match same.into_iter().find(|last| last.message == diagnostic.message) {
            Some(last) => {
                for sentence in diagnostic.help {
                    if !last.help.contains(&sentence) {
                        last.help.push(sentence);
                    }
                }
            }
            None => arranged.push(diagnostic),
        }
    }
    arranged
}

fn compare(left: &Place, right: &Place) -> Ordering {
    key(left).cmp(&key(right))
}

/// What places are compared by: the kind, the names, the position.
fn key(place: &Place) -> (u8, &Path, [&str; 2], usize, usize) {
    let nowhere = Path::new("");
    match place {
        Place::File { file, range } => (0, file, ["", ""], range.start, range.end),
        Place::Doc { type_name, field, marker: _, range } => {
            (1, nowhere, [type_name, field.as_deref().unwrap_or_default()], range.start, range.end)
        }
        Place::Document { document, path } => (2, nowhere, [document, path], 0, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_first_and_errors_before_warnings() {
        let at = |file: &str, start: usize| Place::File { file: file.into(), range: start..start + 1 };
        let document =
            Place::Document { document: "CustomResourceDefinition a".to_owned(), path: "spec".to_owned() };
        let doc = Place::Doc { type_name: "A".to_owned(), field: None, marker: String::new(), range: 0..0 };
        let diagnostics = vec![
            Diagnostic::error("e", "in a document", document),
            Diagnostic::error("e", "in a type", doc),
            Diagnostic::warning("w", "later", at("b.rs", 3)),
            Diagnostic::error("e", "later", at("b.rs", 3)).with_help("one"),
            Diagnostic::error("e", "later", at("b.rs", 3)).with_help("two"),
            Diagnostic::error("e", "other", at("b.rs", 3)),
            Diagnostic::error("e", "first", at("a.rs", 9)),
        ];
        let arranged: Vec<(String, String)> = arrange(diagnostics)
            .into_iter()
            .map(|diagnostic| (diagnostic.message, diagnostic.help.join(" ")))
            .collect();
        let pair = |message: &str, help: &str| (message.to_owned(), help.to_owned());
        assert_eq!(
            arranged,
            [
                pair("first", ""),
                pair("later", "one two"),
                pair("other", ""),
                pair("in a type", ""),
                pair("in a document", "")
            ]
        );
    }
}
