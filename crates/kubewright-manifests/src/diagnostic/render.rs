//! Diagnostics for people, as rustc prints them, and for tools.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Snippet, renderer::DecorStyle};
use serde_json::{Value, json};

use super::{Diagnostic, Place, Severity, position};

/// Prints diagnostics.
///
/// ```
/// use std::path::Path;
/// use kubewright_manifests::diagnostic::{Diagnostic, Place, Renderer};
///
/// let text = "struct A {\n    /// +nulable\n    a: u8,\n}\n";
/// let place = Place::File { file: "src/main.rs".into(), range: 19..27 };
/// let diagnostic =
///     Diagnostic::error("unknown-marker", "there is no marker `nulable`", place).with_help("write `nullable`");
/// let texts = |path: &Path| (path == Path::new("src/main.rs")).then(|| text.to_owned());
/// assert_eq!(
///     Renderer::new(&texts).render(&diagnostic),
///     "\
/// error[unknown-marker]: there is no marker `nulable`
///  --> src/main.rs:2:9
///   |
/// 2 |     /// +nulable
///   |         ^^^^^^^^
///   |
///   = help: write `nullable`"
/// );
/// ```
pub struct Renderer<'t> {
    text_of: &'t dyn Fn(&Path) -> Option<String>,
    colored: bool,
    folder: Option<PathBuf>,
}

// === impl Renderer ===

impl<'t> Renderer<'t> {
    /// Without colours, and with paths as they are. `text_of` gives the text of a file; none if it cannot be read, in
    /// which case the place is told without its line.
    #[must_use]
    pub fn new(text_of: &'t dyn Fn(&Path) -> Option<String>) -> Self {
        Self { text_of, colored: false, folder: None }
    }

    /// With colours, or without. Whether they are wanted (a terminal, no `NO_COLOR`) is for the caller to know.
    #[must_use]
    pub fn colored(mut self, colored: bool) -> Self {
        self.colored = colored;
        self
    }

    /// Paths below this folder are shown from it.
    #[must_use]
    pub fn relative_to(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// The diagnostic on several lines, without a line break at the end.
    #[must_use]
    pub fn render(&self, diagnostic: &Diagnostic) -> String {
        let level = match diagnostic.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code.as_str());
        let group = self.locate(Group::with_title(title), &diagnostic.place);
        let group =
            group.elements(diagnostic.help.iter().map(|sentence| Level::HELP.message(sentence.as_str())));
        let renderer = if self.colored {
            annotate_snippets::Renderer::styled()
        } else {
            annotate_snippets::Renderer::plain()
        };
        let rendered = renderer.decor_style(DecorStyle::Ascii).render(&[group]);
        // Empty margins would be blanks at the ends of lines.
        rendered.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }

    fn locate<'g>(&self, group: Group<'g>, place: &'g Place) -> Group<'g> {
        match place {
            Place::File { file, range } => {
                let path = self.shown(file);
                match (self.text_of)(file) {
                    Some(text) => group.element(excerpt(&text, range).path(path)),
                    None => group.element(Origin::path(path)),
                }
            }
            Place::Doc { type_name, field, marker, range } => {
                let subject = match field {
                    Some(field) => format!("the field `{field}` of `{type_name}`"),
                    None => format!("the type `{type_name}`"),
                };
                if marker.is_empty() {
                    group.element(Origin::path(subject))
                } else {
                    let annotation = AnnotationKind::Primary.span(clamp(marker, range));
                    let snippet =
                        Snippet::source(marker.as_str()).line_numbering(false).annotation(annotation);
                    group
                        .element(Level::NOTE.message(format!("in the comment of {subject}")))
                        .element(snippet)
                }
            }
            Place::Document { document, path } => {
                let at = if path.is_empty() { document.clone() } else { format!("{document}: {path}") };
                group.element(Origin::path(at))
            }
        }
    }

