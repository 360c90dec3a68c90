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
//! what server-side apply asks, `cel` the rules, `cel_names` how these call fields, `jsonpath` the paths of columns and selectable fields, and `crd` the definitions
//! themselves.
//!
//! # Features
//!
//! `validation`, which is on by default, is all but `cel_names`: operators link that alone.

#[cfg(feature = "validation")]
pub mod cel;
pub mod cel_names;
#[cfg(feature = "validation")]
pub mod crd;
#[cfg(feature = "validation")]
mod default;
#[cfg(feature = "validation")]
pub mod error;
#[cfg(feature = "validation")]
pub mod jsonpath;
#[cfg(feature = "validation")]
pub mod names;
#[cfg(feature = "validation")]
mod prune;
#[cfg(feature = "validation")]
pub mod structural;
#[cfg(feature = "validation")]
pub mod topology;
#[cfg(feature = "validation")]
mod validate;

#[cfg(feature = "validation")]
#[doc(inline)]
pub use {
    cel::Report,
    error::{Cause, ErrorList, FieldError, FieldErrorKind, FieldPath},
    jsonpath::{InvalidJsonPath, JsonPath},
    structural::{AdditionalProperties, ListType, MapType, Rule, Schema, SchemaType, Structural},
    topology::{Step, Topology},
};
