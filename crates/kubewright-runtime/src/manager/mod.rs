//! What makes a process of controllers: the connection, the cache, the servers, and their start and stop.
//!
//! [`Manager`] is the handle that everything is made with, and `start` runs until the end. [`Options`] are
//! the flags of an operator's binary. Start reading at `handle.rs`; `lifecycle.rs` has the order of start and
//! stop, `connect.rs` the search for a cluster, `access.rs` who may read the metrics, `webhook_server.rs` when webhooks answer; `crd_command.rs` prints the definitions
//! instead.

mod access;
mod address;
mod connect;
mod crd_command;
mod handle;
mod http_server;
mod lifecycle;
mod options;
mod reporter;
mod runnable;
mod signals;
mod webhook_server;

pub use address::BindAddress;
pub use handle::{Manager, ManagerBuilder};
pub use options::{GracePeriod, LogFormat, Options};
pub use runnable::{Group, Runnable};
