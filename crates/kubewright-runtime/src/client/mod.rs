//! Reads and writes of objects.
//!
//! [`Client`] is what a reconciler has. Its [`get`](Client::get) and [`list`](Client::list) answer from the
//! manager's cache, for the kinds that a controller declared; [`ReadYourWrites`] does so once the cache shows what
//! this client wrote; [`Live`] reads from the server; writes always go to the server. Start reading at `handle.rs`; `kind.rs` turns a Rust type into a path, `transport.rs`
//! is the one place that talks HTTP, and everything between them works on bytes, so that a kind costs an
//! operator no more than its own (de)serialization. `hot_loops/` looks at writes that go on for ever.

mod cached;
mod create_or_patch;
mod dynamic;
mod error;
mod handle;
mod hot_loops;
mod kind;
mod live;
mod options;
mod own_writes;
mod read_your_writes;
mod subresource;
#[cfg(test)]
mod tests;
mod transport;
mod write;

pub use create_or_patch::OperationResult;
pub use dynamic::DynamicClient;
pub use error::{ClientError, MissingPermission, Operation};
pub use handle::{Client, FieldValidation};
pub use hot_loops::{HotLoop, HotLoops};
pub use json_patch;
pub use kind::Kind;
pub(crate) use kind::Target;
pub use live::Live;
pub use options::{DeleteOptions, ListOptions, Patch, Propagation};
pub use read_your_writes::ReadYourWrites;
pub use subresource::{StatusClient, SubresourceClient};

/// What a call of the client returns.
pub type Result<T> = std::result::Result<T, ClientError>;
