//! The pages in `docs/parity` name tests: they exist.

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

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The rows of a page's tables, each as its cells.
fn rows(page: &str) -> Vec<Vec<String>> {
    let page = fs::read_to_string(root().join("docs/parity").join(page)).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.matches('|').count() >= 4);
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

#[test]
fn the_tests_named_on_the_page_exist() {
    let mut known = BTreeSet::new();
    for folder in ["crates", "examples"] {
        tests(&root().join(folder), &mut known);
    }
    for page in ["controller-gen.md", "controller-runtime.md"] {
        let mut named = 0;
        let mut missing = Vec::new();
        for row in rows(page) {
            let shown_by = row.last().map(String::as_str).unwrap_or_default();
            for name in shown_by.split('`').skip(1).step_by(2) {
                named += 1;
                if !known.contains(name) {
                    missing.push(name.to_owned());
                }
            }
        }
        assert!(named > 100, "{page} was read: {named} names");
        assert!(missing.is_empty(), "{page}: no such tests: {missing:?}");
    }
}

#[test]
fn every_feature_of_controller_runtime_has_its_row() {
    let features = [
        ("MGR", 28),
        ("CLU", 4),
        ("CAC", 23),
        ("CLI", 18),
        ("FAK", 9),
        ("CTL", 16),
        ("PRQ", 1),
        ("CFG", 1),
        ("BLD", 14),
        ("HDL", 7),
        ("PRD", 4),
        ("SRC", 5),
        ("RCN", 4),
        ("UTL", 4),
        ("FIN", 1),
        ("REC", 4),
        ("HLZ", 1),
        ("LEA", 2),
        ("LOG", 5),
        ("SIG", 1),
        ("SCH", 1),
        ("MET", 14),
        ("WHK", 15),
        ("ENV", 9),
        ("ROOT", 2),
    ];
    let wanted: Vec<String> = features
        .iter()
        .flat_map(|(area, number)| (1..=*number).map(move |place| format!("{area}-{place:02}")))
        .collect();
    let rows = rows("controller-runtime.md");
    let ids: Vec<_> = rows.iter().map(|row| row[0].as_str()).filter(|id| *id != "id").collect();
    assert_eq!(ids, wanted);
    for row in rows.iter().filter(|row| row[0] != "id") {
        let [id, _, state, shown_by] = row.as_slice() else { panic!("{row:?} has another number of cells") };
        let known = ["done", "different", "not applicable", "missing"];
        assert!(known.iter().any(|known| state.starts_with(known)), "{id}: {state:?} is no state");
        let reasoned = state.split_once(": ").is_some_and(|(_, reason)| !reason.is_empty());
        assert!(
            reasoned || !(state.starts_with("different") || state.starts_with("not applicable")),
            "{id} has no reason"
        );
        assert!(!state.starts_with("done") || !shown_by.is_empty(), "{id} is done, but no test shows it");
    }
}
