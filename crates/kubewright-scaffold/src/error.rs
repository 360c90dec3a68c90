//! What keeps a project from being written or changed.

use std::{io, path::PathBuf};

use kubewright_manifests::output::OutputError;

use crate::{names::NameError, types::DefinitionError};

/// A change that cannot be made. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScaffoldError {
    /// A name that cannot be used.
    #[error(transparent)]
    Name(#[from] NameError),

    /// The model does not allow the change.
    #[error("{0}")]
    Refused(String),

    /// A definition that types cannot be made of.
    #[error(transparent)]
    Definition(#[from] DefinitionError),

    /// The `PROJECT` file cannot be used.
    #[error("{} is not a project file that can be used: {reason}", path.display())]
    ProjectFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        reason: String,
    },

    /// There is no project.
    #[error("there is no project in {}: no file PROJECT; make one with `kubewright init`, or go to its folder", folder.display())]
    NoProject {
        /// Where it was looked for.
        folder: PathBuf,
    },

    /// There is one already.
    #[error("there is a project in {} already (its file PROJECT is there); use --force to write it anew", folder.display())]
    IsProject {
        /// Where it is.
        folder: PathBuf,
    },

    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },

    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] OutputError),
}
