//! Markers on types that are flattened into others, and lost there.

use super::{
    SourceFile, Sources,
    placement::{self, Ground},
    subject::{FieldSubject, SubjectKind},
};
use crate::{
    diagnostic::{Diagnostic, Place},
    marker::{Effect, Target, parse},
};

/// A field whose fields are those of the type around it.
struct Flattened<'s> {
    field: &'s FieldSubject,
    /// Its name in Rust.
    name: &'s str,
    type_name: &'s str,
}

/// The markers above types that another type flattens.
///
/// schemars puts the fields of such a type into the schema of the one around it, with their doc comments, and drops what is
/// said of the type as a whole. Types are told apart by their last names.
pub(super) fn check(sources: &Sources) -> Vec<Diagnostic> {
    let fields: Vec<Flattened<'_>> = sources.files.iter().flat_map(fields).collect();
    if fields.is_empty() {
        return Vec::new();
    }
    sources.files.iter().flat_map(|file| lost(file, &fields)).collect()
}

fn fields(file: &SourceFile) -> Vec<Flattened<'_>> {
    if !file.text.contains("flatten") {
        return Vec::new();
    }
    let subjects = file.subjects().unwrap_or_default();
    subjects
        .iter()
        .filter(|subject| subject.attributes.is_flattened && !file.is_test_code(&subject.range))
        .filter_map(|subject| match &subject.kind {
            SubjectKind::Field(field) if field.has_schema => Some(Flattened {
                field,
                name: file.text.get(subject.name.clone())?,
                type_name: field.type_name.as_deref()?,
            }),
            _ => None,
        })
        .collect()
}

fn lost(file: &SourceFile, fields: &[Flattened<'_>]) -> Vec<Diagnostic> {
    let candidates = file.candidates();
    if candidates.is_empty() {
        return Vec::new();
    }
    let Ok(subjects) = file.subjects() else { return Vec::new() };
    candidates
        .iter()
        .filter_map(|candidate| {
            let Ground::On(subject) = placement::ground(candidate, subjects) else { return None };
            let SubjectKind::Type(_) = &subject.kind else { return None };
            let name = file.text.get(subject.name.clone())?;
            let Flattened { field, name: of_field, .. } =
                fields.iter().find(|field| field.type_name == name)?;
            let marker = parse(&candidate.text, &[Target::Type, Target::Kind]).ok()?;
            if !matches!(marker.definition.effect, Effect::Schema(_)) {
                return None;
            }
            let place = Place::File { file: file.path.clone(), range: candidate.range.clone() };
            let message = format!(
                "`{}` is lost where `{}.{of_field}` flattens `{name}`: only the fields of the type are there",
                marker.name, field.of
            );
            Some(Diagnostic::warning("flattened-type", message, place).with_help(format!(
                "write the marker above `{}` as well, or do not flatten the field",
                field.of
            )))
        })
        .collect()
}
