//! From what a compiled type knows of its comments to their places in files.

use std::ops::Range;

use super::{
    SourceFile, Sources,
    subject::{Subject, SubjectKind},
};
use crate::diagnostic::{Diagnostic, Place};

impl Sources {
    /// The place in a file of a place in the comment of a compiled type. One that is not found, and any other, stays as it is.
    ///
    /// Types are found by the names of their schemas. schemars tells types of one name apart by a number, and adds the
    /// parameters of generic ones; both are tolerated. Of several types with the name, the first with the field and the
    /// marker is taken.
    #[must_use]
    pub fn resolve(&self, place: Place) -> Place {
        let Place::Doc { type_name, field, marker, range } = &place else { return place };
        let wanted = Wanted { field: field.as_deref(), marker, range };
        let mut names = vec![type_name.as_str()];
        names.extend(type_name.split_once("_for_").map(|(name, _)| name));
        let without_number = type_name.trim_end_matches(|c: char| c.is_ascii_digit());
        names.extend((!without_number.is_empty() && without_number != type_name).then_some(without_number));
        for name in names {
            let found = self.files.iter().filter_map(|file| Some((file, wanted.find(file, name)?)));
            // What is found with its marker is better than the mere type.
            if let Some((file, found)) = found.min_by_key(|(_, found)| found.rank) {
                return Place::File { file: file.path.clone(), range: found.range };
            }
        }
        place
    }

    /// [`Self::resolve`] for the places of many diagnostics.
    #[must_use]
    pub fn resolve_all(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let resolve =
            |diagnostic: Diagnostic| Diagnostic { place: self.resolve(diagnostic.place), ..diagnostic };
        diagnostics.into_iter().map(resolve).collect()
    }
}

/// What is looked for.
struct Wanted<'w> {
    field: Option<&'w str>,
    marker: &'w str,
    range: &'w Range<usize>,
}

/// Something that was found.
struct Found {
    range: Range<usize>,
    /// Less is better.
    rank: u8,
}

// === impl Wanted ===

impl Wanted<'_> {
    fn find(&self, file: &SourceFile, name: &str) -> Option<Found> {
        // A name that serde or schemars gave stands in a string, and any other is the type's own.
        if !file.text.contains(name) {
            return None;
        }
        let subjects = file.subjects().ok()?;
        subjects
            .iter()
            .filter_map(|subject| self.find_in(file, subjects, subject, name))
            .min_by_key(|found| found.rank)
    }

    fn find_in(&self, file: &SourceFile, all: &[Subject], subject: &Subject, name: &str) -> Option<Found> {
        let SubjectKind::Type(of) = &subject.kind else { return None };
        let is_named = of.schema == name || subject.attributes.kinds.iter().any(|kind| kind == name);
        if !is_named || file.is_test_code(&subject.range) {
            return None;
        }
        let inside = || all.iter().filter(|inner| subject.contains(&inner.range));
        let member = self.field.and_then(|field| {
            inside().find(|inner| match &inner.kind {
                SubjectKind::Field(inner) => inner.of == of.schema && inner.json == field,
                SubjectKind::Variant { of: around, json } => *around == of.schema && json == field,
                _ => false,
            })
        });
        let at = |range: Range<usize>, rank: u8| Some(Found { range, rank });
        if !self.marker.is_empty() {
            // Comments of variants are told as those of their type.
            let documented: Vec<&Subject> = match (self.field, member) {
                (Some(_), Some(member)) => vec![member],
                (Some(_), None) => Vec::new(),
                (None, _) => inside().filter(|inner| !matches!(inner.kind, SubjectKind::Field(_))).collect(),
            };
            for candidate in file.candidates() {
                let is_documented =
                    documented.iter().any(|subject| subject.docs.contains(&candidate.comment.start));
                if is_documented && candidate.text == self.marker {
                    return at(candidate.narrow(self.range), 0);
                }
            }
        }
        let rank = if self.marker.is_empty() { 0 } else { 2 };
        match (self.field, member) {
            (_, Some(member)) => at(member.name.clone(), rank),
            (Some(_), None) => at(subject.name.clone(), rank + 1),
            (None, None) => at(subject.name.clone(), rank),
        }
    }
}
