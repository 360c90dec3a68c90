//! Plural names against the tables of the library that controller-gen uses, and against CRDs that it wrote.

mod goldens;

use std::fs;

use kubewright_manifests::naming::plural;
use serde_json::Value;

use self::goldens::{goldens, yaml_files};

/// The kind for a word of the table.
fn kind(word: &str) -> String {
    let mut characters = word.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

#[test]
fn every_word_of_the_table_has_its_plural() {
    let Some(root) = goldens() else { return };
    let table = fs::read_to_string(root.join("extra/flect/dictionary.tsv")).unwrap();
    let mut words = 0;
    for row in table.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let (singular, expected) = (columns[0], if columns[1].is_empty() { columns[0] } else { columns[1] });
        assert_eq!(plural(&kind(singular)), expected.to_lowercase(), "{singular}");
        // A plural, and the other plural, are left alone.
        if columns[3] == "False" {
            for word in columns[1..3].iter().filter(|word| !word.is_empty()) {
                assert_eq!(plural(&kind(word)), word.to_lowercase(), "{word}");
            }
        }
        if columns[5] == "False" {
            assert_eq!(plural(&format!("X{singular}")), format!("x{expected}"), "{singular} as an ending");
        }
        words += 1;
    }
    assert!(words > 100, "only {words} words");
}

#[test]
fn every_ending_of_the_table_has_its_plural() {
    let Some(root) = goldens() else { return };
    let table = fs::read_to_string(root.join("extra/flect/suffixes.tsv")).unwrap();
    let rows: Vec<(&str, &str)> = table
        .lines()
        .filter(|row| !row.starts_with('#'))
        .skip(1)
        .filter_map(|row| row.split_once('\t'))
        .collect();
    assert!(rows.len() > 60, "only {} endings", rows.len());
    for (at, (singular, expected)) in rows.iter().enumerate() {
        let word = format!("Qb{singular}");
        // The first row that fits counts.
        let earlier = rows[..at].iter().any(|(s, p)| word.ends_with(s) || word.ends_with(p));
        if !earlier && word.to_lowercase() == kind(&word).to_lowercase() && *singular != "S" {
            assert_eq!(plural(&word), format!("qb{expected}"), "{singular}");
        }
    }
}

#[test]
fn crds_of_controller_gen_have_the_plural_of_their_kind() {
    let Some(root) = goldens() else { return };
    let mut crds = 0;
    for folder in ["controller-tools", "extra", "kubebuilder"] {
        for path in yaml_files(&root.join(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            let documents: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap_or_default();
            for names in documents.iter().filter_map(|crd| crd.pointer("/spec/names")) {
                let (Some(kind), Some(written)) = (names["kind"].as_str(), names["plural"].as_str()) else {
                    continue;
                };
                assert_eq!(plural(kind), written, "{}", path.display());
                crds += 1;
            }
        }
    }
    assert!(crds > 15, "only {crds} CRDs");
}
