use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Built;
use crate::{
    diagnostic::{Diagnostic, Place, Severity},
    schema::{MARKER_OF_KIND, Origin},
};

/// The CRDs of an operator, and all that is known of them.
///
/// `my-operator crd --output json` prints it as one JSON object, which is a stable contract: fields may come, none
/// changes its meaning or goes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Generated {
    /// The documents, in the order of their names.
    pub documents: Vec<Value>,
    /// Where the parts of each document come from, in the order of `documents`.
    #[serde(default)]
    pub origins: Vec<Vec<Origin>>,
    /// What is wrong. If one is an error, the documents are not fit for use.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
}

// === impl Generated ===

impl Generated {
    /// Whether something is wrong that forbids to use the documents.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// The documents as types.
    ///
    /// # Errors
    ///
    /// If a document is not a CustomResourceDefinition, which those that were built are.
    pub fn definitions(&self) -> serde_json::Result<Vec<CustomResourceDefinition>> {
        self.documents.iter().map(|document| serde_json::from_value(document.clone())).collect()
    }
}

impl FromIterator<Built> for Generated {
    fn from_iter<I: IntoIterator<Item = Built>>(built: I) -> Self {
        let mut built: Vec<Built> = built.into_iter().collect();
        built.sort_by_cached_key(Built::name);
        let kind_types: BTreeSet<String> =
            built.iter().flat_map(|one| one.kind_types.iter().cloned()).collect();
        let mut all = Self::default();
        for one in built {
            all.documents.push(one.document);
            all.origins.push(one.origins);
            all.diagnostics.extend(one.diagnostics);
        }
        // The spec of one kind may be part of another, in which its markers about the kind mean nothing, and need not.
        all.diagnostics.retain(|found| match &found.place {
            Place::Doc { type_name, .. } => found.code != MARKER_OF_KIND || !kind_types.contains(type_name),
            _ => true,
        });
        all
    }
}
