//! Doc comments: text for readers, and markers.

use super::{faults::Faults, node::Site};
use crate::{
    Style,
    marker::{Marker, Target},
};

/// A doc comment, taken apart.
#[derive(Debug, Default)]
pub(super) struct Docs {
    pub(super) text: String,
    pub(super) markers: Vec<Marker>,
}

/// Takes a doc comment apart.
pub(super) fn read(doc: &str, _target: Target, _site: &Site, _style: Style, _faults: &mut Faults) -> Docs {
    let lines: Vec<&str> = doc.lines().filter(|line| !line.trim_start().starts_with('+')).collect();
    Docs { text: lines.join("\n").trim().to_owned(), markers: Vec::new() }
}
