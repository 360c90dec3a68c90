//! Cases that a program makes: every built-in kind, created, replaced, applied and deleted, and with one mistake each.
//!
//! The bodies are those of `samples.yaml` (the least that a server takes) and of `full.yaml` (about everything that a
//! user writes). The cases are the same in every run: they follow from these files and the table of built-in resources.

mod kind;
mod mistake;
mod verbs;

use std::collections::BTreeSet;

use kubewright_apiserver::registry::Resources;

use self::kind::Kind;
use crate::case::Case;

/// The areas that have such cases: one for each API group.
#[must_use]
pub fn areas() -> Vec<String> {
    let areas: BTreeSet<String> = Resources::built_in().iter().map(|own| area(&own.group)).collect();
    areas.into_iter().filter(|area| !files(area).is_empty()).collect()
}

/// The files of an area: their names and cases.
#[must_use]
pub fn files(wanted: &str) -> Vec<(String, Vec<Case>)> {
    let kinds = kind::all().iter().filter(|kind| area(&kind.definition.group) == wanted);
    kinds.map(|kind| (kind.name(), cases(kind))).collect()
}

fn area(group: &str) -> String {
    let first = group.split('.').next().unwrap_or_default();
    format!("built-in-{}", if first.is_empty() { "core" } else { first })
}

fn cases(kind: &Kind) -> Vec<Case> {
    verbs::cases(kind).into_iter().chain(mistake::cases(kind)).collect()
}
