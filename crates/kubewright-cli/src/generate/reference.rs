//! `--markers`: what markers there are.

use kubewright_manifests::marker::reference;

use crate::{command::MarkersFormat, terminal};

/// Prints the table of markers.
pub(super) fn print(format: MarkersFormat) {
    match format {
        MarkersFormat::Markdown => terminal::print(&reference::markdown()),
        MarkersFormat::Json => terminal::result(reference::json()),
    }
}
