//! Checks a CRD that was made, as an API server would, and for what an API server takes and nobody wants.
//!
//! `paths.rs` follows the paths of columns and of the scale subresource through the schema, `size.rs` weighs the document,
//! `locate.rs` finds the line of source that a path of the document comes from.

mod locate;
mod paths;
mod size;

use std::collections::BTreeSet;

use kubewright_schema::{
    FieldError,
    crd::{crd_warnings, default_crd, validate_crd},
};

use serde_json::Value;

use self::locate::Locator;
use crate::{
    Style,
    diagnostic::{Diagnostic, Severity},
    schema::Origin,
};

/// What is wrong with a CRD.
///
/// Found is whatever makes an API server refuse it: names, the rules of structural schemas, defaults that do not fit their
/// schema, rules of CEL that do not compile or cost too much, selectable fields; and besides that columns and
/// replica counts whose path leads nowhere (warnings in controller-gen's style, which knows no such check) and documents
/// that are too large. Each diagnostic names the marker that is at fault, if one is.
#[must_use]
pub fn check(document: &Value, origins: &[Origin], style: Style) -> Vec<Diagnostic> {
    let locator = Locator::new(document, origins);
    let mut defaulted = document.clone();
    default_crd(&mut defaulted);
    let refused = validate_crd(&defaulted);
    let mut diagnostics: Vec<_> = refused.iter().map(|error| refusal(error, &locator)).collect();
    let severity = if style == Style::ControllerGen { Severity::Warning } else { Severity::Error };
    diagnostics.extend(paths::check(document, severity, &locator));
    diagnostics.extend(size::check(document, &locator));
    let warnings = crd_warnings(&defaulted, None).into_iter().filter(|warning| !is_told(warning, origins));
    diagnostics.extend(warnings.map(|warning| Diagnostic {
        severity: Severity::Warning,
        code: "api-warning".to_owned(),
        message: format!("an API server warns: {warning}"),
        place: locator.place(""),
        help: Vec::new(),
    }));
    // What the versions of a kind share is found in each of them.
    let mut seen = BTreeSet::new();
    diagnostics.retain(|found| seen.insert(format!("{found:?}")));
    diagnostics
}

/// Whether the schema's own diagnostics have this already, at the marker: they know the formats of markers.
fn is_told(warning: &str, origins: &[Origin]) -> bool {
    origins.iter().filter(|origin| origin.keyword == "format").any(|origin| {
        let format = origin.marker.split_once('=').map_or("", |(_, format)| format);
        let format = format.trim().trim_matches(['"', '`']);
        !format.is_empty() && warning == format!("unrecognized format \"{format}\"")
    })
}

fn refusal(error: &FieldError, locator: &Locator<'_>) -> Diagnostic {
    let path = locate::in_document(&error.field);
    let message = format!("an API server refuses {}: {}", locate::shown(&path), error.body());
    Diagnostic {
        severity: Severity::Error,
        code: "refused".to_owned(),
        message,
        place: locator.place(&path),
        help: Vec::new(),
    }
}
