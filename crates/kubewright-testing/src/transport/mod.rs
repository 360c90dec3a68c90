//! The network between a client and the API server, as a test holds it.
//!
//! A [`Transport`] stands where the connection would be. It writes every request and every watch event into a
//! [`History`], and makes the connection misbehave as [`Faults`] say. It is a tower service over another one, so
//! it works for any client that can be built on a service, and it draws all its decisions from one seeded source.
//! Start reading in `service.rs`.

mod body;
mod faults;
mod history;
mod service;

pub use body::TransportBody;
pub use faults::{Fault, Faults};
pub use history::History;
pub use service::{Transport, TransportError};
