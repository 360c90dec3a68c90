//! The DaemonSet controller: one pod on each node that can have it.
//!
//! [`plan`](plan::plan) decides, as a pure function, which pods to create and delete and counts the status;
//! [`pods`] makes the pods, bound to their node by affinity. [`reconciler`] reads the caches and writes.

mod plan;
mod pods;
mod reconciler;

pub(crate) use reconciler::run;
