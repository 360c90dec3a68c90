//! The controllers that let volumes, claims and classes of attributes go when nobody uses them any more.
//!
//! Each of these objects comes with a finalizer. One that is deleted keeps it as long as it is in use.

mod finalizer;
mod reconcilers;

pub(crate) use reconcilers::{run_attributes_classes, run_claims, run_volumes};
