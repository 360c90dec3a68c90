//! The CustomResourceDefinition of one kind, from the Rust types of its versions.
//!
//! `source.rs` reads a type: its schema from [`schema`](crate::schema), the markers on it (`markers.rs`) and what kube's
//! derive says in its attributes (`native.rs`). All of that is a `version.rs`. What belongs to the kind and not to a
//! version (`names.rs`) is settled among those who say something (`statement.rs`), `storage.rs` finds the stored version, and
//! `root.rs` gives the schema the fields that every object has. Start at [`CrdBuilder`], or with [`crd`] if all you
//! want is the definition.

mod builder;
#[cfg(feature = "check")]
mod check;
mod conversion;
mod generated;
mod markers;
mod names;
mod native;
mod options;
mod root;
mod source;
mod statement;
mod storage;
mod version;

#[cfg(feature = "check")]
pub use check::check;
pub use {
    builder::{Built, CrdBuilder},
    conversion::ConversionWebhook,
    generated::Generated,
    options::CrdOptions,
    source::DerivedKind,
};

/// The CRD of a kind with one version, made with the default options.
///
/// What it was made of and what is wrong with it: see [`CrdBuilder`].
#[must_use]
pub fn crd<K: DerivedKind>() -> Built {
    CrdBuilder::of::<K>().build()
}

#[cfg(test)]
mod tests;
