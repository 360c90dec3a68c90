//! The project of an operator: what it is made of, what is written for it, and how its files follow a change of it.
//!
//! A project is a value, a [`Project`], which its `PROJECT` file holds in Kubebuilder's form. [`render()`] gives every file that
//! is scaffolded for it. A command changes the value and renders it before and after; what differs between the two is
//! merged into the user's files, three-way, line by line ([`merge`]). So one function knows what a project looks like, every
//! command is idempotent and keeps what the user wrote, and a later version of the templates is merged in the same way.
//!
//! ```
//! use kubewright_scaffold::{Change, Project, api::NewApi, tree::Tree};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let project = Project::new("example.com", "memcached-operator")?;
//! Change::init(project.clone()).plan(&Tree::at(folder.path()))?.write()?;
//!
//! let mut changed = project.clone();
//! changed.add_api(&NewApi::new("cache", "v1alpha1", "Memcached"))?;
//! let plan = Change::between(project, changed).plan(&Tree::at(folder.path()))?;
//! assert!(plan.paths().any(|path| path.ends_with("src/controller/memcached.rs")));
//! plan.write()?;
//! # Ok(())
//! # }
//! ```
//!
//! | module | idea |
//! |---|---|
//! | [`project`] | the model, and the `PROJECT` file |
//! | [`names`] | what a domain, a group, a version, a kind and a package may be called |
//! | [`api`] | the changes of the model: one more kind, one less |
//! | [`types`] | Rust types from a definition that is there already |
//! | [`webhook`] | the same for webhooks |
//! | [`mod@render`] | every file of a project, from its model and the templates |
//! | [`tree`] | the files as they are, on disk or in memory |
//! | [`record`] | what was scaffolded last, kept in the project, so that a merge knows what the user changed |
//! | [`merge`] | the three-way merge |
//! | [`change`] | all of it together: a plan of what to write, or what stands in its way |
//!
//! The crate writes files and reads no clock and no network. It may import `kubewright-manifests` and `kubewright-schema`;
//! the command line imports it.

pub mod api;
pub mod change;
mod error;
pub mod framework;
pub mod license;
pub mod merge;
pub mod names;
pub mod project;
pub mod record;
pub mod render;
mod take_over;
pub mod tree;
pub mod types;
pub mod webhook;

pub use self::{
    change::Change,
    error::ScaffoldError,
    project::Project,
    render::render,
    take_over::{TakeOver, TakenOver},
};
