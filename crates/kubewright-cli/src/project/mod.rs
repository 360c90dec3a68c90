//! The operator's package, as cargo describes it, and what is done with it: built, and run in a process group of its own.

mod build;
mod process_group;

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, MetadataCommand, Package, TargetKind};

pub(crate) use self::{
    build::{BuildOptions, build},
    process_group::ProcessGroup,
};
use crate::error::Error;

/// The Cargo package of an operator.
#[derive(Debug)]
pub(crate) struct Project {
    /// The package's name.
    pub(crate) package: String,
    /// The binary target that is the operator.
    pub(crate) binary: String,
    /// Its `Cargo.toml`.
    pub(crate) manifest: PathBuf,
    /// The folder of `Cargo.toml`.
    pub(crate) folder: PathBuf,
    /// Where cargo puts what it builds.
    pub(crate) target_directory: PathBuf,
    /// The folder of the workspace, or of the package if it is in none.
    pub(crate) workspace_root: PathBuf,
    /// What the manifest says of the package.
    pub(crate) about: About,
}

/// What a manifest says of its package, for those who look at what was made of it.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) version: String,
    pub(crate) description: Option<String>,
    pub(crate) license: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) homepage: Option<String>,
}

/// Lets an operator that runs on this machine serve no webhooks, unless the user said where: a cluster elsewhere does not
/// reach them, and they would need a certificate.
pub(crate) fn without_webhooks() -> Vec<(&'static str, String)> {
    const ADDRESS: &str = "WEBHOOK_BIND_ADDRESS";
    let is_said = [ADDRESS, "WEBHOOK_CERT_PATH"].into_iter().any(|name| std::env::var_os(name).is_some());
    if is_said { Vec::new() } else { vec![(ADDRESS, "0".to_owned())] }
}

impl Project {
    /// Finds the package in `path`, and in it the binary `bin`, or its only one.
    pub(crate) async fn find(path: &Path, bin: Option<&str>) -> Result<Self, Error> {
        let not_a_package = |reason: String| Error::NotAPackage { path: path.to_owned(), reason };
        let manifest = path.join("Cargo.toml");
        let manifest = manifest
            .canonicalize()
            .map_err(|error| not_a_package(format!("{}: {error}", manifest.display())))?;
        // Without the dependencies, which are resolved in many times the time.
        let metadata = metadata(&manifest, true).await.map_err(not_a_package)?;
        let package = package(&metadata, &manifest)
            .ok_or_else(|| not_a_package("its Cargo.toml describes a workspace, not a package".to_owned()))?;
        Ok(Self {
            package: package.name.to_string(),
            binary: binary(package, bin)?,
            folder: manifest.parent().unwrap_or(path).to_owned(),
            target_directory: metadata.target_directory.clone().into_std_path_buf(),
            workspace_root: metadata.workspace_root.clone().into_std_path_buf(),
            about: About {
                version: package.version.to_string(),
                description: package.description.clone(),
                license: package.license.clone(),
                repository: package.repository.clone(),
                homepage: package.homepage.clone(),
            },
            manifest,
        })
    }

    /// The folders of the package and of every package on this machine that it depends on: what to follow.
    pub(crate) async fn source_folders(&self) -> Result<Vec<PathBuf>, Error> {
        let not_a_package = |reason| Error::NotAPackage { path: self.folder.clone(), reason };
        let metadata = metadata(&self.manifest, false).await.map_err(not_a_package)?;
        Ok(package(&metadata, &self.manifest)
            .map_or_else(|| vec![self.folder.clone()], |package| local_folders(&metadata, package)))
    }
}

async fn metadata(manifest: &Path, no_dependencies: bool) -> Result<Metadata, String> {
    let mut command = MetadataCommand::new();
    command.manifest_path(manifest);
    if no_dependencies {
        command.no_deps();
    }
    let failed = |error: &dyn std::error::Error| error.to_string().trim().to_owned();
    tokio::task::spawn_blocking(move || command.exec())
        .await
        .map_err(|error| failed(&error))?
        .map_err(|error| failed(&error))
}

fn package<'m>(metadata: &'m Metadata, manifest: &Path) -> Option<&'m Package> {
    metadata.packages.iter().find(|package| package.manifest_path.as_std_path() == manifest)
}

fn binary(package: &Package, wanted: Option<&str>) -> Result<String, Error> {
    let mut found: Vec<String> = package
        .targets
        .iter()
        .filter(|target| target.kind.contains(&TargetKind::Bin))
        .map(|target| target.name.clone())
        .collect();
    let default = package.default_run.as_deref();
    match wanted.or(default) {
        Some(name) if found.iter().any(|binary| binary == name) => Ok(name.to_owned()),
        None if found.len() == 1 => Ok(found.remove(0)),
        _ => Err(Error::WhichBinary { package: package.name.to_string(), found }),
    }
}

/// The folders of `root` and of the path packages it depends on, directly or not, in a stable order.
fn local_folders(metadata: &Metadata, root: &Package) -> Vec<PathBuf> {
    let nodes = metadata.resolve.as_ref().map(|resolve| resolve.nodes.as_slice()).unwrap_or_default();
    let mut seen = vec![&root.id];
    let mut next = 0;
    while let Some(id) = seen.get(next).copied() {
        next += 1;
        let dependencies = nodes.iter().find(|node| node.id == *id).map(|node| node.dependencies.as_slice());
        for dependency in dependencies.unwrap_or_default() {
            // A package with a source comes from a registry or from git: it does not change on save.
            let local =
                metadata.packages.iter().any(|package| package.id == *dependency && package.source.is_none());
            if local && !seen.contains(&dependency) {
                seen.push(dependency);
            }
        }
    }
    let mut folders: Vec<PathBuf> = metadata
        .packages
        .iter()
        .filter(|package| seen.contains(&&package.id))
        .filter_map(|package| package.manifest_path.parent())
        .map(|folder| folder.as_std_path().to_owned())
        .collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn finds_the_package_its_binary_and_the_folders_to_follow() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let project = Project::find(folder, None).await.expect("this crate is a package");
        assert_eq!(project.package, "kubewright-cli");
        assert_eq!(project.binary, "kubewright");
        let folders = project.source_folders().await.expect("cargo knows them");
        assert!(folders.iter().any(|path| path.ends_with("kubewright-cli")));
        assert!(folders.iter().any(|path| path.ends_with("kubewright-runtime")));
        assert!(folders.iter().all(|path| !path.to_string_lossy().contains("registry")));
    }

    #[tokio::test]
    async fn a_wrong_binary_name_lists_the_right_ones() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let error = Project::find(folder, Some("operator")).await.expect_err("no such binary");
        assert!(error.to_string().contains("kubewright"), "{error}");
    }

    #[tokio::test]
    async fn a_folder_without_a_manifest_is_refused_by_name() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let error = Project::find(folder.path(), None).await.expect_err("no Cargo.toml");
        assert!(error.to_string().contains("is not a Cargo package"), "{error}");
    }
}
