//! The folder of a kustomization, and what may be read from it.

use std::{
    io,
    path::{Component, Path, PathBuf},
};

use crate::{
    error::{Error, Problem},
    kustomization::FILE_NAMES,
    source::Source,
};

/// Kustomizations that name each other, one in the other.
const MAX_NESTED: usize = 200;

/// A folder that is built, and those for which it is.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    /// Absolute, without links.
    root: PathBuf,
    /// As a user knows it.
    shown: PathBuf,
    above: Vec<PathBuf>,
}

/// What a path in `resources` is.
#[derive(Debug)]
pub(crate) enum Resource {
    File,
    Folder(Folder),
}

impl Folder {
    pub(crate) fn new(source: &dyn Source, path: &Path) -> Result<Self, Error> {
        let fail = |why| Error::new(path, Problem::Unreadable { path: path.to_owned(), why });
        let found = source.find(path).map_err(fail)?;
        if !found.is_folder {
            return Err(fail(io::ErrorKind::NotADirectory.into()));
        }
        Ok(Self { root: found.path, shown: path.to_owned(), above: Vec::new() })
    }

    pub(crate) fn shown(&self) -> &Path {
        &self.shown
    }

    pub(crate) fn error(&self, file: &str, problem: Problem) -> Error {
        Error::new(self.shown.join(file), problem)
    }

    /// The text of the kustomization, and the name of its file.
    pub(crate) fn kustomization(&self, source: &dyn Source) -> Result<(String, &'static str), Error> {
        let there: Vec<&'static str> = FILE_NAMES
            .into_iter()
            .filter(|name| source.find(&self.root.join(name)).is_ok_and(|f| !f.is_folder))
            .collect();
        match there.as_slice() {
            [] => Err(Error::new(&self.shown, Problem::NoKustomization)),
            [name] => {
                self.text(source, name).map(|text| (text, *name)).map_err(|problem| self.error(name, problem))
            }
            _ => Err(Error::new(&self.shown, Problem::SeveralKustomizations(there))),
        }
    }

    pub(crate) fn text(&self, source: &dyn Source, path: &str) -> Result<String, Problem> {
        String::from_utf8(self.bytes(source, path)?)
            .map_err(|_| Problem::Malformed { path: path.into(), why: "it is no UTF-8".to_owned() })
    }

    /// The content of a file in or below the folder.
    pub(crate) fn bytes(&self, source: &dyn Source, path: &str) -> Result<Vec<u8>, Problem> {
        let fail = |why| unreadable(path, why);
        let found = source.find(&self.root.join(path)).map_err(fail)?;
        if found.is_folder {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        if !found.path.starts_with(&self.root) {
            return Err(Problem::Outside(path.into()));
        }
        source.read(&found.path).map_err(fail)
    }

    /// What a path in `resources` leads to.
    pub(crate) fn resource(&self, source: &dyn Source, path: &str) -> Result<Resource, Problem> {
        match source.find(&self.root.join(path)) {
            Ok(found) if found.is_folder && !path.is_empty() => {
                self.enter(source, path).map(Resource::Folder)
            }
            _ => Ok(Resource::File),
        }
    }

    /// Another folder, for this one.
    pub(crate) fn enter(&self, source: &dyn Source, path: &str) -> Result<Self, Problem> {
        let fail = |why| unreadable(path, why);
        if path.is_empty() {
            return Err(Problem::Invalid("a path is empty".to_owned()));
        }
        let found = source.find(&self.root.join(path)).map_err(fail)?;
        if !found.is_folder {
            return Err(fail(io::ErrorKind::NotADirectory.into()));
        }
        if Path::new(path).is_absolute() {
            return Err(Problem::Absolute(path.into()));
        }
        let above: Vec<PathBuf> = self.above.iter().chain([&self.root]).cloned().collect();
        if above.iter().any(|above| above.starts_with(&found.path)) {
            return Err(Problem::Cycle(path.into()));
        }
        if above.len() > MAX_NESTED {
            return Err(Problem::Invalid(format!("more than {MAX_NESTED} kustomizations name each other")));
        }
        Ok(Self { root: found.path, shown: joined(&self.shown, path), above })
    }
}

fn unreadable(path: &str, why: io::Error) -> Problem {
    if is_remote(path) {
        Problem::Remote(path.to_owned())
    } else {
        Problem::Unreadable { path: path.into(), why }
    }
}

/// Whether somebody means something that is not on this machine.
fn is_remote(path: &str) -> bool {
    let hosts = ["github.com/", "gitlab.com/", "bitbucket.org/", "git@", "git::", "gh:"];
    path.contains("://") || path.contains("?ref=") || hosts.iter().any(|host| path.starts_with(host))
}

/// `path` from `folder`, without `.` and without `..` where that is possible.
pub(crate) fn joined(folder: &Path, path: &str) -> PathBuf {
    let mut result = folder.to_owned();
    for component in Path::new(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(result.components().next_back(), Some(Component::Normal(_))) => {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}
