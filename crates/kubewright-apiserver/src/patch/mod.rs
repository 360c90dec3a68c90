//! The three patches that change an object without server-side apply: JSON patch, JSON merge patch and
//! strategic merge patch, with the behaviour of the libraries that kube-apiserver uses, quirks included.
//!
//! Each takes the stored object and the request body and returns a [`Patched`], which
//! [`Patched::decode`] turns into an object again. The registry uses nothing else.

mod error;
mod json_patch;
mod merge_patch;
mod patched;
pub mod strategic;

pub use error::PatchError;
pub use json_patch::json_patch;
pub use merge_patch::merge_patch;
pub use patched::Patched;
pub use strategic::strategic_merge_patch;

use crate::types::strict;

/// Parses a patch body. Fields that come twice in it are strict errors.
fn parse(body: &[u8]) -> Result<strict::Decoded, PatchError> {
    strict::decode(body, None).map_err(|_| PatchError::BadRequest("invalid JSON patch".to_owned()))
}
