//! The network between a client and the API server, as a test holds it.
//!
//! A [`Transport`] stands where the connection would be. It writes every request and every watch event into a
//! [`History`], and makes the connection misbehave as [`Faults`] say. It is a tower service over another one, so
//! it works for any client that can be built on a service, and it draws all its decisions from one seeded source.
//! Start reading in `service.rs`; `body.rs` is a watch on its way.

mod body;
mod conditions;
mod events;
mod faults;
mod history;
mod process;
mod service;

pub use body::TransportBody;
pub(crate) use conditions::{Conditions, Injected};
pub(crate) use faults::happens;
pub use faults::{Fault, Faults};
pub use history::History;
pub(crate) use process::Process;
pub use service::{Transport, TransportError};
