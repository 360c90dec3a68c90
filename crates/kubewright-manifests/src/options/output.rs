//! Where manifests go.

use std::path::PathBuf;

/// Where the manifests of a generator go.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Into files in this folder.
    Folder(PathBuf),
    /// To the standard output.
    Stdout,
    /// Nowhere: they are made and checked, no more.
    Nowhere,
}
