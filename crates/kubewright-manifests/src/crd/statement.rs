//! What is said of a kind, with the place where it is said.
//!
//! Names, scope and metadata belong to a kind, but each of its versions may say them, in a marker and in a native
//! attribute. Those who say something have to say the same; those who say nothing follow.

use crate::diagnostic::{Diagnostic, Place, Severity};

/// A value and where it was said.
#[derive(Clone, Debug)]
pub(super) struct Statement<T> {
    pub(super) value: T,
    pub(super) place: Place,
}

// === impl Statement ===

impl<T> Statement<T> {
    pub(super) fn new(value: T, place: Place) -> Self {
        Self { value, place }
    }
}

/// The value that all statements agree on; the first of them if they do not, with a diagnostic for each other one.
pub(super) fn agreed<'a, T: Clone + PartialEq + 'a>(
    what: &str,
    statements: impl IntoIterator<Item = &'a Statement<T>>,
    shown: impl Fn(&T) -> String,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<T> {
    let mut statements = statements.into_iter();
    let first = statements.next()?;
    let mut clashes = Vec::<&T>::new();
    for other in statements {
        if other.value == first.value || clashes.contains(&&other.value) {
            continue;
        }
        clashes.push(&other.value);
        let (one, another) = (shown(&first.value), shown(&other.value));
        diagnostics.push(Diagnostic {
            severity: Severity::Error,
            code: "contradiction".to_owned(),
            message: format!("{what} is {another} here, but {one} {}", said_by(&first.place)),
            place: other.place.clone(),
            help: vec![format!("say {what} once, or say the same at both places")],
        });
    }
    Some(first.value.clone())
}

/// The words for a place in the middle of a sentence.
pub(super) fn said_by(place: &Place) -> String {
    match place {
        Place::Doc { type_name, marker, .. } if marker.is_empty() => {
            format!("in the attributes of `{type_name}`")
        }
        Place::Doc { type_name, marker, .. } => format!("by `{marker}` on `{type_name}`"),
        Place::Document { document, .. } => format!("in the settings of {document}"),
        Place::File { file, .. } => format!("in {}", file.display()),
    }
}

/// A string as it is shown in a message.
pub(super) fn quoted(text: &str) -> String {
    format!("`{text}`")
}

/// A list of strings as it is shown in a message.
pub(super) fn listed(items: &[String]) -> String {
    format!("`{}`", items.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(value: &str, type_name: &str) -> Statement<String> {
        let place =
            Place::Doc { type_name: type_name.to_owned(), field: None, marker: String::new(), range: 0..0 };
        Statement::new(value.to_owned(), place)
    }

    #[test]
    fn who_says_nothing_follows() {
        let mut diagnostics = Vec::new();
        let statements = [said("mc", "One"), said("mc", "Other")];
        assert_eq!(agreed("x", &statements, |name| quoted(name), &mut diagnostics).as_deref(), Some("mc"));
        assert_eq!(agreed("x", &[], |name: &String| quoted(name), &mut diagnostics), None);
        assert!(diagnostics.is_empty());
    }

    #[test]
    fn each_other_value_is_a_contradiction_once() {
        let mut diagnostics = Vec::new();
        let statements = [said("a", "One"), said("b", "Two"), said("b", "Three"), said("c", "Four")];
        assert_eq!(
            agreed("the plural name", &statements, |name| quoted(name), &mut diagnostics).as_deref(),
            Some("a")
        );
        let messages: Vec<_> = diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "the plural name is `b` here, but `a` in the attributes of `One`",
                "the plural name is `c` here, but `a` in the attributes of `One`",
            ]
        );
    }
}
