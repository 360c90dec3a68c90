//! Files that controller-gen wrote: read, and written again to the same bytes.

mod goldens;

use std::{fs, path::PathBuf};

use kubewright_manifests::yaml;
use serde_json::Value;

use self::goldens::{goldens, yaml_files};

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
    let mut files: Vec<PathBuf> = FOLDERS.iter().flat_map(|folder| yaml_files(&root.join(folder))).collect();
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
