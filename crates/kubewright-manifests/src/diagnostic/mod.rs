//! What is wrong with a marker or with what was generated from it, and where.

mod order;
mod position;
#[cfg(feature = "source")]
mod render;

use std::{ops::Range, path::PathBuf};

use serde::{Deserialize, Serialize};

pub use order::arrange;
pub use position::{Position, position};
#[cfg(feature = "source")]
pub use render::Renderer;

/// One thing that is wrong, for people.
///
/// Diagnostics are collected, not thrown: one run tells everything that is wrong. They are serializable, because
/// those about compiled types come from the operator's own process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Diagnostic {
    /// Whether it stops the generation.
    pub severity: Severity,
    /// A stable name of this kind of fault, such as `unknown-marker`, for tools and for searching.
    pub code: String,
    /// What is wrong: lowercase, no full stop.
    pub message: String,
    /// Where.
    pub place: Place,
    /// What to do about it, or what else helps: one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub help: Vec<String>,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// The output is right, but probably not what was meant.
    Warning,
    /// Nothing is written.
    Error,
}

/// Where something is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "in")]
#[non_exhaustive]
pub enum Place {
    /// In a file, at these bytes.
    #[serde(rename_all = "camelCase")]
    File {
        /// The file.
        file: PathBuf,
        /// The bytes of its text.
        range: Range<usize>,
    },
    /// In the doc comment of a type or of one of its fields, as the compiled type knows it. The source scanner turns
    /// it into a [`Place::File`].
    #[serde(rename_all = "camelCase")]
    Doc {
        /// The name of the Rust type as its schema has it, such as `MemcachedSpec`.
        type_name: String,
        /// The field's name in JSON; none for the type itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        field: Option<String>,
        /// The whole marker from its `+`, as it stands in the comment; empty if no marker is at fault.
        marker: String,
        /// The bytes of `marker` that are at fault.
        range: Range<usize>,
    },
    /// In a generated document.
    #[serde(rename_all = "camelCase")]
    Document {
        /// The document, such as `CustomResourceDefinition memcacheds.cache.example.com`.
        document: String,
        /// The path in it, such as `spec.versions[0].schema.openAPIV3Schema.properties[spec]`.
        path: String,
    },
}

// === impl Place ===

impl Place {
    /// These bytes of the marker that stands at this place: the place of one of its arguments.
    ///
    /// ```
    /// use kubewright_manifests::diagnostic::Place;
    ///
    /// let marker = Place::File { file: "src/main.rs".into(), range: 100..160 };
    /// assert_eq!(marker.within(10..14), Place::File { file: "src/main.rs".into(), range: 110..114 });
    /// ```
    #[must_use]
    pub fn within(&self, bytes: Range<usize>) -> Self {
        let mut place = self.clone();
        match &mut place {
            Self::File { range, .. } => *range = range.start + bytes.start..range.start + bytes.end,
            Self::Doc { range, .. } => *range = bytes,
            Self::Document { .. } => {}
        }
        place
    }
}

// === impl Diagnostic ===

impl Diagnostic {
    /// Something that stops the generation.
    #[must_use]
    pub fn error(code: impl Into<String>, message: impl Into<String>, place: Place) -> Self {
        Self {
            severity: Severity::Error,
            code: code.into(),
            message: message.into(),
            place,
            help: Vec::new(),
        }
    }

    /// Something that was probably not meant.
    #[must_use]
    pub fn warning(code: impl Into<String>, message: impl Into<String>, place: Place) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message, place) }
    }

    /// Adds a sentence about what to do.
    #[must_use]
    pub fn with_help(mut self, sentence: impl Into<String>) -> Self {
        self.help.push(sentence.into());
        self
    }

    /// Whether it stops the generation.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
