//! A simulated kubelet: pods that are bound to its node start, become ready, end and go, without a process.
//!
//! [`lifecycle`] is the heart: from a Pod and the time it computes the next status, as a pure function. Each
//! of its [`container`]s advances on its own; [`conditions`] sums them up. How a pod behaves can be told by
//! [annotations](crate::annotations), which [`knobs`] reads. [`node`] registers the node and renews its lease,
//! [`address`] hands out pod IPs, and [`reconciler`] connects all of it with the API server.

mod address;
mod conditions;
mod container;
mod knobs;
mod lifecycle;
mod node;
mod reconciler;

pub(crate) use reconciler::run;
