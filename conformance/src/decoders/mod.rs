//! What reads bytes of clients, each part behind a function that takes any bytes, and panics where the part does or where it
//! breaks a promise of its own.
//!
//! These are the targets of `fuzz/`, which runs them under libFuzzer for as long as one likes. The test `mutations` runs them on
//! each change, on what is kept in `fuzz/seeds` and on that with mistakes in it.

mod bodies;
mod patches;
mod requests;
mod schemas;

use std::path::{Path, PathBuf};

pub use self::{
    bodies::{json, protobuf, yaml},
    patches::{apply, json_patch, merge_patch, strategic_merge_patch},
    requests::{bearer_token, continue_token, field_selector, issued_token, label_selector, request},
    schemas::{cel, definition, schema},
};

/// Something that reads bytes.
#[derive(Clone, Copy, Debug)]
pub struct Decoder {
    /// Its name, which is that of its fuzz target and of its folder of seeds.
    pub name: &'static str,
    /// Reads the bytes.
    pub read: fn(&[u8]),
}

/// All of them.
pub const DECODERS: &[Decoder] = &[
    Decoder { name: "apply", read: apply },
    Decoder { name: "bearer_token", read: bearer_token },
    Decoder { name: "cel", read: cel },
    Decoder { name: "continue_token", read: continue_token },
    Decoder { name: "definition", read: definition },
    Decoder { name: "field_selector", read: field_selector },
    Decoder { name: "json", read: json },
    Decoder { name: "json_patch", read: json_patch },
    Decoder { name: "label_selector", read: label_selector },
    Decoder { name: "merge_patch", read: merge_patch },
    Decoder { name: "protobuf", read: protobuf },
    Decoder { name: "request", read: request },
    Decoder { name: "schema", read: schema },
    Decoder { name: "strategic_merge_patch", read: strategic_merge_patch },
    Decoder { name: "yaml", read: yaml },
];

/// The folder with what a decoder begins from, a file for each input.
#[must_use]
pub fn seeds(decoder: &Decoder) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds").join(decoder.name)
}

/// What stands before a line break, and what behind it: two texts in one input.
fn halves(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|byte| *byte == b'\n')?;
    Some((&bytes[..at], &bytes[at + 1..]))
}
