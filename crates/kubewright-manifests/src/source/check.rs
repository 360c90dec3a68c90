//! What is wrong with the markers of all sources.

use super::{
    SourceFile, Sources,
    comment::Candidate,
    flattened,
    lexer::Documents,
    placement::{self, Ground},
    subject::Subject,
};
use crate::{
    diagnostic::{Diagnostic, Place},
    marker::{Effect, Marker},
};

impl Sources {
    /// Says what is wrong with the markers of all files, in the order of files and lines; then which of them are lost because
    /// their type is flattened into another.
    ///
    /// Files without markers are not parsed. In one that is not Rust, and inside of macro calls, names and arguments are
    /// checked, places are not.
    #[must_use]
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut diagnostics: Vec<Diagnostic> = self.files.iter().flat_map(check_file).collect();
        diagnostics.extend(flattened::check(self));
        diagnostics
    }
}

fn check_file(file: &SourceFile) -> Vec<Diagnostic> {
    let candidates = file.candidates();
    if candidates.is_empty() {
        return Vec::new();
    }
    let subjects = file.subjects();
    let grounds: Vec<Ground<'_>> = candidates
        .iter()
        .map(|candidate| subjects.map_or(Ground::Unknown, |subjects| placement::ground(candidate, subjects)))
        .collect();
    let mut diagnostics = Vec::new();
    let mut read: Vec<(usize, Marker)> = Vec::new();
    for (candidate, ground) in candidates.iter().zip(&grounds) {
        let others = || {
            let all = candidates.iter().zip(&grounds);
            all.filter(|(_, other)| is_same(ground, other)).map(|(other, _)| other.text.to_string()).collect()
        };
        match placement::check(candidate, *ground, &others) {
            Ok(marker) => {
                diagnostics.extend(behind_code(file, candidate));
                diagnostics.extend(of_package(file, candidate, &marker));
                if let Ground::On(subject) = ground {
                    diagnostics.extend(repeated(file, candidate, subject, &marker, &read));
                    read.push((subject.range.start, marker));
                }
            }
            Err(error) => {
                let range = candidate.narrow(&error.range);
                diagnostics.push(error.at(Place::File { file: file.path.clone(), range }));
            }
        }
    }
    diagnostics
}

/// Markers with one value that are there twice, with two values.
fn repeated(
    file: &SourceFile,
    candidate: &Candidate<'_>,
    subject: &Subject,
    marker: &Marker,
    read: &[(usize, Marker)],
) -> Option<Diagnostic> {
    if !marker.definition.is_single() {
        return None;
    }
    let values =
        |marker: &Marker| marker.arguments.iter().map(|argument| argument.value.clone()).collect::<Vec<_>>();
    let before = read.iter().rev().take_while(|(start, _)| *start == subject.range.start);
    let same = before.map(|(_, other)| other).find(|other| {
        std::ptr::eq(other.definition, marker.definition) && other.on_items == marker.on_items
    })?;
    (values(same) != values(marker)).then(|| {
        let place = Place::File { file: file.path.clone(), range: candidate.range.clone() };
        Diagnostic::error(
            "repeated-marker",
            format!("`{}` is there twice, with another value before", marker.name),
            place,
        )
        .with_help("leave one of them out")
    })
}

/// What Go says of a package, Rust says of each type.
fn of_package(file: &SourceFile, candidate: &Candidate<'_>, marker: &Marker) -> Option<Diagnostic> {
    matches!(marker.definition.effect, Effect::Package(_)).then(|| {
        let place = Place::File { file: file.path.clone(), range: candidate.range.clone() };
        let message = format!("`{}` does nothing in Rust", marker.name);
        let warning = Diagnostic::warning("no-effect", message, place).with_help(marker.definition.help);
        match marker.definition.native {
            Some(attribute) => warning.with_help(format!("the attribute `{attribute}` says it")),
            None => warning,
        }
    })
}

fn is_same(left: &Ground<'_>, right: &Ground<'_>) -> bool {
    match (left, right) {
        (Ground::On(left), Ground::On(right)) => left.range == right.range,
        _ => false,
    }
}

/// A doc comment behind code reads as if it were about that code.
fn behind_code(file: &SourceFile, candidate: &Candidate<'_>) -> Option<Diagnostic> {
    (candidate.is_behind_code && candidate.documents == Documents::Next).then(|| {
        let place = Place::File { file: file.path.clone(), range: candidate.range.clone() };
        let message = "this doc comment is about what follows, not about the code before it";
        Diagnostic::warning("comment-behind-code", message, place)
            .with_help("write it on a line of its own, above what it is about")
    })
}
