//! The packages whose sources belong to an operator: its own, and those that it depends on by path.
//!
//! Manifests are read without cargo, which takes longer to start than all of this. A package that is not part of an
//! operator's code says so in its manifest, and neither it nor what it depends on is read:
//!
//! ```toml
//! [package.metadata.kubewright]
//! scan = false
//! ```

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Component, Path, PathBuf},
};

use toml::{Table, Value};

use super::SourceError;

/// A package of cargo.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Package {
    /// Its name.
    pub name: String,
    /// The folder of its manifest.
    pub root: PathBuf,
    /// Its library and binaries, where the manifest says where they are.
    pub(super) targets: Vec<PathBuf>,
}

/// A package in `folder`, and those it depends on by path, directly or not: its own first, then the others breadth-first, by name.
///
/// Dependencies that are optional or for one platform count; those of tests and of build scripts do not.
///
/// # Errors
///
/// A manifest that cannot be read, and a folder without a package.
pub fn packages(folder: &Path) -> Result<Vec<Package>, SourceError> {
    let mut packages = Vec::new();
    let mut seen = BTreeSet::new();
    let mut waiting = vec![normal(folder)];
    while !waiting.is_empty() {
        let mut next = Vec::new();
        for folder in waiting {
            if !seen.insert(folder.clone()) {
                continue;
            }
            let path = folder.join("Cargo.toml");
            let manifest = read(&path)?;
            let package = manifest
                .get("package")
                .and_then(Value::as_table)
                .ok_or_else(|| SourceError::NoPackage { path: path.clone() })?;
            if !packages.is_empty() && is_excluded(package) {
                continue;
            }
            next.extend(dependencies(&folder, &path, &manifest)?);
            packages.push(Package {
                name: package.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
                targets: targets(&folder, &manifest),
                root: folder,
            });
        }
        waiting = next;
    }
    Ok(packages)
}

/// The folders of the dependencies by path, ordered by name.
fn dependencies(folder: &Path, path: &Path, manifest: &Table) -> Result<Vec<PathBuf>, SourceError> {
    let of_platforms = manifest
        .get("target")
        .and_then(Value::as_table)
        .into_iter()
        .flat_map(|targets| targets.values())
        .filter_map(|target| target.get("dependencies"));
    let mut named: Vec<(&String, &Table)> = manifest
        .get("dependencies")
        .into_iter()
        .chain(of_platforms)
        .filter_map(Value::as_table)
        .flatten()
        .filter_map(|(name, dependency)| Some((name, dependency.as_table()?)))
        .collect();
    named.sort_by_key(|(name, _)| *name);
    let mut workspace = None;
    let mut folders = Vec::new();
    for (name, dependency) in named {
        if let Some(at) = dependency.get("path").and_then(Value::as_str) {
            folders.push(normal(&folder.join(at)));
        } else if dependency.get("workspace").and_then(Value::as_bool) == Some(true) {
            if workspace.is_none() {
                workspace = Some(find_workspace(folder, path, manifest)?);
            }
            let missing =
                || SourceError::NotInWorkspace { path: path.to_owned(), dependency: name.to_owned() };
            let (root, shared) = workspace.as_ref().and_then(Option::as_ref).ok_or_else(missing)?;
            let dependency = shared.get(name).ok_or_else(missing)?;
            if let Some(at) = dependency.get("path").and_then(Value::as_str) {
                folders.push(normal(&root.join(at)));
            }
        }
    }
    Ok(folders)
}

/// The root of the workspace, and its dependencies.
fn find_workspace(
    folder: &Path,
    path: &Path,
    manifest: &Table,
) -> Result<Option<(PathBuf, Table)>, SourceError> {
    let dependencies = |manifest: &Table| {
        let workspace = manifest.get("workspace")?.as_table()?;
        Some(workspace.get("dependencies").and_then(Value::as_table).cloned().unwrap_or_default())
    };
    if let Some(own) = dependencies(manifest) {
        return Ok(Some((folder.to_owned(), own)));
    }
    if let Some(root) =
        manifest.get("package").and_then(|package| package.get("workspace")).and_then(Value::as_str)
    {
        let root = normal(&folder.join(root));
        let found = dependencies(&read(&root.join("Cargo.toml"))?);
        return Ok(found.map(|found| (root, found)));
    }
    // The folders above have to be known by their names, which `.` hides.
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let absolute =
        fs::canonicalize(here).map_err(|source| SourceError::Read { path: path.to_owned(), source })?;
    let mut above = folder.to_owned();
    for _ in absolute.ancestors().skip(1) {
        above = normal(&above.join(".."));
        let candidate = above.join("Cargo.toml");
        if candidate.is_file()
            && let Some(found) = dependencies(&read(&candidate)?)
        {
            return Ok(Some((above, found)));
        }
    }
    Ok(None)
}

/// The files of the library and the binaries that the manifest names.
fn targets(folder: &Path, manifest: &Table) -> Vec<PathBuf> {
    let library = manifest.get("lib").into_iter();
    let binaries = manifest.get("bin").and_then(Value::as_array).into_iter().flatten();
    library
        .chain(binaries)
        .filter_map(|target| target.get("path")?.as_str())
        .map(|path| normal(&folder.join(path)))
        .collect()
}

