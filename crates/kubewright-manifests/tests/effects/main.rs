//! The effect of every marker, wherever it may stand.
//!
//! An [`Entry`] is a Rust type (or a text of Rust) before and after a marker was put on it. What that changes in the schema, the CRD,
//! the role or the webhook configuration is in `tests/snapshots/effects`, a file for each section of the table of markers; a
//! row of the table, a place, an alias or an argument without an entry is a fault, and so is an entry that changes nothing.
//! Schemas are also compared with what controller-gen makes of the same types in Go, in
//! `conformance/controller-gen/cases/effects`, whose Go code is written from the entries.

#![cfg(all(feature = "source", feature = "check"))]
#![allow(dead_code, reason = "the types are there for their schemas")]

#[macro_use]
mod entry;
mod code;
mod difference;
mod fields;
mod go;
mod kinds;
#[path = "../our_style/mod.rs"]
mod our_style;
mod structure;
mod validation;

use std::{collections::BTreeSet, fs, path::Path};

use kubewright_manifests::{
    Style,
    diagnostic::{Diagnostic, Severity},
    marker::{
        Definition, Effect, SchemaEffect, Target,
        table::{TABLE, definitions},
    },
};

use entry::{Entry, Outcome};
use serde_json::json;

fn entries() -> Vec<Entry> {
    [validation::entries(), fields::entries(), structure::entries(), kinds::entries(), code::entries()]
        .concat()
}

/// What an entry changes in one style.
struct Change {
    lines: Vec<String>,
    /// What is said in addition, and what is no longer said, with a minus before it.
    said: Vec<String>,
    is_refused: bool,
}

fn change(entry: &Entry, style: Style) -> Change {
    let (before, after) = (entry.before(style), entry.after(style));
    let text = |diagnostic: &Diagnostic| {
        let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
        format!("{severity}[{}]: {}", diagnostic.code, diagnostic.message)
    };
    let texts = |outcome: &Outcome| outcome.diagnostics.iter().map(text).collect::<Vec<_>>();
    let (was, is) = (texts(&before), texts(&after));
    let gone = was.iter().filter(|text| !is.contains(text)).map(|text| format!("- {text}"));
    let new = is.iter().filter(|text| !was.contains(text)).map(|text| format!("+ {text}"));
    Change {
        lines: difference::between(&before.document, &after.document),
        said: gone.chain(new).collect(),
        is_refused: after.diagnostics.iter().any(|found| found.severity == Severity::Error),
    }
}

/// What an entry changes, without what it stands on.
fn describe(entry: &Entry) -> String {
    let mut text = String::new();
    for line in &entry.before_markers {
        text.push_str(&format!("      {}\n", short(line)));
    }
    for line in entry.after_markers.iter().filter(|line| !entry.before_markers.contains(line)) {
        let longer = entry.before_markers.iter().find_map(|before| line.strip_prefix(before.as_str()));
        match longer.filter(|_| line.len() > LONG) {
            Some(rest) => {
                text.push_str(&format!("    > {}{rest}\n", short(&line[..line.len() - rest.len()])));
            }
            None => text.push_str(&format!("    > {line}\n")),
        }
    }
    let ours = change(entry, Style::Kubewright);
    let theirs = change(entry, Style::ControllerGen);
    let parts = [("", &ours), ("  as controller-gen:\n", &theirs)];
    let is_same = ours.lines == theirs.lines && ours.said == theirs.said;
    for (title, part) in parts.into_iter().take(if is_same { 1 } else { 2 }) {
        text.push_str(title);
        if part.lines.is_empty() && part.said.is_empty() {
            text.push_str("  nothing\n");
        }
        for line in part.lines.iter().chain(&part.said) {
            text.push_str(&format!("  {line}\n"));
        }
    }
    text
}

/// Longer markers are written out once, where they are new.
const LONG: usize = 160;

fn short(line: &str) -> String {
    match line.rsplit_once(':').filter(|_| line.len() > LONG) {
        Some((name, _)) => format!("{}:..", name.split('=').next().unwrap_or(name)),
        None => line.to_owned(),
    }
}

fn check_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/effects").join(name);
    if std::env::var_os("KUBEWRIGHT_UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let same = kept.lines().zip(text.lines()).take_while(|(kept, text)| kept == text).count();
    assert!(
        kept == text,
        "tests/snapshots/effects/{name} differs, first in line {}: run the test with KUBEWRIGHT_UPDATE=1 and read what changed",
        same + 1
    );
}

