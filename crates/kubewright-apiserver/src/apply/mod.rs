//! Server-side apply: structured merge diff and the managed fields built on it.
//!
//! A manager that applies a configuration owns the fields it mentions. The next apply of the same
//! manager removes what it no longer mentions, and a field that another manager owns with another
//! value is a conflict. Everything here is pure: objects and times come in, objects go out.
//!
//! Start reading at [`set`] (which fields), then [`schema`] (how a value is divided into fields),
//! [`typed`] (the operations on a value with its schema), [`updater`] (who owns what after a write)
//! and [`field_manager`] (the Kubernetes rules around it). The registry uses [`field_manager`] only.

pub mod field_manager;
pub mod path;
pub mod schema;
pub mod set;
pub mod typed;
pub mod updater;
pub(crate) mod value;

pub use path::{Path, PathElement};
pub use set::Set;
pub use typed::{ObjectType, TypedValue};
