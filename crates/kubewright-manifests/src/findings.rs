//! What is found wrong with one marker.

use crate::{
    Style,
    diagnostic::{Diagnostic, Place, Severity},
    marker::Marker,
};

/// Collects what is found wrong with one marker.
#[derive(Debug)]
pub(crate) struct Findings<'a> {
    pub(crate) marker: &'a Marker,
    /// Where the marker stands.
    pub(crate) place: &'a Place,
    pub(crate) style: Style,
    pub(crate) diagnostics: &'a mut Vec<Diagnostic>,
}

// === impl Findings ===

impl Findings<'_> {
    /// What no style can write. The place is that of the argument, if the marker has it. Help may be empty.
    pub(crate) fn error(&mut self, code: &str, argument: &str, message: impl Into<String>, help: &str) {
        self.push(Severity::Error, code, argument, message.into(), help);
    }

    /// What the API server refuses, or what has no effect. controller-gen writes it all the same.
    pub(crate) fn fault(&mut self, code: &str, argument: &str, message: impl Into<String>, help: &str) {
        self.push(fault(self.style), code, argument, message.into(), help);
    }

    /// What is written, and probably not what was meant.
    pub(crate) fn warning(&mut self, code: &str, argument: &str, message: impl Into<String>, help: &str) {
        self.push(Severity::Warning, code, argument, message.into(), help);
    }

    fn push(&mut self, severity: Severity, code: &str, argument: &str, message: String, help: &str) {
        let place = match self.marker.arguments.iter().find(|found| found.name == argument) {
            Some(argument) => self.place.within(argument.range.clone()),
            None => self.place.clone(),
        };
        let help = if help.is_empty() { Vec::new() } else { vec![help.to_owned()] };
        self.diagnostics.push(Diagnostic { severity, code: code.to_owned(), message, place, help });
    }
}

/// How bad it is in this style if the API server refuses something.
pub(crate) fn fault(style: Style) -> Severity {
    match style {
        Style::Kubewright => Severity::Error,
        Style::ControllerGen => Severity::Warning,
    }
}
