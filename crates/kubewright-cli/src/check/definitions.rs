//! Where CRDs come from: files, folders, git revisions, clusters.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    command::CheckCrdOptions,
    definitions::{is_manifest, of_cluster, of_path, of_text, some},
    error::Error,
};

/// Where CRDs come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A file, or a folder with all files below it.
    Path(PathBuf),
    /// A file or a folder in a git revision, as git spells it: `REV:PATH`.
    Git(String),
    /// One CRD of a cluster, or those that the other side has.
    Cluster(Option<String>),
}

impl Source {
    /// Reads `PATH`, `REV:PATH`, `git:REV:PATH`, `cluster` or `cluster:NAME`. What exists as a file is a file.
    pub(super) fn parse(text: &str) -> Self {
        if Path::new(text).exists() {
            return Self::Path(text.into());
        }
        match text.split_once(':') {
            _ if text == "cluster" => Self::Cluster(None),
            Some(("cluster", name)) => Self::Cluster(Some(name.to_owned()).filter(|name| !name.is_empty())),
            Some(("git", revision)) => Self::Git(revision.to_owned()),
            Some(_) => Self::Git(text.to_owned()),
            None => Self::Path(text.into()),
        }
    }
}

/// Reads both sides. A cluster is asked last, since the other side may say for what.
pub(super) fn read(
    sources: [Source; 2],
    options: &CheckCrdOptions,
    verbose: u8,
) -> Result<[Vec<Value>; 2], Error> {
    let local = |source: &Source| match source {
        Source::Path(path) => of_path(path).map(Some),
        Source::Git(object) => of_git(object).map(Some),
        Source::Cluster(_) => Ok(None),
    };
    let sides = [local(&sources[0])?, local(&sources[1])?];
    let names: Vec<String> = sides.iter().flatten().flatten().filter_map(name).collect();
    let [old, new] = sources;
    let [old_side, new_side] = sides;
    let remote = |source: Source, side: Option<Vec<Value>>| match (side, source) {
        (Some(side), _) => Ok(side),
        (None, Source::Cluster(Some(name))) => of_cluster(&[name], true, &options.cluster, verbose),
        (None, _) if names.is_empty() => Err(Error::Arguments(
            "both sides are a cluster; name the CRD on one of them, as cluster:memcacheds.cache.example.com"
                .to_owned(),
        )),
        (None, _) => of_cluster(&names, false, &options.cluster, verbose),
    };
    Ok([remote(old, old_side)?, remote(new, new_side)?])
}

fn name(crd: &Value) -> Option<String> {
    crd.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned)
}

// === git ===

fn of_git(object: &str) -> Result<Vec<Value>, Error> {
    let mut found = Vec::new();
    match git(&["cat-file", "-t"], object)?.trim() {
        "tree" => {
            let names = git(&["ls-tree", "-r", "-z", "--name-only", "--full-tree"], object)?;
            let separator = if object.ends_with([':', '/']) { "" } else { "/" };
            for name in names.split('\0').filter(|name| is_manifest(Path::new(name))) {
                let file = format!("{object}{separator}{name}");
                found.extend(of_text(&file, &git(&["show"], &file)?)?);
            }
        }
        "blob" => found = of_text(object, &git(&["show"], object)?)?,
        other => {
            return Err(Error::Git {
                object: object.to_owned(),
                reason: format!(
                    "it is a {other}; name a file or a folder in it, as {object}:config/crd/bases"
                ),
            });
        }
    }
    some(found, object.to_owned())
}

fn git(arguments: &[&str], object: &str) -> Result<String, Error> {
    let failed = |reason: String| Error::Git { object: object.to_owned(), reason };
    // What the user typed must not be taken for a flag.
    let output = Command::new("git")
        .args(arguments)
        .arg("--end-of-options")
        .arg(object)
        .output()
        .map_err(|error| failed(format!("git does not run: {error}")))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    String::from_utf8(output.stdout).map_err(|_| failed("it is not UTF-8".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told_apart_by_their_form() {
        assert_eq!(Source::parse("Cargo.toml"), Source::Path("Cargo.toml".into()));
        assert_eq!(Source::parse("no/such/file.yaml"), Source::Path("no/such/file.yaml".into()));
        assert_eq!(Source::parse("main:config/crd"), Source::Git("main:config/crd".into()));
        assert_eq!(Source::parse("git:HEAD~1:a.yaml"), Source::Git("HEAD~1:a.yaml".into()));
        assert_eq!(Source::parse("cluster"), Source::Cluster(None));
        assert_eq!(Source::parse("cluster:"), Source::Cluster(None));
        assert_eq!(Source::parse("cluster:as.example.com"), Source::Cluster(Some("as.example.com".into())));
    }
}
