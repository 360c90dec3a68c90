//! An embedded Kubernetes API server: a tower service over a versioned store.
//!
//! [`ApiServer`] is the server, [`ApiService`] what clients talk to. A request comes in through [`wire`], where it
//! is read and negotiated, goes to a verb of [`registry`], which commits to [`store`], and comes back through
//! [`wire`]. What is served at the moment is described by [`discovery`]; refusals are [`status`] values.
//!
//! Clock and randomness are given to the server, and timers are tokio's, so that a client and a server in one
//! thread under paused time do the same in every run.

pub mod apply;
pub mod authn;
pub mod authz;
mod bootstrap;
mod crd;
pub mod defaults;
pub mod discovery;
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
pub mod wire;

pub use server::{ApiServer, ApiServerBuilder, ApiService, ServerClosed};
pub use store::Snapshot;
pub use user::User;
pub use wire::{ApiBody, Version};
