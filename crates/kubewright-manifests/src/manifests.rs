//! What a generator gives.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    diagnostic::{Diagnostic, Severity},
    yaml,
};

/// The documents of one file, and what is wrong with what they were made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Manifests {
    /// The documents, in their order.
    pub documents: Vec<Value>,
    /// What is wrong, in the order of the source. If one of these is an error, the documents are not fit for use.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
}

// === impl Manifests ===

impl Manifests {
    /// Whether something is wrong that forbids to use the documents.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The text of the file: every document begins with `---`. It is empty if there are none, and then controller-gen
    /// writes no file.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        yaml::stream(&self.documents)
    }
}
