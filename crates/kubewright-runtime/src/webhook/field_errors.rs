use std::fmt;

use kube::core::{
    Status,
    response::{StatusCause, StatusDetails, StatusSummary},
};
use serde::Serialize;

use super::AdmissionRequest;
use crate::{Error, Result};

/// What is wrong with the fields of an object, in the words of Kubernetes.
///
/// A [`Validator`](super::Validator) collects them, so that the user learns all of them at once. The answer is that of
/// the API server's own validation: `422 Invalid`, with a cause for each field.
///
/// ```
/// use kubewright_runtime::webhook::FieldErrors;
///
/// let mut errors = FieldErrors::new();
/// errors.invalid("spec.size", 4, "must be odd");
/// errors.required("spec.image", "there is nothing to run");
/// assert_eq!(
///     errors.to_string(),
///     "[spec.size: Invalid value: 4: must be odd, spec.image: Required value: there is nothing to run]"
/// );
/// assert!(errors.into_result().is_err());
/// assert!(FieldErrors::new().into_result().is_ok());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldErrors {
    causes: Vec<Cause>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cause {
    reason: &'static str,
    path: String,
    message: String,
}

// === impl FieldErrors ===

impl FieldErrors {
    /// Nothing is wrong yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A value cannot be used, for the reason of `detail`.
    pub fn invalid(&mut self, path: impl Into<String>, value: impl Serialize, detail: impl AsRef<str>) {
        self.add("FieldValueInvalid", path, with_value("Invalid value", &value), detail.as_ref());
    }

    /// A value is missing.
    pub fn required(&mut self, path: impl Into<String>, detail: impl AsRef<str>) {
        self.add("FieldValueRequired", path, "Required value".to_owned(), detail.as_ref());
    }

    /// A field must not be set, or not be changed.
    pub fn forbidden(&mut self, path: impl Into<String>, detail: impl AsRef<str>) {
        self.add("FieldValueForbidden", path, "Forbidden".to_owned(), detail.as_ref());
    }

    /// A value is none of those that there are.
    pub fn not_supported(
        &mut self,
        path: impl Into<String>,
        value: impl Serialize,
        supported: impl IntoIterator<Item = impl AsRef<str>>,
    ) {
        let supported: Vec<_> = supported.into_iter().map(|value| format!("{:?}", value.as_ref())).collect();
        let detail = match supported.is_empty() {
            true => String::new(),
            false => format!("supported values: {}", supported.join(", ")),
        };
        self.add("FieldValueNotSupported", path, with_value("Unsupported value", &value), &detail);
    }

    /// A value is there twice, where each may be there once.
    pub fn duplicate(&mut self, path: impl Into<String>, value: impl Serialize) {
        self.add("FieldValueDuplicate", path, with_value("Duplicate value", &value), "");
    }

    /// A value names something that is not there.
    pub fn not_found(&mut self, path: impl Into<String>, value: impl Serialize) {
        self.add("FieldValueNotFound", path, with_value("Not found", &value), "");
    }

    /// A text is longer than `most` bytes.
    pub fn too_long(&mut self, path: impl Into<String>, most: usize) {
        let unit = if most == 1 { "byte" } else { "bytes" };
        let detail = format!("may not be more than {most} {unit}");
        self.add("FieldValueTooLong", path, "Too long".to_owned(), &detail);
    }

    /// A list has more than `most` items.
    pub fn too_many(&mut self, path: impl Into<String>, items: usize, most: usize) {
        let unit = if most == 1 { "item" } else { "items" };
        let detail = format!("must have at most {most} {unit}");
        self.add("FieldValueTooMany", path, with_value("Too many", &items), &detail);
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.causes.is_empty()
    }

    /// How many fields are wrong.
    #[must_use]
    pub fn len(&self) -> usize {
        self.causes.len()
    }

    /// Themselves as an error, if something is wrong.
    ///
    /// # Errors
    ///
    /// If something is wrong.
    pub fn into_result(self) -> Result<()> {
        if self.is_empty() { Ok(()) } else { Err(Error::other(self)) }
    }

    /// The refusal of the object that a request is about.
    pub(super) fn status(&self, request: &AdmissionRequest) -> Status {
        let kind = match request.kind.group.as_str() {
            "" => request.kind.kind.clone(),
            group => format!("{}.{group}", request.kind.kind),
        };
        let message = format!("{kind} {:?} is invalid: {self}", request.name);
        let mut status = Status::failure(&message, "Invalid").with_code(422);
        status.status = Some(StatusSummary::Failure);
        status.details = Some(StatusDetails {
            name: request.name.clone(),
            group: request.kind.group.clone(),
            kind: request.kind.kind.clone(),
            uid: String::new(),
            causes: self
                .causes
                .iter()
                .map(|cause| StatusCause {
                    reason: cause.reason.to_owned(),
                    message: cause.message.clone(),
                    field: cause.path.clone(),
                })
                .collect(),
            retry_after_seconds: 0,
        });
        status
    }

    fn add(&mut self, reason: &'static str, path: impl Into<String>, mut message: String, detail: &str) {
        if !detail.is_empty() {
            message.push_str(": ");
            message.push_str(detail);
        }
        self.causes.push(Cause { reason, path: path.into(), message });
    }
}

/// One as it is, several in brackets, as Go prints them.
impl fmt::Display for FieldErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = self.causes.len() > 1;
        f.write_str(if several { "[" } else { "" })?;
        for (index, cause) in self.causes.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{}: {}", cause.path, cause.message)?;
        }
        f.write_str(if several { "]" } else { "" })
    }
}

impl std::error::Error for FieldErrors {}

impl From<FieldErrors> for Error {
    fn from(errors: FieldErrors) -> Self {
        Self::other(errors)
    }
}

/// Numbers and booleans as they are, texts quoted, the rest as JSON.
fn with_value(what: &str, value: &impl Serialize) -> String {
    match serde_json::to_string(value) {
        Ok(value) => format!("{what}: {value}"),
        Err(_) => what.to_owned(),
    }
}
