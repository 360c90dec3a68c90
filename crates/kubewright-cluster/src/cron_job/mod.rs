//! The CronJob controller: creates Jobs at the times of a schedule.
//!
//! [`schedule`] reads schedules and finds their times, [`plan`](plan::plan) decides what is due; both are pure.
//! [`reconciler`] reads the caches and writes.

mod plan;
mod reconciler;
mod schedule;

pub(crate) use reconciler::run;
