//! What is found wrong with one marker.

use std::ops::Range;

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

/// What of a marker is at fault.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part<'p> {
    /// All of it.
    Marker,
    /// The value of this argument; all of it, if it does not have the argument.
    Argument(&'p str),
    /// In the list of this argument, this item.
    Item(&'p str, &'p str),
}

impl<'p> From<&'p str> for Part<'p> {
    fn from(argument: &'p str) -> Self {
        Self::Argument(argument)
    }
}

// === impl Findings ===

impl Findings<'_> {
    /// What no style can write. Help may be empty.
    pub(crate) fn error<'p>(
        &mut self,
        code: &str,
        part: impl Into<Part<'p>>,
        message: impl Into<String>,
        help: &str,
    ) {
        self.push(Severity::Error, code, part.into(), message.into(), help);
    }

    /// What the API server refuses, or what has no effect. controller-gen writes it all the same.
    pub(crate) fn fault<'p>(
        &mut self,
        code: &str,
        part: impl Into<Part<'p>>,
        message: impl Into<String>,
        help: &str,
    ) {
        self.push(fault(self.style), code, part.into(), message.into(), help);
    }

    /// What is written, and probably not what was meant.
    pub(crate) fn warning<'p>(
        &mut self,
        code: &str,
        part: impl Into<Part<'p>>,
        message: impl Into<String>,
        help: &str,
    ) {
        self.push(Severity::Warning, code, part.into(), message.into(), help);
    }

    fn push(&mut self, severity: Severity, code: &str, part: Part<'_>, message: String, help: &str) {
        let place = self.range(part).map_or_else(|| self.place.clone(), |range| self.place.within(range));
        let help = if help.is_empty() { Vec::new() } else { vec![help.to_owned()] };
        self.diagnostics.push(Diagnostic { severity, code: code.to_owned(), message, place, help });
    }

    /// The bytes of the marker's text with this part; none if it has no such part, or if the text in the file is another.
    fn range(&self, part: Part<'_>) -> Option<Range<usize>> {
        if let Place::File { range, .. } = self.place
            && range.len() != self.marker.text.len()
        {
            // It is written with escapes.
            return None;
        }
        let (name, item) = match part {
            Part::Marker => return None,
            Part::Argument(name) => (name, None),
            Part::Item(name, item) => (name, Some(item)),
        };
        let whole = self.marker.arguments.iter().find(|found| found.name == name)?.range.clone();
        let item = item.and_then(|item| find(self.marker.text.get(whole.clone())?, item));
        Some(item.map_or(whole.clone(), |item| whole.start + item.start..whole.start + item.end))
    }
}

/// Where in the text of a list an item is.
fn find(list: &str, item: &str) -> Option<Range<usize>> {
    let is_border = |character: Option<char>| {
        character.is_none_or(|character| character.is_whitespace() || ";,{}\"`".contains(character))
    };
    list.match_indices(item).map(|(start, item)| start..start + item.len()).find(|range| {
        !range.is_empty()
            && is_border(list.get(..range.start).and_then(|before| before.chars().next_back()))
            && is_border(list.get(range.end..).and_then(|after| after.chars().next()))
    })
}

/// How bad it is in this style if the API server refuses something.
pub(crate) fn fault(style: Style) -> Severity {
    match style {
        Style::Kubewright => Severity::Error,
        Style::ControllerGen => Severity::Warning,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::marker::{Target, parse};

    fn place(text: &str, file: Range<usize>, part: Part<'_>) -> Range<usize> {
        let marker = parse(text, &[Target::Package]).unwrap();
        let mut diagnostics = Vec::new();
        let place = Place::File { file: "a.rs".into(), range: file };
        Findings { marker: &marker, place: &place, style: Style::Kubewright, diagnostics: &mut diagnostics }
            .warning("code", part, "message", "");
        match diagnostics.remove(0).place {
            Place::File { range, .. } => range,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_part_is_found_in_the_file() {
        let text = "+kubebuilder:rbac:groups=a,resources=forget;\"get\",verbs=get";
        let at = |part| place(text, 100..100 + text.len(), part);
        let shown = |range: Range<usize>| &text[range.start - 100..range.end - 100];
        assert_eq!(shown(at(Part::Item("resources", "get"))), "get");
        assert_eq!(at(Part::Item("resources", "get")).start, 100 + 45);
        assert_eq!(shown(at(Part::Argument("resources"))), "forget;\"get\"");
        assert_eq!(shown(at(Part::Item("resources", "gone"))), "forget;\"get\"");
        assert_eq!(shown(at(Part::Argument("urls"))), text);
        assert_eq!(shown(at(Part::Marker)), text);
    }

    #[test]
    fn text_with_escapes_is_not_taken_apart() {
        let text = "+kubebuilder:rbac:groups=a,resources=b,verbs=get";
        assert_eq!(place(text, 7..99, Part::Argument("verbs")), 7..99);
    }
}
