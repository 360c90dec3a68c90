//! An embedded Kubernetes API server: a tower service over a versioned store.
//!
//! It is what `kubewright dev`, `kubewright cluster` and the tests of operators run against. [`ApiServer`] is the
//! server, [`ApiService`] what clients talk to: in process, or through the [`listener`].
//!
//! A request comes in through [`wire`], where it is read and negotiated, passes [`authn`] and [`authz`], goes to a
//! verb of [`registry`], which asks `admission` (built-in plugins, policies and webhooks), commits to [`store`] (which [`data_dir`] keeps on disk, if that is wanted), and comes back through
//! [`wire`]. [`webhook`] is how webhooks are called, those that convert custom resources as well. What is served at the moment is
//! described by [`discovery`] and [`openapi`]; refusals are [`status`] values. [`types`] and [`defaults`] know the
//! built-in kinds, `validation` what may be in them, [`apply`] and [`patch`] change objects, [`selector`] picks them, [`table`] prints them. Start
//! reading in `wire/handler.rs`, the way of a request from top to bottom, then in [`registry`] and [`store`].
//!
//! Clock, randomness and the way to webhooks are given to the server, and timers are tokio's, so that a client and a server in one
//! thread under paused time do the same in every run. Of this workspace the crate imports `kubewright-schema` and
//! `kubewright-world`, and nothing of the runtime: a client of the server is a client like any other.

mod admission;
pub mod apply;
pub mod authn;
pub mod authz;
mod bootstrap;
mod crd;
pub mod data_dir;
pub mod defaults;
pub mod discovery;
mod feature_gates;
pub mod listener;
pub mod openapi;
pub mod patch;
pub mod registry;
pub mod selector;
mod server;
pub mod status;
pub mod store;
pub mod table;
pub mod types;
mod user;
mod validation;
pub mod webhook;
pub mod wire;

pub use admission::plugins::{AdmissionPlugins, AdmissionPluginsError};
pub use data_dir::{DataDir, DataDirError};
pub use feature_gates::{FeatureGateError, FeatureGates};
pub use registry::{ServiceRangeError, ServiceRanges};
pub use server::{ApiServer, ApiServerBuilder, ApiService, ServerClosed};
pub use store::Snapshot;
pub use user::User;
pub use webhook::WebhookClient;
pub use wire::{ApiBody, Version};
