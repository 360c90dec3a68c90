//! The defaults of built-in kinds.
//!
//! A real server decodes an object into Go structs, sets defaults and encodes the structs again; [`apply`] does the
//! same to a JSON value. Start reading in `typed.rs`, which walks an object along its type. Most defaults are in a
//! table made from the real ones (`table.rs`); those that depend on other fields or on the place are in
//! `conditional/`.

mod conditional;
mod fields;
mod table;
mod typed;

use serde_json::Value;

use crate::types::{Types, canonical};

/// Sets the defaults of an object of a built-in kind and brings it into [canonical] form: what a real server stores,
/// apart from what its strategy or admission adds (status, generation, cluster IPs and so on). An object of any
/// other kind stays as it is.
///
/// Doing it twice changes nothing. Values of a wrong type are left for validation.
pub fn apply(group: &str, version: &str, kind: &str, object: &mut Value) {
    let Some(kind) = Types::get().kind(group, version, kind) else { return };
    if let Value::Object(fields) = object {
        typed::visit(kind, fields);
    }
    canonical::canonicalize(kind, object);
}
