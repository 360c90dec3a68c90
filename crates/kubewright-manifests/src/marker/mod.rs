//! Markers: their syntax, the table of those there are, and what one comment line says.

mod definition;

pub use definition::{
    Argument, Arguments, CrdEffect, Definition, Effect, Marker, MarkerArgument, PackageEffect, SchemaEffect,
    Target, ValueKind,
};
