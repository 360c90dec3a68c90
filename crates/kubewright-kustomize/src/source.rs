//! Where files come from.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Component, Path, PathBuf},
};

/// What a kustomization is read from.
///
/// Paths are relative to where the source begins, or absolute. Nothing is ever written.
pub trait Source {
    /// The absolute path of a file or folder without links, `.` and `..`.
    ///
    /// # Errors
    ///
    /// As of the file system: [`io::ErrorKind::NotFound`] if there is nothing.
    fn find(&self, path: &Path) -> io::Result<Found>;

    /// The content of a file that was found.
    ///
    /// # Errors
    ///
    /// As of the file system.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// Something that is in a [`Source`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Absolute, without links, `.` and `..`.
    pub path: PathBuf,
    /// A folder, and not a file.
    pub is_folder: bool,
}

impl<S: Source + ?Sized> Source for &S {
    fn find(&self, path: &Path) -> io::Result<Found> {
        (**self).find(path)
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        (**self).read(path)
    }
}

/// The file system. Paths begin at the working folder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disk;

impl Source for Disk {
    fn find(&self, path: &Path) -> io::Result<Found> {
        let path = fs::canonicalize(path)?;
        let is_folder = fs::metadata(&path)?.is_dir();
        Ok(Found { path, is_folder })
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }
}

/// Files in memory. Paths begin at `/`.
///
/// ```
/// use kubewright_kustomize::{Memory, Source};
///
/// let files = Memory::from_iter([("config/crd/kustomization.yaml", "resources: []")]);
/// assert!(files.find("config/crd".as_ref())?.is_folder);
/// assert_eq!(files.read("/config/crd/kustomization.yaml".as_ref())?, b"resources: []");
/// # Ok::<_, std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Memory {
    /// Adds a file, or replaces it. The folders around it are there then.
    pub fn insert(&mut self, path: impl AsRef<Path>, content: impl Into<Vec<u8>>) {
        self.files.insert(normal(path.as_ref()), content.into());
    }
}

impl<P: AsRef<Path>, C: Into<Vec<u8>>> FromIterator<(P, C)> for Memory {
    fn from_iter<T: IntoIterator<Item = (P, C)>>(files: T) -> Self {
        let mut memory = Self::default();
        for (path, content) in files {
            memory.insert(path, content);
        }
        memory
    }
}

impl Source for Memory {
    fn find(&self, path: &Path) -> io::Result<Found> {
        let path = normal(path);
        let is_file = self.files.contains_key(&path);
        let is_folder = || self.files.range(path.clone()..).any(|(file, _)| file.starts_with(&path));
        if is_file || is_folder() {
            return Ok(Found { path, is_folder: !is_file });
        }
        Err(io::ErrorKind::NotFound.into())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.files.get(&normal(path)).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// The absolute path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    normal
}
