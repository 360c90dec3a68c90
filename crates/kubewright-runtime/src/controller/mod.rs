//! A controller: sources of events over one work queue, and workers that reconcile what is in it.
//!
//! * [`Controller`] is the builder: which kinds are watched, which events count, how many run at once.
//! * [`ControllerRunnable`] is what it builds, for the manager to run: it starts the sources, waits for their
//!   caches, and hands requests to the reconciler until it is stopped (`runnable.rs`).
//! * `worker.rs` is one reconciliation: panics caught, time limited, the result turned into what happens to the
//!   request next. `backtrace.rs` tells where a caught panic came from, [`reconcile_id`] which reconciliation runs.
//!
//! `report.rs` tells those who ask what a controller is doing.
//!
//! A controller asks its surroundings for little: [`ControllerHost`] is what a manager is to it.

mod backtrace;
mod builder;
mod config;
mod host;
mod reconcile_id;
mod report;
mod runnable;
mod worker;

pub use builder::Controller;
pub use config::ControllerConfig;
pub use host::{ControllerContext, ControllerHost};
pub use reconcile_id::reconcile_id;
pub use runnable::ControllerRunnable;
