//! The operator runtime: work queue, informers, controllers, client, manager.
//!
//! An operator imports it through the facade `kubewright`; the controllers of `kubewright-cluster` are written with
//! it as well. Of this workspace it imports `kubewright-world` and, for the CRDs of an operator, `kubewright-manifests`,
//! and it knows no other API server than the one its connection leads to.
//!
//! An object's way through it is the order in which to read the folders: a watch fills the [`cache`], its events
//! pass the [`predicate`]s and [`handler`]s of a [`controller`] into the work [`queue`], a worker hands the
//! [`Request`] to the [`Reconciler`], which writes through the [`client`]. The [`manager`] owns all of it, with its
//! [`metrics`], probes ([`health`]) and [`events`], and the [`election`] of the replica that acts, or the [`sharding`] of the
//! work between replicas.
//!
//! Beside that way, [`webhook`]s answer what the API server asks before it stores an object, and [`diagnostics`] tells what all of
//! them are doing.
//!
//! [`conditions`], [`finalizers`] and [`owner_references`] are small: what a reconciler does to objects. [`crds`] makes
//! the definitions of an operator's kinds.
//!
//! Clock, randomness and the connection are given to the manager, and timers are tokio's. Under paused time, an
//! operator and an API server in one thread do the same in every run.

mod action;
pub mod cache;
mod certificates;
pub mod client;
pub mod conditions;
pub mod controller;
pub mod crds;
pub mod diagnostics;
pub mod election;
mod error;
pub mod event;
pub mod events;
pub mod finalizers;
pub mod handler;
pub mod health;
pub mod logging;
pub mod manager;
pub mod metrics;
mod object_reconciler;
pub mod owner_references;
mod panics;
pub mod predicate;
pub mod queue;
mod reconciler;
mod request;
#[cfg(test)]
mod scripted;
pub mod sharding;
pub mod source;
pub mod webhook;

pub use action::{Action, Next};
pub use error::{Error, Result};
pub use kubewright_world::{Clock, Random};
pub use object_reconciler::{AsReconciler, ObjectReconciler, as_reconciler};
pub use reconciler::{ReconcileFn, Reconciler, reconcile_fn};
pub use request::Request;
