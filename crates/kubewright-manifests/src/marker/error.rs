//! Why a line is not a marker, and what would be one.

use std::ops::Range;

use crate::diagnostic::{Diagnostic, Place, Severity};

/// What is wrong with a marker.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct MarkerError {
    /// A stable name of this kind of fault, such as `unknown-marker`.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// The bytes of the marker's text that are at fault.
    pub range: Range<usize>,
    /// What to do about it.
    pub help: Vec<String>,
}

// === impl MarkerError ===

impl MarkerError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>, range: Range<usize>) -> Self {
        Self { code, message: message.into(), range, help: Vec::new() }
    }

    pub(crate) fn help(mut self, sentence: impl Into<String>) -> Self {
        self.help.push(sentence.into());
        self
    }

    pub(crate) fn maybe_help(mut self, sentence: Option<String>) -> Self {
        self.help.extend(sentence);
        self
    }

    /// The diagnostic of this error at a place. Its range is that of the error within the marker, which the caller has
    /// put into the place.
    #[must_use]
    pub fn at(self, place: Place) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code: self.code.to_owned(),
            message: self.message,
            place,
            help: self.help,
        }
    }
}
