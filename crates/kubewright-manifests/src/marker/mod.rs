//! Markers: their syntax, the table of those there are, and what one comment line says.
//!
//! [`table::TABLE`] is the one place that knows the markers; [`parse()`] reads a line by it, [`docs::split`] takes a doc comment apart.

mod definition;
pub mod docs;
mod error;
mod lookup;
pub(crate) mod nearest;
mod parse;
#[cfg(test)]
mod properties;
pub mod reference;
pub mod syntax;
pub mod table;

pub use definition::{
    Argument, Arguments, CrdEffect, Definition, Effect, Marker, MarkerArgument, PackageEffect, SchemaEffect,
    Target, ValueKind,
};
pub use error::MarkerError;
#[cfg(feature = "output")]
pub(crate) use parse::named_arguments;
pub use parse::parse;
#[cfg(feature = "source")]
pub(crate) use parse::parse_on;
