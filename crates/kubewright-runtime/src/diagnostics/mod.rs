//! What an operator is doing, for people who ask why it does not do it.
//!
//! * [`Report`] is the state of a manager at one moment: its term, its controllers with what runs and what fails and why,
//!   its watches. [`Manager::report`](crate::manager::Manager::report) makes it.
//! * As text (`page.rs`) and as JSON it is served at `/debug`: at the address of `--debug-bind-address`, and, to those who
//!   may read it, beside the metrics. `kubewright top` shows it live.
//!
//! The parts register themselves in [`Diagnostics`], so that asking costs something and not being asked costs nothing.
//! Last errors alone are kept while nobody looks (`last_errors.rs`): they are not to be had later.

mod last_errors;
mod page;
mod registry;
mod report;

pub(crate) use last_errors::{LastError, LastErrors};
pub use registry::Diagnostics;
pub use report::{
    ControllerReport, FailingReport, HotLoopReport, LeadershipReport, QueueReport, Report, RunningReport,
    ShardsReport, WatchReport,
};
