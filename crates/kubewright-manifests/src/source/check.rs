//! What is wrong with the markers of all sources.

use super::{
    SourceFile, Sources,
    comment::Candidate,
    lexer::Documents,
    placement::{self, Ground},
};
use crate::diagnostic::{Diagnostic, Place, Severity};

impl Sources {
    /// Says what is wrong with the markers of all files, in the order of files and lines.
    ///
    /// Files without markers are not parsed. In one that is not Rust, and inside of macro calls, names and arguments are
    /// checked, places are not.
    #[must_use]
    pub fn check(&self) -> Vec<Diagnostic> {
        self.files.iter().flat_map(check_file).collect()
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
    for (candidate, ground) in candidates.iter().zip(&grounds) {
        let others = || {
            let all = candidates.iter().zip(&grounds);
            all.filter(|(_, other)| is_same(ground, other)).map(|(other, _)| other.text.to_string()).collect()
        };
        match placement::check(candidate, *ground, &others) {
            Ok(_) => diagnostics.extend(behind_code(file, candidate)),
            Err(error) => {
                let range = candidate.narrow(&error.range);
                diagnostics.push(error.at(Place::File { file: file.path.clone(), range }));
            }
        }
    }
    diagnostics
}

fn is_same(left: &Ground<'_>, right: &Ground<'_>) -> bool {
    match (left, right) {
        (Ground::On(left), Ground::On(right)) => left.range == right.range,
        _ => false,
    }
}

/// A doc comment behind code reads as if it were about that code.
fn behind_code(file: &SourceFile, candidate: &Candidate<'_>) -> Option<Diagnostic> {
    (candidate.is_behind_code && candidate.documents == Documents::Next).then(|| Diagnostic {
        severity: Severity::Warning,
        code: "comment-behind-code".to_owned(),
        message: "this doc comment is about what follows, not about the code before it".to_owned(),
        place: Place::File { file: file.path.clone(), range: candidate.range.clone() },
        help: vec!["write it on a line of its own, above what it is about".to_owned()],
    })
}
