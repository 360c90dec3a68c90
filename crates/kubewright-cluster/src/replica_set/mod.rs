//! The ReplicaSet controller: keeps as many pods of a template running as a ReplicaSet asks for.
//!
//! [`decision`] says how many pods to create and which to delete, [`rank`] orders pods by how little their
//! deletion hurts, [`status`] counts, all without I/O. [`reconciler`] reads the caches, adopts and releases
//! pods, carries the decision out and writes the status.

mod decision;
mod rank;
mod reconciler;
mod status;

pub(crate) use reconciler::run;
