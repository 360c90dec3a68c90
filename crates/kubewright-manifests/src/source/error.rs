//! Why sources cannot be read.

use std::path::PathBuf;

/// Why the sources of a package cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A manifest is not what cargo reads.
    #[error("{} is no manifest of cargo: {reason}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The folder has a manifest, but of a workspace alone.
    #[error("{} is the manifest of a workspace without a package: name the folder of one of its packages", path.display())]
    NoPackage {
        /// The manifest.
        path: PathBuf,
    },
    /// A dependency says `workspace = true`, and no workspace has it.
    #[error("{} takes `{dependency}` from its workspace, which does not have it", path.display())]
    NotInWorkspace {
        /// The manifest.
        path: PathBuf,
        /// The dependency.
        dependency: String,
    },
}
