//! Objects as tables, the form in which `kubectl get` asks for them.
//!
//! A [`Printer`] knows the columns of one kind and makes the cells of its objects: for built-in kinds the ones of
//! Kubernetes, for custom resources those of their `additionalPrinterColumns`. Start reading in `printer.rs`; the
//! cells of built-in kinds are in `built_in/`, one file per area.

mod built_in;
mod column;
mod custom;
mod duration;
mod object;
mod printer;

pub use column::Column;
pub use custom::{CustomColumn, FindValue};
pub use duration::human_duration;
pub use printer::{IncludeObject, IncludeObjectError, Printer, TableOptions};
