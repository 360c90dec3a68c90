//! Kubernetes structural schemas as values: parse, check, prune, default and validate.
//!
//! One truth for everybody who must know what a custom resource may look like: the embedded API server, the
//! checks of the generator and the compatibility gate. The crate is pure. It reads and writes
//! [`serde_json::Value`]s, does no I/O, knows no clock and imports no other crate of this workspace. Whatever it
//! refuses, it refuses in the words of a real API server.
//!
//! A custom resource on its way into storage passes, in this order:
//!
//! 1. [`Schema::prune`] drops undeclared fields,
//! 2. [`Schema::drop_nulls`] drops nulls that are neither allowed nor defaulted,
//! 3. [`Schema::apply_defaults`] fills absent fields,
//! 4. [`Schema::validate`] collects everything that is wrong with the rest.
//!
//! Start reading at [`Structural`] (the folder `structural`), then `prune`, `default` and `validate`. The folder
//! `error` holds what all of them answer with, `names` what Kubernetes takes for a name and for metadata, `topology`
//! what server-side apply asks, `cel` the rules, `jsonpath` the paths of columns and selectable fields, and `crd` the definitions
//! themselves.

pub mod cel;
pub mod crd;
mod default;
pub mod error;
pub mod jsonpath;
pub mod names;
mod prune;
pub mod structural;
pub mod topology;
mod validate;

#[doc(inline)]
pub use {
    cel::Report,
    error::{Cause, ErrorList, FieldError, FieldErrorKind, FieldPath},
    jsonpath::{InvalidJsonPath, JsonPath},
    structural::{AdditionalProperties, ListType, MapType, Rule, Schema, SchemaType, Structural},
    topology::{Step, Topology},
};
