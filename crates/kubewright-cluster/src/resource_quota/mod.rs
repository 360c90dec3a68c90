//! The quota controller: counts what the objects of a namespace use of its quotas.
//!
//! The API server charges a quota when an object is created. What is given back when one goes, or what a new quota begins with,
//! is counted here, by what the server has. [`usage`] counts, [`reconciler`] says when.

mod reconciler;
mod usage;

pub(crate) use reconciler::run;