#[test]
fn every_marker_has_the_effects_on_its_page() {
    let entries = entries();
    for section in TABLE {
        let mut page = String::new();
        for row in section.rows {
            page.push_str(&format!("## {}\n\n", row.name));
            // Places with the same effect stand together.
            let mut effects: Vec<(String, Vec<&str>)> = Vec::new();
            for entry in entries.iter().filter(|entry| std::ptr::eq(entry.marker().definition, row)) {
                let effect = describe(entry);
                match effects.iter_mut().find(|(other, _)| *other == effect) {
                    Some((_, places)) => places.push(&entry.shown),
                    None => effects.push((effect, vec![&entry.shown])),
                }
            }
            for (effect, places) in effects {
                page.push_str(&format!("{}\n{effect}\n", places.join("\n")));
            }
        }
        let name = section.title.split(',').next().unwrap().to_lowercase().replace(' ', "-");
        page.truncate(page.trim_end().len() + 1);
        check_snapshot(&format!("{name}.txt"), &page);
    }
}

#[test]
fn every_row_has_an_entry_for_each_place_alias_and_argument() {
    let mut places = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut arguments = BTreeSet::new();
    for entry in entries() {
        let marker = entry.marker();
        places.insert((marker.definition.name, format!("{:?}", entry.target), marker.on_items));
        names.insert((marker.definition.name, format!("{:?}", marker.definition.effect), marker.name));
        arguments
            .extend(entry.new_arguments().into_iter().map(|argument| (marker.definition.name, argument)));
    }
    let mut missing = Vec::new();
    for row in definitions() {
        for target in row.targets {
            for on_items in [false, true].into_iter().take(if has_items(row, *target) { 2 } else { 1 }) {
                if !places.contains(&(row.name, format!("{target:?}"), on_items)) {
                    missing.push(format!("{} on {}, items: {on_items}", row.name, target.describe()));
                }
            }
        }
        for name in row.names() {
            if !names.contains(&(row.name, format!("{:?}", row.effect), name)) {
                missing.push(format!("{} written {name}", row.name));
            }
        }
        for argument in row.named_arguments().iter().filter(|argument| !argument.required) {
            if !arguments.contains(&(row.name, argument.name)) {
                missing.push(format!("{} with nothing new but its {}", row.name, argument.name));
            }
        }
    }
    assert!(missing.is_empty(), "there is no entry for\n{}", missing.join("\n"));
}

/// A marker for items on the spec of a kind says the same as on any other type, and that is never a list.
fn has_items(row: &Definition, target: Target) -> bool {
    row.on_items && matches!(target, Target::Field | Target::Type)
}

#[test]
fn every_entry_has_an_effect() {
    let mut without = Vec::new();
    for entry in entries() {
        let changes = [Style::Kubewright, Style::ControllerGen].map(|style| change(&entry, style));
        let is_changed = changes.iter().any(|change| !change.lines.is_empty());
        // Nothing is lost in silence, in neither style.
        let is_told = changes.iter().all(|change| !change.lines.is_empty() || !change.said.is_empty());
        let is_right = match entry.marker().definition.effect {
            _ if entry.is_default => {
                changes.iter().all(|change| change.lines.is_empty() && change.said.is_empty())
            }
            Effect::Nothing => changes.iter().all(|change| change.lines.is_empty() && change.said.is_empty()),
            // The compiler wants to know it from kube's attributes.
            Effect::Package(_) => !is_changed && changes.iter().all(|change| !change.said.is_empty()),
            _ if entry.is_refused => !is_changed && changes.iter().all(|change| change.is_refused),
            // What was refused without it is allowed with it.
            Effect::Schema(SchemaEffect::Recursion) => changes.iter().all(|change| !change.said.is_empty()),
            _ => is_changed && is_told,
        };
        if !is_right {
            without.push(format!("{}\n{}", entry.shown, describe(&entry)));
        }
    }
    assert!(without.is_empty(), "no effect, or not the expected one:\n{}", without.join("\n"));
}

#[test]
fn definitions_in_our_style() {
    let outcomes = kinds::entries().into_iter().map(|entry| entry.after(Style::Kubewright));
    let documents: Vec<_> = outcomes
        .map(|mut outcome| {
            for version in outcome.document["spec"]["versions"].as_array_mut().into_iter().flatten() {
                // What is said of the fields of every object is long, and the same for each.
                for field in ["apiVersion", "kind"] {
                    version["schema"]["openAPIV3Schema"]["properties"][field] = json!({"type": "string"});
                }
            }
            (outcome.document, outcome.diagnostics)
        })
        .collect();
    our_style::assert_documents_unchanged("effects-kinds", &documents);
}
