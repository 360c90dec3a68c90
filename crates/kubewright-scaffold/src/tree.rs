//! The files of a project, on disk or in memory.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use crate::ScaffoldError;

/// Files with text, by their paths in the project.
pub type Files = BTreeMap<PathBuf, String>;

/// Where files are read from.
#[derive(Clone, Debug)]
pub struct Tree {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    Folder(PathBuf),
    Memory(Files),
}

// === impl Tree ===

impl Tree {
    /// The files below a folder, which need not be there.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { source: Source::Folder(folder.into()) }
    }

    /// These files.
    #[must_use]
    pub fn of(files: Files) -> Self {
        Self { source: Source::Memory(files) }
    }

    /// The text of a file, if it is there.
    ///
    /// # Errors
    ///
    /// If it is there and cannot be read, or is no text.
    pub fn read(&self, path: &Path) -> Result<Option<String>, ScaffoldError> {
        match &self.source {
            Source::Memory(files) => Ok(files.get(path).cloned()),
            Source::Folder(folder) => match std::fs::read_to_string(folder.join(path)) {
                Ok(text) => Ok(Some(text)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(source) => Err(ScaffoldError::Read { path: self.path(path), source }),
            },
        }
    }

    /// A path in the project as the user knows it.
    #[must_use]
    pub fn path(&self, path: &Path) -> PathBuf {
        match &self.source {
            Source::Folder(folder) if path.as_os_str().is_empty() => folder.clone(),
            // `./src/main.rs` would only be longer.
            Source::Folder(folder) if folder == Path::new(".") => path.to_owned(),
            Source::Folder(folder) => folder.join(path),
            Source::Memory(_) => path.to_owned(),
        }
    }
}
