//! CRDs in files, folders and clusters.

use std::{
    fs,
    path::{Path, PathBuf},
};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api,
    api::{ApiResource, DynamicObject},
};
use serde_json::Value;

use crate::{
    error::Error,
    kubeconfig::{ClusterChoice, client},
};

/// The kind of the documents that are read. All others are left out.
const KIND: &str = "CustomResourceDefinition";

// === files ===

/// Those of a file, or of all files below a folder: at least one.
pub(crate) fn of_path(path: &Path) -> Result<Vec<Value>, Error> {
    let shown = path.display().to_string();
    let mut found = Vec::new();
    for file in files(path)? {
        let text = fs::read_to_string(&file).map_err(Error::io(format!("read {}", file.display())))?;
        found.extend(of_text(&file.display().to_string(), &text)?);
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

/// Whether a file has the name of a manifest.
pub(crate) fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|known| extension == *known))
}

// === clusters ===

/// Those of a cluster with these names; an error if one that must be there is not.
pub(crate) fn of_cluster(
    names: &[String],
    must_exist: bool,
    cluster: &ClusterChoice,
    verbose: u8,
) -> Result<Vec<Value>, Error> {
    crate::on_runtime(verbose, async |_| {
        let resource = ApiResource::erase::<CustomResourceDefinition>(&());
        let api = Api::<DynamicObject>::all_with(client(cluster).await?, &resource);
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

/// Those in a text of YAML or JSON, lists included.
pub(crate) fn of_text(what: &str, text: &str) -> Result<Vec<Value>, Error> {
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

/// An error if there are none.
pub(crate) fn some(found: Vec<Value>, what: String) -> Result<Vec<Value>, Error> {
    if found.is_empty() { Err(Error::NoDefinitions { what }) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_among_other_documents_and_in_lists() {
        let text = "kind: Kustomization\n---\nkind: CustomResourceDefinition\nmetadata: {name: a}\n---\n\
                    kind: List\nitems:\n- kind: CustomResourceDefinition\n  metadata: {name: b}\n- kind: Pod\n---\n";
        let names: Vec<_> =
            of_text("text", text).expect("YAML").iter().map(|crd| crd["metadata"]["name"].clone()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(of_text("text", "a: [").is_err());
    }
}
