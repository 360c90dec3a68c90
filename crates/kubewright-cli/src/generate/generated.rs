//! What an operator prints of its CRDs.

use kubewright_manifests::diagnostic::Diagnostic;
use serde::Deserialize;
use serde_json::Value;

/// The documents, and what is wrong with them.
#[derive(Debug, Deserialize)]
pub(super) struct Generated {
    pub(super) documents: Vec<Value>,
    #[serde(default)]
    pub(super) diagnostics: Vec<Diagnostic>,
}
