//! What stands in requests and answers: negotiation, decoding and encoding.

pub mod protobuf;
