//! The table of markers.
//!
//! Parsing, suggestions, diagnostics, the reference page and the documentation come from these rows. Their order is that of the
//! reference page: what is needed most comes first, families stay together.

mod crd;
mod known;
mod package;
mod rbac;
mod schema;
mod structure;
mod validation;
mod webhook;

#[cfg(test)]
mod tests;

use super::{Definition, Target};

/// The targets of what stands on types and on fields.
const TYPE_OR_FIELD: &[Target] = &[Target::Type, Target::Kind, Target::Field];
/// The targets of what stands on any type.
const TYPE: &[Target] = &[Target::Type, Target::Kind];
/// The target of what stands on the spec of a custom resource.
const KIND: &[Target] = &[Target::Kind];
/// The target of what stands on fields.
const FIELD: &[Target] = &[Target::Field];
/// The target of what is about a package.
const PACKAGE: &[Target] = &[Target::Package];
/// The targets of what is about code, and may stand wherever that is.
const ANYWHERE: &[Target] = &[Target::Package, Target::Code, Target::Type, Target::Kind, Target::Field];

/// A part of the table, with its heading.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// The rows.
    pub rows: &'static [Definition],
}

/// The table, in its order.
pub static TABLE: &[Section] = &[
    Section { title: "Validation", rows: validation::ROWS },
    Section { title: "Fields and values", rows: schema::ROWS },
    Section { title: "Lists, maps and structs", rows: structure::ROWS },
    Section { title: "Custom resources", rows: crd::ROWS },
    Section { title: "Permissions", rows: rbac::ROWS },
    Section { title: "Webhooks", rows: webhook::ROWS },
    Section { title: "Packages", rows: package::ROWS },
    Section { title: "Known, without effect in Rust", rows: known::ROWS },
];

/// The rows of the table, in its order.
pub fn definitions() -> impl Iterator<Item = &'static Definition> {
    TABLE.iter().flat_map(|section| section.rows)
}
