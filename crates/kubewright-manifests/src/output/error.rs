//! What can go wrong with files.

use std::{io, path::PathBuf};

/// Why files could not be planned, compared or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// A file or folder could not be used.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was to be done with it: `read`, `write`, `remove`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },

    /// There is something else where a file should be.
    #[error("cannot write {}: it is not a file; move it away or choose another output folder", path.display())]
    NotAFile {
        /// Where.
        path: PathBuf,
    },

    /// Two generators, or two kinds, would write the same file.
    #[error(
        "{first} and {second} would both be written to {}; give them different output folders or file names",
        path.display()
    )]
    Twice {
        /// The file.
        path: PathBuf,
        /// What is in it already.
        first: String,
        /// What was to be written over it.
        second: String,
    },

    /// The name of a file would lead out of its folder.
    #[error("`{name}` cannot be the name of a file")]
    Name {
        /// The name.
        name: String,
    },

    /// The text for the top of each file would make it invalid YAML.
    #[error("line {line} of the header file {} is not a YAML comment; begin it with `#`", path.display())]
    Header {
        /// The header file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
}

impl OutputError {
    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}
