//! OCI images of operators, without Docker.
//!
//! An operator is one program, and its image is that program in an archive with a few documents beside it: nothing that needs a daemon.
//! [`Recipe`] makes an [`Image`] of [`Executable`]s, with bytes that follow from its input alone; [`layout`] keeps it on disk in the form that
//! Docker, Podman and skopeo read; [`registry`] pushes and pulls it. [`Reference`] is the name of an image, for whoever reads or writes one.
//!
//! This crate is among the lowest of the workspace: it imports no other crate of ours, and knows neither cargo nor Kubernetes. Start reading at
//! `recipe.rs`.

mod digest;
mod executable;
mod image;
mod layer;
pub mod layout;
mod platform;
mod recipe;
mod reference;
pub mod registry;
pub mod spec;

pub use digest::{Digest, DigestError};
pub use executable::{Executable, ExecutableError};
pub use image::{Image, ImageError};
pub use layer::{Layer, PackedLayer};
pub use platform::{Platform, PlatformError};
pub use recipe::{Certificates, CertificatesError, ENTRYPOINT, NONROOT, Recipe, RecipeError};
pub use reference::{Reference, ReferenceError, ReferenceFault};
