use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use json_patch::Patch;
use kube::core::{Status, response::StatusSummary};
use serde_json::{Value, json};

use super::{AdmissionRequest, FieldErrors};
use crate::Error;

/// What an admission webhook answers.
///
/// ```
/// use kubewright_runtime::webhook::AdmissionResponse;
///
/// let response = AdmissionResponse::denied("the shop is closed").with_warning("it opens at nine");
/// assert!(!response.is_allowed());
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "it is the answer"]
pub struct AdmissionResponse {
    allowed: bool,
    status: Option<Status>,
    patch: Option<Patch>,
    warnings: Vec<String>,
    audit_annotations: BTreeMap<String, String>,
}

// === impl AdmissionResponse ===

impl AdmissionResponse {
    /// The request may go on, with the object as it is.
    pub fn allowed() -> Self {
        Self {
            allowed: true,
            status: None,
            patch: None,
            warnings: Vec::new(),
            audit_annotations: BTreeMap::new(),
        }
    }

    /// The request is refused: `403 Forbidden` with this message.
    pub fn denied(message: impl AsRef<str>) -> Self {
        Self::refused(Status::failure(message.as_ref(), "Forbidden").with_code(403))
    }

    /// The request is refused because it could not be judged, with this status code.
    pub fn errored(code: u16, message: impl AsRef<str>) -> Self {
        Self::refused(Status::failure(message.as_ref(), "").with_code(code))
    }

    /// The request is refused with this status.
    pub fn refused(mut status: Status) -> Self {
        status.status = Some(StatusSummary::Failure);
        Self { allowed: false, status: Some(status), ..Self::allowed() }
    }

    /// The request may go on, with the object changed from `original`, which is that of the request, to `changed`.
    pub fn patched(original: &Value, changed: &Value) -> Self {
        Self::allowed().with_patch(json_patch::diff(original, changed))
    }

    /// The same, with the object changed by this patch. An empty one changes nothing.
    pub fn with_patch(mut self, patch: Patch) -> Self {
        self.patch = Some(patch).filter(|patch| !patch.is_empty());
        self
    }

    /// The same with a warning, which clients show: `kubectl` in yellow.
    pub fn with_warning(mut self, warning: impl Into<String>) -> Self {
        self.warnings.push(warning.into());
        self
    }

    /// The same with these warnings.
    pub fn with_warnings(mut self, warnings: impl IntoIterator<Item = String>) -> Self {
        self.warnings.extend(warnings);
        self
    }

    /// The same with a note for the audit log of the API server, which puts the name of the webhook before `key`.
    pub fn with_audit_annotation(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.audit_annotations.insert(key.into(), value.into());
        self
    }

    /// Whether the request may go on.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// Why the request is refused.
    #[must_use]
    pub fn status(&self) -> Option<&Status> {
        self.status.as_ref()
    }

    /// What is changed in the object, if something is.
    #[must_use]
    pub fn patch(&self) -> Option<&Patch> {
        self.patch.as_ref()
    }

    /// The warnings.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The refusal that an error of a defaulter or a validator means.
    ///
    /// [`FieldErrors`] are `422 Invalid`, an answer of the API server to a call of the webhook's own keeps its code and
    /// reason, and anything else is `403 Forbidden` with the error's message.
    pub fn from_error(error: &Error, request: &AdmissionRequest) -> Self {
        let other = match error {
            Error::Terminal(other) | Error::Other(other) => Some(other),
            _ => None,
        };
        let status = other.and_then(|other| {
            let kube = other.downcast_ref::<kube::Error>().and_then(|error| match error {
                kube::Error::Api(status) => Some((**status).clone()),
                _ => None,
            });
            let fields = || other.downcast_ref::<FieldErrors>().map(|errors| errors.status(request));
            kube.or_else(|| other.downcast_ref::<Status>().cloned()).or_else(fields)
        });
        let client = || error.as_client_error().and_then(|error| error.status()).cloned();
        match status.or_else(client) {
            Some(status) => Self::refused(status),
            None => Self::denied(error.to_string()),
        }
    }

    /// The `response` of a review.
    pub(super) fn to_value(&self, uid: &str) -> Value {
        let mut value = json!({"uid": uid, "allowed": self.allowed});
        if let Some(status) = &self.status {
            value["status"] = json!(status);
        }
        if let Some(patch) = &self.patch {
            value["patchType"] = "JSONPatch".into();
            value["patch"] = STANDARD.encode(json!(patch).to_string()).into();
        }
        if !self.warnings.is_empty() {
            value["warnings"] = json!(self.warnings);
        }
        if !self.audit_annotations.is_empty() {
            value["auditAnnotations"] = json!(self.audit_annotations);
        }
        value
    }
}
