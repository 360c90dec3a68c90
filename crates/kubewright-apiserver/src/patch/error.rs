//! Why a patch was refused.

use kubewright_schema::error::go;

use crate::status::{Cause, GroupKind, Status};

/// Why a patch was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// The body is no patch of its kind. Kubernetes answers 400.
    #[error("{0}")]
    BadRequest(String),
    /// The patch has too many operations. Kubernetes answers 413.
    #[error("The allowed maximum operations in a JSON patch is {limit}, got {got}")]
    TooLarge {
        /// How many are allowed.
        limit: usize,
        /// How many there are.
        got: usize,
    },
    /// An operation does not apply to the object: a path is missing. Kubernetes answers 422 without saying why.
    #[error("{0}")]
    Unprocessable(String),
    /// What an operation tests does not hold. Kubernetes answers as if the operation did not apply.
    #[error("{0}")]
    TestFailed(String),
    /// What the patch makes of the object is not an object of its type. Kubernetes answers 422.
    #[error("patch: Invalid value: {shown}: {reason}", shown = go::quote(.shown))]
    Invalid {
        /// The patched object, or the patch.
        shown: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The patch does not fit the type of the object. Kubernetes answers 500.
    #[error("{0}")]
    Internal(String),
}

impl From<PatchError> for Status {
    fn from(error: PatchError) -> Self {
        match error {
            PatchError::BadRequest(message) => Status::bad_request(message),
            PatchError::TooLarge { .. } => {
                let mut status = Status::too_large(0);
                status.message = format!("Request entity too large: {error}");
                status
            }
            PatchError::Unprocessable(_) | PatchError::TestFailed(_) => Status::unprocessable(),
            PatchError::Invalid { shown, reason } => {
                let cause = Cause {
                    reason: "FieldValueInvalid".to_owned(),
                    message: format!("Invalid value: {}: {reason}", go::quote(&shown)),
                    field: "patch".to_owned(),
                };
                Status::invalid(&GroupKind::default(), "", vec![cause])
            }
            PatchError::Internal(message) => Status::untyped(message),
        }
    }
}
