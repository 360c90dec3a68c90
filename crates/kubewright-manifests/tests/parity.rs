//! `docs/parity/controller-gen.md` names tests: they exist.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The names of the functions with an attribute that makes them tests, in all crates.
fn tests(folder: &Path, names: &mut BTreeSet<String>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            tests(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
                if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                    is_test = true;
                } else if let Some(function) = function {
                    let name = function.split(['(', '<']).next().unwrap_or_default();
                    if is_test || text.contains("proptest!") {
                        names.insert(name.to_owned());
                    }
                    is_test = false;
                }
            }
        }
    }
}

#[test]
fn the_tests_named_on_the_page_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/parity/controller-gen.md")).unwrap();
    let mut known = BTreeSet::new();
    tests(&root.join("crates"), &mut known);

    let rows = page.lines().filter(|line| line.starts_with("| ") && line.matches('|').count() >= 4);
    let mut named = 0;
    let mut missing = Vec::new();
    for row in rows {
        let shown_by = row.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        for name in shown_by.split('`').skip(1).step_by(2) {
            named += 1;
            if !known.contains(name) {
                missing.push(name);
            }
        }
    }
    assert!(named > 100, "the page was read: {named} names");
    assert!(missing.is_empty(), "no such tests: {missing:?}");
}
