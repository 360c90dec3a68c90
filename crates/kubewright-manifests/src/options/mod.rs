//! The options of the generators: what there is, and how it is read from a command line and from a `Cargo.toml`.
//!
//! The names are controller-gen's, and so is the syntax of [`Word`]s, `crd:maxDescLen=0` or `output:crd:dir=deploy`, so that the
//! line of a Kubebuilder Makefile works as it stands. A project keeps its own in its manifest:
//!
//! ```toml
//! [package.metadata.kubewright.generate]
//! headerFile = "hack/boilerplate.yaml.txt"
//!
//! [package.metadata.kubewright.generate.crd]
//! maxDescLen = 200
//! ```
//!
//! [`Settings`] holds what both say. The table of options is in `table.rs`.

mod error;
mod metadata;
mod output;
mod settings;
mod table;
mod word;

pub use error::OptionError;
pub use output::Output;
pub use settings::Settings;
pub use table::{Generator, options};
pub use word::{Word, suggestion};