    /// The diagnostic as a JSON object: its own fields, and for a place in a file `start` and `end`, each with line and column.
    #[must_use]
    pub fn json(&self, diagnostic: &Diagnostic) -> Value {
        let mut object = serde_json::to_value(diagnostic).unwrap_or_default();
        if let Place::File { file, range } = &diagnostic.place
            && let Some(place) = object.get_mut("place").and_then(Value::as_object_mut)
        {
            place.insert("file".to_owned(), json!(self.shown(file)));
            if let Some(text) = (self.text_of)(file) {
                place.insert("start".to_owned(), json!(position(&text, range.start)));
                place.insert("end".to_owned(), json!(position(&text, range.end)));
            }
        }
        object
    }

    fn shown(&self, file: &Path) -> String {
        let below = self.folder.as_deref().and_then(|folder| file.strip_prefix(folder).ok());
        below.unwrap_or(file).display().to_string()
    }
}

impl std::fmt::Debug for Renderer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Renderer")
            .field("colored", &self.colored)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

/// The lines with these bytes.
fn excerpt<'g>(text: &str, range: &Range<usize>) -> Snippet<'g, annotate_snippets::Annotation<'g>> {
    let range = clamp(text, range);
    let start = text[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at);
    let lines = text[start..end].trim_end_matches('\r').to_owned();
    let annotation = AnnotationKind::Primary.span(clamp(&lines, &(range.start - start..range.end - start)));
    Snippet::source(lines).line_start(position(text, start).line).annotation(annotation)
}

/// The range within the text, on the borders of characters: a text may have changed since.
fn clamp(text: &str, range: &Range<usize>) -> Range<usize> {
    let floor = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let start = floor(range.start);
    start..floor(range.end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_text(_: &Path) -> Option<String> {
        None
    }

    #[test]
    fn places_that_are_no_files_are_named() {
        let renderer = Renderer::new(&no_text);
        let doc = Place::Doc {
            type_name: "A".to_owned(),
            field: Some("b".to_owned()),
            marker: "+listType=lst".to_owned(),
            range: 10..13,
        };
        assert_eq!(
            renderer.render(&Diagnostic::error("unknown-word", "`lst` is no list type", doc)),
            "error[unknown-word]: `lst` is no list type\n |\n = note: in the comment of the field `b` of `A`\n |\n | +listType=lst\n |           ^^^"
        );
    }

    #[test]
    fn json_has_lines_and_columns() {
        let texts = |_: &Path| Some("a\nbc\n".to_owned());
        let place = Place::File { file: "/op/src/a.rs".into(), range: 2..4 };
        let renderer = Renderer::new(&texts).relative_to("/op");
        assert_eq!(
            renderer.json(&Diagnostic::warning("w", "m", place)),
            json!({
                "severity": "warning",
                "code": "w",
                "message": "m",
                "place": {
                    "in": "file",
                    "file": "src/a.rs",
                    "range": {"start": 2, "end": 4},
                    "start": {"line": 2, "column": 1},
                    "end": {"line": 2, "column": 3},
                },
            })
        );
    }

    #[test]
    fn a_text_that_changed_does_no_harm() {
        let texts = |_: &Path| Some("ü".to_owned());
        for range in [0..1, 1..2, 1..1, 5..9, 2..2] {
            let place = Place::File { file: "a.rs".into(), range };
            assert!(Renderer::new(&texts).render(&Diagnostic::error("e", "m", place)).contains("a.rs:1:"));
        }
    }

    #[test]
    fn colours_are_for_the_caller_to_want() {
        let place = Place::Document { document: "d".to_owned(), path: String::new() };
        let diagnostic = Diagnostic::error("e", "m", place);
        assert!(Renderer::new(&no_text).colored(true).render(&diagnostic).contains('\u{1b}'));
        assert!(!Renderer::new(&no_text).render(&diagnostic).contains('\u{1b}'));
    }
}
