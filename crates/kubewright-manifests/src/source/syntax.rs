//! Files that are not Rust.

use super::{SourceFile, Sources};
use crate::diagnostic::{Diagnostic, Place, Severity};

impl Sources {
    /// Names the files that may have markers and are not Rust, and what the parser says of each.
    ///
    /// Where a string or a bracket is left open, what is a comment and what is not is anybody's guess, so no marker of
    /// such a file should be relied on.
    #[must_use]
    pub fn check_syntax(&self) -> Vec<Diagnostic> {
        self.files.iter().filter(|file| file.mentions_markers()).filter_map(fault).collect()
    }
}

fn fault(file: &SourceFile) -> Option<Diagnostic> {
    let error = file.subjects().err()?;
    let range = error.range.clone();
    // A mistake at the end of the file has no place of its own.
    let end = file.text.trim_end().len();
    let range = if range.is_empty() && range.start == 0 { end..end } else { range };
    Some(Diagnostic {
        severity: Severity::Error,
        code: "not-rust".to_owned(),
        message: format!("this is not Rust: {}", error.message),
        place: Place::File { file: file.path.clone(), range },
        help: vec!["mostly, a bracket or a quotation mark is left open; `cargo check` says more".to_owned()],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<(String, String)> {
        let sources = Sources::of_texts("op", [("src/main.rs".into(), text.to_owned())]);
        let shown = |diagnostic: Diagnostic| match diagnostic.place {
            Place::File { range, .. } => (diagnostic.message, text[range].to_owned()),
            other => panic!("{other:?}"),
        };
        sources.check_syntax().into_iter().map(shown).collect()
    }

    #[test]
    fn the_parser_says_what_and_where() {
        let marker = "// +kubebuilder:rbac:verbs=get\n";
        assert_eq!(faults(&format!("{marker}fn a() {{}}\n")), []);
        let [(message, at)] = &*faults(&format!("#!/usr/bin/env run\n{marker}struct A {{ b: = }}\n")) else {
            panic!("one fault")
        };
        assert!(message.starts_with("this is not Rust: expected "), "{message}");
        assert_eq!(at, "=");
        assert_eq!(faults(&format!("{marker}fn a( {{}}\n")).len(), 1);
        assert_eq!(faults(&format!("const A: &str = \"\n{marker}")).len(), 1);
    }

    #[test]
    fn files_without_markers_are_left_to_the_compiler() {
        assert_eq!(faults("fn a( -> u8;\n"), []);
    }
}
