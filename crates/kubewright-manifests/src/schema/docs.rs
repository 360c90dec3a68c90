//! Doc comments: text for readers, and markers.

use super::{
    faults::{Faults, place},
    node::{Site, Source},
};
use crate::{
    Style,
    marker::{self, Marker, Target},
};

/// A doc comment, taken apart.
#[derive(Debug, Default)]
pub(super) struct Docs {
    pub(super) text: String,
    /// The markers that were understood, in the order of the source.
    pub(super) markers: Vec<Marker>,
}

/// Takes the doc comment of a type or field apart, and tells what is wrong with its markers.
pub(super) fn read(doc: &str, targets: &[Target], site: &Site, style: Style, faults: &mut Faults) -> Docs {
    let documentation = marker::docs::split(doc, style);
    let mut docs = Docs { text: documentation.description, markers: Vec::new() };
    for text in documentation.markers {
        match marker::parse(&text, targets) {
            Ok(marker) => docs.markers.push(marker),
            Err(error) => {
                let range = error.range.clone();
                faults.add(error.at(place(site, text, range)));
            }
        }
    }
    docs
}

/// Where a marker comes from.
pub(super) fn source(marker: &Marker, site: &Site) -> Source {
    Source { site: site.clone(), marker: marker.text.clone() }
}
