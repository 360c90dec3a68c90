//! Where CRDs come from: files, folders, git revisions, clusters.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{ApiResource, DynamicObject},
};
use serde_json::Value;

use crate::{command::CheckCrdOptions, error::Error, kubeconfig::client};

/// The kind of the documents that are compared. All others are left out.
const KIND: &str = "CustomResourceDefinition";

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
        (None, Source::Cluster(Some(name))) => of_cluster(&[name], true, options, verbose),
        (None, _) if names.is_empty() => Err(Error::Arguments(
            "both sides are a cluster; name the CRD on one of them, as cluster:memcacheds.cache.example.com"
                .to_owned(),
        )),
        (None, _) => of_cluster(&names, false, options, verbose),
    };
    Ok([remote(old, old_side)?, remote(new, new_side)?])
}

fn name(crd: &Value) -> Option<String> {
    crd.pointer("/metadata/name").and_then(Value::as_str).map(str::to_owned)
}

// === files ===

fn of_path(path: &Path) -> Result<Vec<Value>, Error> {
    let shown = path.display().to_string();
    let mut found = Vec::new();
    for file in files(path)? {
        let text = fs::read_to_string(&file).map_err(Error::io(format!("read {}", file.display())))?;
        found.extend(definitions(&file.display().to_string(), &text)?);
    }
    some(found, shown)
}

/// The manifests below `path`, sorted. A path that is no folder is one, whatever it is called.
fn files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = || format!("read the folder {}", folder.display());
        for entry in fs::read_dir(&folder).map_err(Error::io(failed()))? {
            let entry = entry.map_err(Error::io(failed()))?;
            // A link may lead back up.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
            } else if is_manifest(&entry.path()) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|known| extension == *known))
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
                found.extend(definitions(&file, &git(&["show"], &file)?)?);
            }
        }
        "blob" => found = definitions(object, &git(&["show"], object)?)?,
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

// === clusters ===

fn of_cluster(
    names: &[String],
    must_exist: bool,
    options: &CheckCrdOptions,
    verbose: u8,
) -> Result<Vec<Value>, Error> {
    crate::on_runtime(verbose, async |_| {
        let resource = ApiResource::erase::<CustomResourceDefinition>(&());
        let api = Api::<DynamicObject>::all_with(client(&options.cluster).await?, &resource);
        let mut found = Vec::new();
        for name in names {
            let failed =
                |reason: String| Error::Api { action: "get", object: format!("the CRD {name}"), reason };
            match api.get_opt(name).await.map_err(|error| failed(error.to_string()))? {
                Some(crd) => {
                    found.push(serde_json::to_value(crd).map_err(|error| failed(error.to_string()))?);
                }
                None if must_exist => return Err(failed("the cluster has no such CRD".to_owned())),
                // It was added, or removed, since.
                None => {}
            }
        }
        Ok(found)
    })
}

// === documents ===

/// The CRDs in a text of YAML or JSON, those in lists included.
fn definitions(what: &str, text: &str) -> Result<Vec<Value>, Error> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text)
        .map_err(|error| Error::Yaml { what: what.to_owned(), reason: error.to_string() })?;
    let mut found = Vec::new();
    for mut document in documents {
        let is_list = document["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
        match document.get_mut("items").and_then(Value::as_array_mut) {
            Some(items) if is_list => found.append(items),
            _ => found.push(document),
        }
    }
    found.retain(|document| document["kind"] == KIND);
    Ok(found)
}

fn some(found: Vec<Value>, what: String) -> Result<Vec<Value>, Error> {
    if found.is_empty() { Err(Error::NoDefinitions { what }) } else { Ok(found) }
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

    #[test]
    fn definitions_are_found_among_other_documents_and_in_lists() {
        let text = "kind: Kustomization\n---\nkind: CustomResourceDefinition\nmetadata: {name: a}\n---\n\
                    kind: List\nitems:\n- kind: CustomResourceDefinition\n  metadata: {name: b}\n- kind: Pod\n---\n";
        let names: Vec<_> = definitions("text", text).expect("YAML").iter().filter_map(name).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(definitions("text", "a: [").is_err());
    }
}
