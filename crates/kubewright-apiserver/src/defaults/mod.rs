//! Built-in objects as the server stores them: with Kubernetes' defaults, and in the form of its Go types.
//!
//! A real server decodes an object into Go structs, sets defaults and encodes the structs again. [`apply`] does the
//! same to a JSON value: fields that the type does not have and empty optional ones go, quantities and times get
//! their canonical form, defaults come in. Start reading in `typed.rs`, which walks an object along its type.
//!
//! Most defaults are in a table made from the real ones (`table.rs`); those that depend on other fields or on the
//! place are in `conditional/`.

mod conditional;
mod fields;
mod quantity;
mod table;
mod typed;

use serde_json::Value;

use crate::types::Types;

/// Brings an object of a built-in kind into the form in which a real server stores it, apart from what its strategy
/// or admission adds (status, generation, cluster IPs and so on). An object of any other kind stays as it is.
///
/// This is idempotent. Values of a wrong type are left for validation. `metadata.managedFields` is not touched: an
/// empty list there is a request of the client.
pub fn apply(group: &str, version: &str, kind: &str, object: &mut Value) {
    if let (Some(kind), Value::Object(fields)) = (Types::get().kind(group, version, kind), object) {
        typed::visit(kind, fields);
    }
}
