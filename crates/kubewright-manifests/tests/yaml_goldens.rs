//! Files that controller-gen wrote: read, and written again to the same bytes.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use kubewright_manifests::yaml;
use serde_json::Value;

/// The folders of the test data that have files of controller-gen.
const FOLDERS: [&str; 4] = ["controller-tools", "derived", "extra", "kubebuilder"];

/// Files edited by hand, whose keys, lists or quotes are not as controller-gen has them.
const BY_HAND: [&str; 7] = [
    "testdata.kubebuilder.io_enums.yaml",
    "/schemapatcher/testdata/",
    "/webhook/testdata/valid/",
    "/webhook/testdata/valid-crosspkg-stable/",
    "/webhook/testdata/valid-custom-name/",
    "/webhook/testdata/valid-custom-service/",
    "/webhook/testdata/valid-url/",
];

/// The test data, if it is there.
fn goldens() -> Option<PathBuf> {
    let root = env::var_os("KUBEWRIGHT_GOLDENS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens"), PathBuf::from);
    if root.join("controller-tools").is_dir() {
        return Some(root);
    }
    #[allow(clippy::print_stderr, reason = "a test that does nothing has to say so")]
    {
        eprintln!("skipped: no test data at {}, see KUBEWRIGHT_GOLDENS", root.display());
    }
    None
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            yaml_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
}

/// Whether controller-gen is the one who wrote a file of the test data, by its place.
fn is_generated(path: &str) -> bool {
    if path.contains("/kubebuilder/") {
        return path.contains("/crd/bases/")
            || path.ends_with("/rbac/role.yaml")
            || path.ends_with("/webhook/manifests.yaml");
    }
    !BY_HAND.iter().any(|part| path.contains(part))
}

#[test]
fn files_of_controller_gen_are_written_to_the_same_bytes() {
    let Some(root) = goldens() else { return };
    let mut files = Vec::new();
    for folder in FOLDERS {
        yaml_files(&root.join(folder), &mut files);
    }
    files.retain(|path| is_generated(&path.to_string_lossy()));
    assert!(files.len() >= 40, "only {} files", files.len());
    let mut different = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        // Some have a licence above the first document.
        let (_, body) = text.split_at(text.find("---\n").unwrap());
        let documents: Vec<Value> = serde_saphyr::from_multiple(body).unwrap();
        if yaml::stream(&documents) != body {
            different.push(path);
        }
    }
    assert!(different.is_empty(), "written differently: {different:#?}");
}