fn is_excluded(package: &Table) -> bool {
    let scan =
        package.get("metadata").and_then(|all| all.get("kubewright")).and_then(|ours| ours.get("scan"));
    scan.and_then(Value::as_bool) == Some(false)
}

fn read(path: &Path) -> Result<Table, SourceError> {
    let text =
        fs::read_to_string(path).map_err(|source| SourceError::Read { path: path.to_owned(), source })?;
    text.parse().map_err(|error: toml::de::Error| SourceError::Manifest {
        path: path.to_owned(),
        reason: error.message().to_owned(),
    })
}

/// A path without `.`, and without `..` after a name, so that one folder has one path.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(normal.components().next_back(), Some(Component::Normal(_))) => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// The Rust files of a package, sorted by their paths: all below `src`, and the files that the manifest names.
pub(super) fn files(package: &Package) -> Result<Vec<PathBuf>, SourceError> {
    let mut files = BTreeSet::new();
    walk(&package.root.join("src"), 0, &mut files)?;
    files.extend(package.targets.iter().filter(|path| path.is_file()).cloned());
    Ok(files.into_iter().collect())
}

/// Links to folders are not followed: they may lead around in circles.
fn walk(folder: &Path, depth: usize, files: &mut BTreeSet<PathBuf>) -> Result<(), SourceError> {
    const DEPTH: usize = 64;
    let failed = |source: io::Error| SourceError::Read { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if depth == 0 && error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let kind = entry.file_type().map_err(failed)?;
        if kind.is_dir() && depth < DEPTH {
            walk(&path, depth + 1, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") && path.is_file() {
            files.insert(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn names(root: &Path) -> Vec<String> {
        packages(root).unwrap().into_iter().map(|package| package.name).collect()
    }

    #[test]
    fn path_dependencies_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            &[
                (
                    "op/Cargo.toml",
                    "[package]\nname='op'\n[dependencies]\nserde='1'\nz={path='../z'}\na={path='../a'}\n[dev-dependencies]\nt={path='../t'}\n[target.'cfg(unix)'.dependencies]\nm={path='../m',optional=true}",
                ),
                ("a/Cargo.toml", "[package]\nname='a'\n[dependencies]\nz={path='../z'}\nb={path='../b'}"),
                ("b/Cargo.toml", "[package]\nname='b'\n[dependencies]\na={path='../a'}"),
                ("m/Cargo.toml", "[package]\nname='m'"),
                (
                    "z/Cargo.toml",
                    "[package]\nname='z'\n[package.metadata.kubewright]\nscan=false\n[dependencies]\nn={path='../n'}",
                ),
            ],
        );
        assert_eq!(names(&folder.path().join("op")), ["op", "a", "m", "b"]);
    }

    #[test]
    fn workspaces_give_paths() {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            &[
                (
                    "Cargo.toml",
                    "[workspace]\nmembers=['crates/*']\n[workspace.dependencies]\napi={path='crates/api'}\nserde='1'",
                ),
                (
                    "crates/op/Cargo.toml",
                    "[package]\nname='op'\n[dependencies]\napi.workspace=true\nserde={workspace=true}",
                ),
                (
                    "crates/api/Cargo.toml",
                    "[package]\nname='api'\nworkspace='../..'\n[dependencies]\nserde.workspace=true",
                ),
                ("crates/odd/Cargo.toml", "[package]\nname='odd'\n[dependencies]\nnone.workspace=true"),
            ],
        );
        assert_eq!(names(&folder.path().join("crates/op")), ["op", "api"]);
        let error = packages(&folder.path().join("crates/odd")).unwrap_err().to_string();
        assert!(error.ends_with("takes `none` from its workspace, which does not have it"), "{error}");
        assert!(matches!(packages(folder.path()), Err(SourceError::NoPackage { .. })));
    }

    #[test]
    fn files_have_an_order() {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            &[
                (
                    "Cargo.toml",
                    "[package]\nname='op'\n[lib]\npath='lib/api.rs'\n[[bin]]\nname='x'\npath='src/x.rs'",
                ),
                ("src/main.rs", ""),
                ("src/a/b.rs", ""),
                ("src/x.rs", ""),
                ("src/notes.txt", ""),
                ("lib/api.rs", ""),
                ("tests/t.rs", ""),
            ],
        );
        let package = &packages(folder.path()).unwrap()[0];
        let paths = files(package).unwrap();
        let paths: Vec<_> = paths.iter().map(|path| path.strip_prefix(folder.path()).unwrap()).collect();
        assert_eq!(paths, ["lib/api.rs", "src/a/b.rs", "src/main.rs", "src/x.rs"].map(Path::new));
    }

    #[test]
    fn a_manifest_that_is_none_is_named() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &[("Cargo.toml", "[package")]);
        assert!(matches!(packages(folder.path()), Err(SourceError::Manifest { .. })));
        assert!(matches!(packages(&folder.path().join("none")), Err(SourceError::Read { .. })));
    }

    #[test]
    fn one_folder_has_one_path() {
        assert_eq!(normal(Path::new("./a/./b/../c")), Path::new("a/c"));
        assert_eq!(normal(Path::new("../../a/..")), Path::new("../.."));
        assert_eq!(normal(Path::new("/../a")), Path::new("/../a"));
    }
}
