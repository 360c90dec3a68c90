//! An operator under everything that may happen to it, one run after the other.
//!
//! A [`Simulation`] runs a scenario once without faults, to see where it ends, and then again and again: each time under
//! other faults, or with the operator's process dead after another one of its writes. Every run has a cluster of its own
//! and virtual time, and must end in the same state. A run is a [`Schedule`], which has a form in text: the line that a
//! failure prints runs that one again.
//!
//! * `simulation.rs` compares runs, and makes a failing schedule smaller until it names the fault that matters.
//! * `run.rs` is one run; `state.rs` is what of a cluster is compared.

mod run;
mod schedule;
mod simulation;
mod state;

pub use schedule::Schedule;
pub use simulation::{Report, Simulation};
