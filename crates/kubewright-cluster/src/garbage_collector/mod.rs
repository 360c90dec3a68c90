//! The garbage collector: deletes what has no owner any more.
//!
//! [`graph`] is the picture of who owns what, fed by one metadata-only watch per resource; every change of it
//! yields work. [`decision`] says what to do about one object, given what is known of its owners and
//! dependents. Both are pure. [`monitors`] keeps the watches, following discovery so that the objects of new
//! custom resources are collected too, and [`collector`] carries the work out: it never trusts the graph
//! where deletion is at stake, but asks the API server for the object and its owners first.

mod collector;
mod decision;
mod graph;
mod monitors;

pub(crate) use collector::run;
pub(crate) use monitors::{Monitors, OnEvent};

/// The finalizer of an object that goes only after its blocking dependents have gone.
pub(crate) const FOREGROUND: &str = "foregroundDeletion";
/// The finalizer of an object whose dependents lose it as an owner before it goes.
pub(crate) const ORPHAN: &str = "orphan";
