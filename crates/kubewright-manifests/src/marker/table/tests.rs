//! What holds for every row.

use std::collections::BTreeSet;

use super::*;
use crate::marker::{Arguments, parse};

#[test]
fn a_name_and_a_target_have_one_row() {
    let mut seen = BTreeSet::new();
    for row in definitions() {
        for name in row.names() {
            for target in row.targets {
                assert!(seen.insert((name, format!("{target:?}"))), "{name} is there twice for {target:?}");
            }
        }
    }
}

#[test]
fn every_row_has_help() {
    for row in definitions() {
        assert!(row.help.ends_with('.') && row.help.len() > 15, "{}", row.name);
        assert!(!row.targets.is_empty(), "{}", row.name);
        for argument in row.named_arguments() {
            assert!(argument.help.ends_with('.'), "{} {}", row.name, argument.name);
        }
        if row.on_items {
            assert!(row.name.starts_with("kubebuilder:validation:"), "{}", row.name);
        }
    }
}

#[test]
fn a_marker_without_arguments_is_read_by_each_of_its_names() {
    for row in definitions().filter(|row| matches!(row.arguments, Arguments::None)) {
        for name in row.names() {
            let marker = parse(&format!("+{name}"), row.targets).unwrap();
            assert!(std::ptr::eq(marker.definition, row) && marker.name == name);
        }
    }
}
