//! One file of source text.

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use super::{
    comment::{self, Candidate},
    lexer,
    subject::{self, Subject},
    test_code::{self, TestCode},
};
use crate::marker::docs;

/// A file of source text.
#[derive(Debug)]
#[non_exhaustive]
pub struct SourceFile {
    /// Its path, as the package's folder was given.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    pub(super) package: usize,
    tokens: Vec<lexer::Token>,
    test_code: TestCode,
    /// Parsing takes most of the time, so it is done once, and only if somebody asks.
    subjects: OnceLock<Result<Vec<Subject>, NotRust>>,
}

/// Why a text is not Rust.
#[derive(Clone, Debug)]
pub(super) struct NotRust {
    pub(super) message: String,
    /// The bytes that the parser stopped at.
    pub(super) range: Range<usize>,
}

// === impl SourceFile ===

impl SourceFile {
    pub(super) fn new(path: PathBuf, text: String, package: usize) -> Self {
        let tokens = lexer::tokens(&text);
        let test_code =
            if text.contains("test") { test_code::find(&text, &tokens) } else { TestCode::default() };
        Self { path, text, package, tokens, test_code, subjects: OnceLock::new() }
    }

    /// The lines of its comments that are markers or meant to be, without those of test code.
    pub(super) fn candidates(&self) -> Vec<Candidate<'_>> {
        if !self.text.contains('+') {
            return Vec::new();
        }
        let mut candidates = comment::candidates(&self.text, &self.tokens);
        candidates.retain(|candidate| !self.is_test_code(&candidate.range));
        candidates
    }

    /// What comments can stand on; if the text is not Rust, why.
    pub(super) fn subjects(&self) -> Result<&[Subject], &NotRust> {
        let of_error =
            |error: syn::Error| NotRust { range: error.span().byte_range(), message: error.to_string() };
        self.subjects.get_or_init(|| subject::subjects(&self.text).map_err(of_error)).as_deref()
    }

    /// Whether its text has what would be a marker if it stood in a comment.
    pub(super) fn mentions_markers(&self) -> bool {
        let is_marker = |(at, _): (usize, &str)| {
            let line = self.text.get(at..).unwrap_or_default().lines().next().unwrap_or_default();
            matches!(docs::classify(line), docs::Line::Marker(_))
        };
        self.text.match_indices('+').any(is_marker)
    }

    pub(super) fn is_test_code(&self, range: &Range<usize>) -> bool {
        self.test_code.ranges.iter().any(|test| test.start <= range.start && range.end <= test.end)
    }

    /// The files of modules that are there for tests only, without `.rs`, or with it where the name is given.
    pub(super) fn test_modules(&self) -> Vec<PathBuf> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let below = match self.path.file_stem().and_then(|stem| stem.to_str()) {
            Some("mod" | "lib" | "main") | None => folder.to_owned(),
            Some(stem) => folder.join(stem),
        };
        let place = |module: &test_code::TestModule| {
            let within: PathBuf = module.within.iter().collect();
            match &module.path {
                Some(path) if module.within.is_empty() => folder.join(path),
                Some(path) => below.join(within).join(path),
                None => below.join(within).join(&module.name),
            }
        };
        self.test_code.modules.iter().map(place).collect()
    }

    /// Whether this file belongs to the module that [`Self::test_modules`] of another one names.
    pub(super) fn is_module_at(&self, module: &Path) -> bool {
        self.path == *module || self.path.with_extension("") == *module || self.path.starts_with(module)
    }
}

// === impl Candidate ===

impl Candidate<'_> {
    /// The bytes in the file of a part of the marker.
    pub(super) fn narrow(&self, part: &Range<usize>) -> Range<usize> {
        if self.range.len() == self.text.len() {
            self.range.start + part.start..self.range.start + part.end
        } else {
            self.range.clone()
        }
    }
}
