//! The Job controller: runs pods until enough of them have succeeded.
//!
//! [`plan`](plan::plan) counts and decides, [`pods`] makes the pods, [`indexes`] reads and writes lists of
//! completion indexes. All are pure; [`reconciler`] reads the caches and writes.
//!
//! A pod that has ended is counted exactly once, even if somebody deletes it: a finalizer holds it until its
//! uid stands in the Job's status, and only when the finalizer is gone does the uid become a number there.

mod indexes;
mod plan;
mod pods;
mod reconciler;

pub(crate) use reconciler::run;

/// The finalizer that holds a pod until it is counted.
pub(crate) const TRACKING: &str = "batch.kubernetes.io/job-tracking";
