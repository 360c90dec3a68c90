//! Protobuf bodies of built-in kinds, decoded to JSON values.
//!
//! Clients with generated types (kubectl, helm, client-go) send built-in kinds as protobuf and have no fallback,
//! so the server has to read it. It never writes it: every such client also accepts JSON.
//!
//! [`decode`] is the way in. `messages.rs` is the table that the decoder follows, made from the Go API types;
//! `decoder.rs` walks a message; `special.rs` has the types whose JSON form their fields do not tell; `reader.rs` reads
//! the wire format.

mod decoder;
mod error;
mod messages;
mod reader;
mod special;

pub use decoder::decode;
pub use error::{ProtobufError, WireError};

/// Whether a body starts like a protobuf-encoded Kubernetes object.
#[must_use]
pub fn is_protobuf(body: &[u8]) -> bool {
    body.starts_with(MAGIC)
}

/// The bytes before every protobuf-encoded object.
const MAGIC: &[u8] = b"k8s\0";

/// How deep messages may be nested. Real objects stay below 40; schemas of CRDs are the deepest.
const MAX_DEPTH: usize = 256;
