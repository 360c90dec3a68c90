//! What can go wrong.

use std::{io, path::PathBuf};

/// Why a kustomization cannot be built.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .place.display())]
pub struct Error {
    place: PathBuf,
    problem: Problem,
}

/// What is wrong, without the place.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {why}", .path.display())]
    Unreadable {
        /// As it is named in the kustomization.
        path: PathBuf,
        /// What the system says.
        why: io::Error,
    },
    /// A folder has no kustomization.
    #[error("there is no kustomization.yaml, kustomization.yml or Kustomization in this folder")]
    NoKustomization,
    /// A folder has more than one kustomization.
    #[error("the folder has {}: keep one of them", .0.join(" and "))]
    SeveralKustomizations(Vec<&'static str>),
    /// A kustomization, or a file that belongs to it, is not well-formed, has unknown fields, or wrong values.
    #[error("{0}")]
    Invalid(String),
    /// A file of objects is not well-formed.
    #[error("{}: {why}", .path.display())]
    Malformed {
        /// As it is named in the kustomization.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A path is a URL or names a repository. Nothing is loaded from the network.
    #[error("{0} is remote, and nothing is loaded from the network: download it and name the file or folder")]
    Remote(String),
    /// A file lies outside of the folder of its kustomization.
    #[error("{} is not in or below the folder of the kustomization that names it: copy it there, or make its folder a kustomization of its own and name that", .0.display())]
    Outside(PathBuf),
    /// A folder is named that contains one that is being built.
    #[error("{} contains this folder, so that building it would never end", .0.display())]
    Cycle(PathBuf),
    /// A folder is an absolute path.
    #[error("{} is absolute: name folders by their path from the kustomization", .0.display())]
    Absolute(PathBuf),
    /// Two objects have the same identity.
    #[error("{0} is there twice: objects differ in kind, name or namespace")]
    Duplicate(String),
    /// An entry of the kustomization cannot be carried out.
    #[error("{entry}: {why}")]
    Entry {
        /// Its place in the kustomization, as `patches[0]`.
        entry: String,
        /// What went wrong.
        why: String,
    },
}

impl Error {
    pub(crate) fn new(place: impl Into<PathBuf>, problem: Problem) -> Self {
        Self { place: place.into(), problem }
    }

    /// The kustomization, or the folder that should have one.
    #[must_use]
    pub fn place(&self) -> &std::path::Path {
        &self.place
    }

    /// What is wrong.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}
