//! The StatefulSet controller: pods with a name, a place in line and volumes of their own.
//!
//! [`plan`](plan::plan) decides which pods to create and delete, in the order the set's policies ask for, and
//! counts the status. [`identity`] gives a pod its name, labels and volumes, [`revision`] keeps the history of
//! templates in ControllerRevisions. All are pure; [`reconciler`] reads the caches and writes.

mod identity;
mod plan;
mod reconciler;
mod revision;

pub(crate) use reconciler::run;
