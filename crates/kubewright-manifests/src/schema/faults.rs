//! What is wrong with the types, collected.

use std::{collections::BTreeSet, ops::Range};

use super::node::{Site, Source};
use crate::diagnostic::{Diagnostic, Place, Severity};

/// Collects diagnostics. The same fault is told once, however often its type is used.
#[derive(Debug, Default)]
pub(super) struct Faults {
    list: Vec<Diagnostic>,
    told: BTreeSet<String>,
}

// === impl Faults ===

impl Faults {
    /// Something that makes the schema wrong or refused.
    pub(super) fn error(&mut self, code: &str, site: &Site, message: impl Into<String>, help: &str) {
        self.push(Severity::Error, code, place(site, String::new(), 0..0), message.into(), help);
    }

    /// Something that is right, but probably not what was meant.
    pub(super) fn warning(&mut self, code: &str, site: &Site, message: impl Into<String>, help: &str) {
        self.push(Severity::Warning, code, place(site, String::new(), 0..0), message.into(), help);
    }

    /// A marker that cannot have its effect.
    pub(super) fn marker(
        &mut self,
        severity: Severity,
        code: &str,
        source: &Source,
        range: Option<Range<usize>>,
        message: impl Into<String>,
        help: &str,
    ) {
        let range = range.unwrap_or(0..source.marker.len());
        self.push(severity, code, place(&source.site, source.marker.clone(), range), message.into(), help);
    }

    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        if self.told.insert(format!("{diagnostic:?}")) {
            self.list.push(diagnostic);
        }
    }

    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.list
    }

    fn push(&mut self, severity: Severity, code: &str, place: Place, message: String, help: &str) {
        let help = if help.is_empty() { Vec::new() } else { vec![help.to_owned()] };
        self.add(Diagnostic { severity, code: code.to_owned(), message, place, help });
    }
}

pub(super) fn place(site: &Site, marker: String, range: Range<usize>) -> Place {
    Place::Doc { type_name: site.type_name.clone(), field: site.field.clone(), marker, range }
}
