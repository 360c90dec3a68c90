//! Markers, and the manifests that are made of them and of the code: CRDs, RBAC roles, webhook configurations.
//!
//! A marker is a line of a comment that begins with `+`, as `// +kubebuilder:validation:Minimum=1`. Kubebuilder's
//! users know them; here they mean the same. On types and fields they stand in doc comments, which schemars carries
//! into the schema of the compiled type, so that the operator, its tests and the generator see one and the same
//! CRD. Markers about code (`rbac`, `webhook`) are read from the source text.
//!
//! Start reading at [`marker`], whose table says what there is, then `schema` and `crd`.
//!
//! # Features
//!
//! An operator links this crate for its CRDs alone, therefore none is on by default. `source` reads markers from Rust
//! source text, `check` checks what was generated as an API server would, `output` writes files.

// Tests of this crate share a module with those in `tests`, which knows the crate by its name.
#[cfg(test)]
extern crate self as kubewright_manifests;

#[cfg(feature = "check")]
pub mod compatibility;
pub mod crd;
pub mod diagnostic;
mod findings;
mod manifests;
pub mod marker;
pub mod naming;
#[cfg(feature = "output")]
pub mod options;
#[cfg(feature = "output")]
pub mod output;
pub mod rbac;
pub mod schema;
#[cfg(all(test, feature = "source"))]
mod snapshot;
#[cfg(feature = "source")]
pub mod source;
mod style;
pub mod webhook;

/// Manifests are written as controller-gen writes them.
pub use kubewright_yaml as yaml;
pub use manifests::Manifests;
pub use style::Style;
