//! What was scaffolded last.
//!
//! A three-way merge has to know what a file was before the user changed it. That is kept in the project, so that neither an older
//! version of the command nor a network is needed, and so that it is right whatever wrote it.

use std::{collections::BTreeMap, path::Path};

use crate::{
    ScaffoldError,
    tree::{Files, Tree},
};

/// The record's place in the project.
pub const FILE: &str = ".kubewright/scaffold.json";

/// Reads the record of a project; an empty one if there is none.
///
/// # Errors
///
/// If it is there and cannot be read.
pub fn read(tree: &Tree) -> Result<Files, ScaffoldError> {
    let Some(text) = tree.read(Path::new(FILE))? else { return Ok(Files::new()) };
    serde_json::from_str(&text).map_err(|error| ScaffoldError::ProjectFile {
        path: tree.path(Path::new(FILE)),
        reason: format!("{error}; restore it from version control"),
    })
}

/// The text of a record: a file a line, so that version control shows which of them changed.
#[must_use]
pub fn to_text(files: &Files) -> String {
    let mut lines: BTreeMap<String, String> = BTreeMap::new();
    for (path, content) in files {
        let name = serde_json::Value::from(path.to_string_lossy()).to_string();
        lines.insert(name, serde_json::Value::from(content.as_str()).to_string());
    }
    let lines: Vec<String> = lines.iter().map(|(path, content)| format!("{path}: {content}")).collect();
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn a_record_reads_back(files: BTreeMap<String, String>) {
            let files: Files = files.into_iter().map(|(path, content)| (path.into(), content)).collect();
            let tree = Tree::of(Files::from([(FILE.into(), to_text(&files))]));
            proptest::prop_assert_eq!(read(&tree).expect("a record"), files);
        }
    }
}
