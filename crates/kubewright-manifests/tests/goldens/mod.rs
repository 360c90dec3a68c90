//! Where the test data is.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

/// The test data, if it is there.
pub(crate) fn goldens() -> Option<PathBuf> {
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

/// The YAML files of `folder` and the folders in it.
pub(crate) fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
