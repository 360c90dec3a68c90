//! Structural schemas: the `openAPIV3Schema` of a custom resource version as a typed, immutable tree.
//!
//! [`Structural::parse`] reads a schema and checks the rules that make it structural; every later step
//! (pruning, defaulting, validation, topology) takes the tree as it is and cannot fail on its shape. A
//! tree is reference counted, so handing it around is cheap. Start at [`Schema`], then `parse.rs` and
//! `rules.rs`.

mod complete;
mod embedded;
mod format;
mod parse;
mod pattern;
mod rules;
mod schema;

pub(crate) use format::{Format, TextFormat};
pub(crate) use schema::Subtree;
pub use {
    pattern::{InvalidPattern, Pattern},
    schema::{AdditionalProperties, ListType, MapType, Rule, Schema, SchemaType, Structural},
};
