//! HTTP in and out: what a request is about, how its body is read, how the answer is written.
//!
//! `handler.rs` is the way of a request from top to bottom. It reads the request line ([`RequestInfo`]), picks a
//! form for the answer (`media.rs`), decodes body and options (`decode.rs`, `options.rs`), calls a verb
//! of the registry and writes what that gives (`respond.rs`, `list.rs`, `watch.rs`). Nothing here decides what a verb means.

mod body;
pub(crate) mod decode;
pub(crate) mod handler;
mod list;
mod media;
pub(crate) mod options;
pub mod protobuf;
mod request_info;
mod respond;
mod root;
mod watch;
pub mod yaml;

pub use body::ApiBody;
pub(crate) use decode::read;
pub use request_info::{Query, RequestInfo};
pub use root::Version;
