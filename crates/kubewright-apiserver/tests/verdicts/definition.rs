//! The definitions: which there are, and what a test asks of one.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::sample;

/// A definition, and where it stands.
pub(crate) struct Definition {
    /// Its path from the folder that it was found in, with that folder's name before it.
    pub(crate) path: String,
    /// The document.
    pub(crate) crd: Value,
}

/// The folders below the workspace that hold definitions: those that controller-gen wrote, and ours.
const FOLDERS: [(&str, &str); 2] = [
    ("controller-gen", "conformance/controller-gen/cases"),
    ("ours", "crates/kubewright-manifests/tests/data"),
];

/// The folders of the test data that is not part of this project.
const GOLDENS: [&str; 3] = ["controller-tools/pkg/crd/testdata", "extra", "derived"];

/// All definitions, in a stable order. Those of the goldens are missing if the goldens are.
pub(crate) fn all() -> Vec<Definition> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for (name, folder) in FOLDERS {
        read(&workspace.join(folder), name, &mut found);
    }
    let goldens =
        env::var_os("KUBEWRIGHT_GOLDENS").map_or_else(|| workspace.join("../shared/goldens"), PathBuf::from);
    for folder in GOLDENS {
        let path = goldens.join(folder);
        if path.is_dir() {
            read(&path, &format!("goldens/{folder}"), &mut found);
        } else {
            #[allow(clippy::print_stderr, reason = "a test that leaves something out has to say so")]
            {
                eprintln!("skipped: no test data at {}, see KUBEWRIGHT_GOLDENS", path.display());
            }
        }
    }
    found
}

fn read(folder: &Path, name: &str, found: &mut Vec<Definition>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        let name = format!("{name}/{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            read(&path, &name, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            let text = fs::read_to_string(&path).expect("a readable file");
            let Ok(documents) = serde_saphyr::from_multiple::<Value>(&text) else { continue };
            let crds: Vec<Value> = documents
                .into_iter()
                .filter(|document| document["kind"] == "CustomResourceDefinition")
                .filter(|document| document["apiVersion"] == "apiextensions.k8s.io/v1")
                .collect();
            let many = crds.len() > 1;
            for (i, crd) in crds.into_iter().enumerate() {
                let path = if many { format!("{name}#{i}") } else { name.clone() };
                found.push(Definition { path, crd });
            }
        }
    }
}

// === impl Definition ===

impl Definition {
    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.crd.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    pub(crate) fn served_versions(&self) -> impl Iterator<Item = &Value> {
        let versions = self.crd["spec"]["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
        versions.iter().filter(|version| version["served"] == true)
    }

    /// Whether the status of this version is a subresource.
    pub(crate) fn has_status(&self, version: &str) -> bool {
        self.served_versions()
            .any(|other| other["name"] == version && other["subresources"].get("status").is_some())
    }

    pub(crate) fn api_version(&self, version: &str) -> String {
        format!("{}/{version}", self.text("/spec/group"))
    }

    /// The path of the collection in a version.
    pub(crate) fn collection(&self, version: &str) -> String {
        let namespace = if self.text("/spec/scope") == "Namespaced" { "/namespaces/default" } else { "" };
        format!("/apis/{}{namespace}/{}", self.api_version(version), self.text("/spec/names/plural"))
    }

    /// Objects that may be valid, the fuller first. Rules in CEL decide which is.
    pub(crate) fn candidates(&self, version: &str, schema: &Value) -> Vec<Value> {
        let mut candidates = Vec::new();
        for fill in [sample::Fill::Everything, sample::Fill::First, sample::Fill::Required] {
            let mut object = sample::object(schema, fill);
            object["apiVersion"] = json!(self.api_version(version));
            object["kind"] = json!(self.text("/spec/names/kind"));
            object["metadata"] = json!({});
            if !candidates.contains(&object) {
                candidates.push(object);
            }
        }
        candidates
    }
}
