//! The definitions: which there are, and what a test asks of one.

use std::{
    env, fs, mem,
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
    /// The codes of the errors that its generator found in it. A comment before the document has each of them, after the
    /// word `error`.
    pub(crate) errors: Vec<String>,
}

/// The folders below the workspace that hold definitions: those that controller-gen wrote, and ours.
const FOLDERS: [(&str, &str); 4] = [
    ("controller-gen", "conformance/controller-gen/cases"),
    (OURS, "crates/kubewright-manifests/tests/data"),
    ("generate", "crates/kubewright-cli/tests/data"),
    ("examples", "examples"),
];

/// The folder of what the tests of our generator give.
const OURS: &str = "ours";

/// The folders of the test data that is not part of this project.
const GOLDENS: [&str; 3] = ["controller-tools/pkg/crd/testdata", "extra", "derived"];

/// A default of a text. YAML takes it for a number, which is too large to be one, and kubectl for a text.
const OVERFLOW: (&str, &str) = ("default: 1e400", "default: \"1e400\"");

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
            crate::say(&format!("skipped: no test data at {}, see KUBEWRIGHT_GOLDENS", path.display()));
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
        } else if path.extension().is_some_and(|extension| extension == "yaml" || extension == "json") {
            let text = fs::read_to_string(&path).expect("a readable file");
            if !text.contains("CustomResourceDefinition") {
                continue;
            }
            let documents = documents(&text, &path);
            let many = documents.len() > 1;
            for (i, (errors, crd)) in documents.into_iter().enumerate() {
                let path = if many { format!("{name}#{i}") } else { name.clone() };
                found.push(Definition { path, crd, errors });
            }
        }
    }
}

/// The definitions of a text, and the codes of the errors that the comments before each of them tell.
fn documents(text: &str, path: &Path) -> Vec<(Vec<String>, Value)> {
    let mut found = Vec::new();
    let (mut errors, mut document) = (Vec::new(), String::new());
    for line in text.replace(OVERFLOW.0, OVERFLOW.1).lines().chain(["---"]) {
        let error = line.strip_prefix("# error[").and_then(|rest| rest.split(']').next());
        if (error.is_some() || line == "---") && !document.trim().is_empty() {
            let value: Value = serde_saphyr::from_str(&document)
                .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
            found.push((mem::take(&mut errors), value));
            document.clear();
        }
        errors.extend(error.map(str::to_owned));
        let is_comment_before = line.starts_with('#') && document.is_empty();
        if line != "---" && !is_comment_before {
            document.extend([line, "\n"]);
        }
    }
    found.retain(|(_, document)| {
        document["kind"] == "CustomResourceDefinition" && document["apiVersion"] == "apiextensions.k8s.io/v1"
    });
    found
}

/// The name of a version.
pub(crate) fn name(version: &Value) -> &str {
    version["name"].as_str().expect("a version has a name")
}

// === impl Definition ===

impl Definition {
    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.crd.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    pub(crate) fn group_kind(&self) -> (&str, &str) {
        (self.text("/spec/group"), self.text("/spec/names/kind"))
    }

    pub(crate) fn name(&self) -> &str {
        self.text("/metadata/name")
    }

    /// Whether a test of our generator gave it.
    pub(crate) fn is_ours(&self) -> bool {
        self.path.split('/').next() == Some(OURS)
    }

    fn versions(&self) -> &[Value] {
        self.crd["spec"]["versions"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn served_versions(&self) -> impl Iterator<Item = &Value> {
        self.versions().iter().filter(|version| version["served"] == true)
    }

    pub(crate) fn unserved_versions(&self) -> impl Iterator<Item = &Value> {
        self.versions().iter().filter(|version| version["served"] != true)
    }

    /// The versions in which objects are sent: those that are served. If a webhook converts, none is there to do it, so
    /// that it is only the one in which objects are stored, from and to which nothing has to be converted.
    pub(crate) fn sent_versions(&self) -> impl Iterator<Item = &Value> {
        let is_converted = self.text("/spec/conversion/strategy") == "Webhook";
        self.served_versions().filter(move |version| !is_converted || version["storage"] == true)
    }

    /// What decides about its objects, without the texts that are for people. Definitions in which it is equal get the
    /// same objects.
    pub(crate) fn essence(&self) -> String {
        fn without_descriptions(value: &mut Value) {
            match value {
                Value::Object(fields) => {
                    // A property may have that name too.
                    fields.retain(|name, value| name != "description" || !value.is_string());
                    fields.values_mut().for_each(without_descriptions);
                }
                Value::Array(items) => items.iter_mut().for_each(without_descriptions),
                _ => {}
            }
        }
        let mut versions = self.crd["spec"]["versions"].clone();
        without_descriptions(&mut versions);
        format!("{versions} {}", self.crd["spec"]["conversion"])
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

    /// Gives an object the type of this version.
    pub(crate) fn give_type(&self, version: &str, object: &mut Value) {
        object["apiVersion"] = json!(self.api_version(version));
        object["kind"] = json!(self.text("/spec/names/kind"));
    }

    /// Objects that may be valid, the fuller first. Rules in CEL decide which is.
    pub(crate) fn candidates(&self, version: &str, schema: &Value) -> Vec<Value> {
        let mut candidates = Vec::new();
        for fill in [sample::Fill::Everything, sample::Fill::First, sample::Fill::Required] {
            let mut object = sample::object(schema, fill);
            self.give_type(version, &mut object);
            object["metadata"] = json!({});
            if !candidates.contains(&object) {
                candidates.push(object);
            }
        }
        candidates
    }
}
