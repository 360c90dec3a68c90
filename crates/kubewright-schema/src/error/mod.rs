//! Field errors: what Kubernetes says about a value that breaks a rule.
//!
//! Everything in this crate that can refuse a value answers with an [`ErrorList`]. Its text and its
//! causes are those of the Kubernetes API machinery, so the API server copies them into a `Status`
//! without rewording. Start at [`FieldError`]; [`FieldPath`] builds the field names.

mod field_error;
pub mod go;
mod list;
mod path;

pub use field_error::{Cause, FieldError, FieldErrorKind};
pub use list::ErrorList;
pub use path::FieldPath;
