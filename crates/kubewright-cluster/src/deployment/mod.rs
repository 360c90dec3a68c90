//! The Deployment controller: rolls a pod template out over ReplicaSets.
//!
//! Start at [`plan`](plan::plan): given a Deployment and its ReplicaSets it says which ReplicaSets to create,
//! scale and delete and what the status is, without any I/O. [`reconciler`] reads the caches, carries the
//! plan out and writes the status. The other files are the parts of the plan: the bounds a [`strategy`] sets,
//! proportional [`scale`], the [`revision`] history and the [`status`].

mod plan;
mod reconciler;
mod revision;
mod scale;
mod status;
mod strategy;
#[cfg(test)]
mod tests;

pub(crate) use reconciler::run;
