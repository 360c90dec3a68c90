//! The controllers that make an API server a cluster.
//!
//! An API server alone stores what it is told. That a Deployment becomes pods, that the pods run, that what
//! nobody owns any more goes away: all that is the work of controllers, and these are they. They are written
//! with `kubewright-runtime`, as an operator is, so that the framework's first user is itself. They talk to
//! the API server through a client and import `kubewright-runtime`, `kubewright-schema` and `kubewright-world`; only their
//! tests know the embedded server.
//!
//! Start with [`Cluster`], which runs them, and [`controllers()`], the table of them; [`Selection`] says which
//! ones. Each controller is a folder, and each folder separates what it decides, in pure functions over
//! objects, from a `reconciler` that reads caches and writes:
//!
//! * `deployment/`, `replica_set/`, `stateful_set/`, `daemon_set/`, `job/` and `cron_job/`: workloads.
//! * `scheduler/`, `kubelet/` and `node_lifecycle/`: pods are bound to a node and run there, without a process. The annotations
//!   by which a pod misbehaves are in [`annotations`].
//! * `garbage_collector/`, `pod_garbage_collector/` and `namespace/`: the end of objects.
//! * `service_account/`: what every namespace has. `resource_quota/`: what its objects use.
//! * `endpoint_slice/`, `load_balancer/` and `persistent_volume/`: the addresses behind and before Services,
//!   the volumes of claims. `storage_protection/` keeps those that are in use.
//! * `validating_admission_policy/`: what is wrong with the expressions of policies.
//!
//! `ownership/` and `pod/` are what the workload controllers have in common.

pub mod annotations;
mod cluster;
mod context;
mod controllers;
mod cron_job;
mod daemon_set;
mod deployment;
mod discovery;
mod endpoint_slice;
mod garbage_collector;
mod job;
mod kubelet;
mod load_balancer;
mod namespace;
mod node_lifecycle;
mod note;
mod ownership;
mod persistent_volume;
mod pod;
mod pod_garbage_collector;
mod pod_template;
mod replica_set;
mod resource_quota;
mod scheduler;
mod selection;
mod service_account;
mod stateful_set;
mod storage_protection;
mod validating_admission_policy;

pub use cluster::{Builder, Cluster};
pub use controllers::{Descriptor, controllers};
pub use selection::{Selection, SelectionError};
