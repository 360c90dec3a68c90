//! Whether a marker does anything where it stands.

use super::{
    comment::{Candidate, Form},
    lexer::Documents,
    subject::{FieldSubject, Subject, SubjectKind},
    values,
};
use crate::marker::{Effect, Marker, MarkerError, SchemaEffect, Target, parse, parse_on};

/// Where a comment stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ground<'s> {
    /// It is about a whole file or module.
    Package,
    /// It documents this.
    On(&'s Subject),
    /// The compiler drops it, and this follows.
    Before(&'s Subject),
    /// Nothing that a marker could be about is here.
    Nowhere,
    /// Inside of a macro call, or the file could not be parsed.
    Unknown,
}

const EVERYWHERE: &[Target] = &[Target::Field, Target::Type, Target::Kind, Target::Code, Target::Package];

/// Where a comment stands among the subjects of its file.
pub(super) fn ground<'s>(candidate: &Candidate<'_>, subjects: &'s [Subject]) -> Ground<'s> {
    let around = subjects.iter().rfind(|subject| subject.contains(&candidate.comment));
    if let Some(Subject { kind: SubjectKind::Macro, range, .. }) = around
        && range.start < candidate.comment.start
    {
        return Ground::Unknown;
    }
    let is_top =
        |subject: Option<&Subject>| subject.is_none_or(|subject| matches!(subject.kind, SubjectKind::Module));
    match candidate.documents {
        Documents::Next => {
            let documented = subjects.iter().find(|subject| subject.docs.contains(&candidate.comment.start));
            documented.map_or(Ground::Nowhere, Ground::On)
        }
        Documents::Around if is_top(around) => Ground::Package,
        Documents::Around => Ground::Nowhere,
        Documents::Nothing => {
            // Between the attributes of an item, a comment is about that item.
            if let Some(subject) = around
                && candidate.comment.end <= subject.name.start
                && matches!(
                    subject.kind,
                    SubjectKind::Type(_) | SubjectKind::Field(_) | SubjectKind::Variant { .. }
                )
            {
                return Ground::Before(subject);
            }
            let follows = |subject: &&Subject| {
                subject.range.start >= candidate.comment.end
                    && around.is_none_or(|around| around.contains(&subject.range))
            };
            match subjects.iter().filter(follows).min_by_key(|subject| subject.range.start) {
                Some(next) => Ground::Before(next),
                None if is_top(around) => Ground::Package,
                None => Ground::Nowhere,
            }
        }
    }
}

/// Reads a marker, and says why it does nothing where it stands.
///
/// `others` gives the texts of all markers on the same subject.
pub(super) fn check(
    candidate: &Candidate<'_>,
    ground: Ground<'_>,
    others: &dyn Fn() -> Vec<String>,
) -> Result<Marker, MarkerError> {
    let text = &*candidate.text;
    match ground {
        Ground::Unknown => parse(text, EVERYWHERE),
        Ground::Package if candidate.documents == Documents::Nothing => dropped(candidate, None),
        Ground::Package => parse(text, &[Target::Package]),
        Ground::Nowhere if candidate.documents == Documents::Nothing => dropped(candidate, None),
        Ground::Nowhere => parse_on(text, &[Target::Code], "code inside of a function"),
        Ground::Before(next) => dropped(candidate, Some(next)),
        Ground::On(subject) => {
            let marker = on(candidate, subject)?;
            if is_about_schema(&marker) {
                read_at_all(candidate, subject, &marker)?;
                values::check(&marker)?;
                let (shape, what) = match &subject.kind {
                    SubjectKind::Field(field) => (field.shape, "this field"),
                    SubjectKind::Type(of) => (of.shape, "this type"),
                    _ => (None, ""),
                };
                if let Some(shape) = shape
                    && let Err(error) = values::fits(&marker, shape, what)
                    && !others().iter().any(|other| changes_type(other))
                {
                    return Err(error);
                }
            }
            Ok(marker)
        }
    }
    .and_then(|marker| values::check(&marker).map(|()| marker))
}

/// A marker in a doc comment.
fn on(candidate: &Candidate<'_>, subject: &Subject) -> Result<Marker, MarkerError> {
    let text = &*candidate.text;
    match &subject.kind {
        SubjectKind::Type(of) if of.is_kind => parse(text, &[Target::Type, Target::Kind]),
        SubjectKind::Type(_) => parse(text, &[Target::Type]).map_err(|error| {
            if error.code == "wrong-place" && parse(text, &[Target::Kind]).is_ok() {
                error.help("a custom resource derives `CustomResource`, or has a field `metadata`")
            } else {
                error
            }
        }),
        SubjectKind::Field(field) if field.is_unnamed => parse(text, &[Target::Field]).and_then(|marker| {
            if is_about_schema(&marker) {
                let error = "a field without a name has no schema of its own";
                return Err(wrong_place(&marker, error).help("write the marker above the type around it"));
            }
            Ok(marker)
        }),
        SubjectKind::Field(_) => parse(text, &[Target::Field]).map_err(|error| {
            if error.code == "wrong-place" && parse(text, &[Target::Type]).is_ok() {
                error.help(
                    "write it above the type of the field, or above the type around it if that is meant",
                )
            } else {
                error
            }
        }),
        SubjectKind::Variant { .. } => parse_on(text, &[Target::Code], "a variant").map_err(|error| {
            also(error, "write it above the enum, or above the type that the variant holds")
        }),
        SubjectKind::Alias => parse_on(text, &[Target::Code], "a type alias").map_err(|error| {
            also(error, "the compiled type does not know its aliases: make it a struct with one field")
        }),
        SubjectKind::Module => parse_on(text, &[Target::Package, Target::Code], "a module"),
        SubjectKind::Macro => parse(text, EVERYWHERE),
        SubjectKind::Code(what) => parse_on(text, &[Target::Code], what),
    }
}

/// A marker that the compiler drops together with its comment.
fn dropped(candidate: &Candidate<'_>, next: Option<&Subject>) -> Result<Marker, MarkerError> {
    let text = &*candidate.text;
    let follows_item =
        next.is_none_or(|next| !matches!(next.kind, SubjectKind::Field(_) | SubjectKind::Variant { .. }));
    if let Ok(marker) = parse(text, &[Target::Package])
        && (follows_item || !matches!(marker.definition.effect, Effect::Package(_)))
    {
        return Ok(marker);
    }
    let marker = parse(text, EVERYWHERE)?;
    let sign = if candidate.form == Form::Block { "/* */" } else { "//" };
    let message = format!(
        "`{}` does nothing in a `{sign}` comment, which the compiled type does not carry",
        marker.name
    );
    let error = MarkerError::new("plain-comment", message, 0..text.len());
    Err(match next.map(|next| &next.kind) {
        _ if candidate.is_behind_code => {
            error.help("write it above the field, on a line that begins with `///`")
        }
        Some(SubjectKind::Type(_) | SubjectKind::Field(_)) => error.help("begin the line with `///`"),
        _ => error.help("write it above a type or a field, on a line that begins with `///`"),
    })
}

/// Whether anything reads the doc comment.
fn read_at_all(candidate: &Candidate<'_>, subject: &Subject, marker: &Marker) -> Result<(), MarkerError> {
    if candidate.is_behind_star {
        return Err(wrong_place(
            marker,
            "the star before it is part of the comment that the compiled type carries",
        )
        .help("begin the line with `///`"));
    }
    let attributes = &subject.attributes;
    if attributes.has_description {
        return Err(wrong_place(
            marker,
            "`#[schemars(description = ..)]` takes the place of the doc comment",
        )
        .help("leave the attribute out, and write the description above the marker"));
    }
    match &subject.kind {
        SubjectKind::Type(of) if !attributes.derives_schema() && !attributes.has_unknown => Err(wrong_place(
            marker,
            &format!("`{}` does not derive `JsonSchema`, so nothing reads its comments", of.schema),
        )
        .help("add `JsonSchema` to its `#[derive(..)]`")),
        SubjectKind::Field(FieldSubject { has_schema: false, of, .. }) => Err(wrong_place(
            marker,
            &format!("`{of}` does not derive `JsonSchema`, so nothing reads its comments"),
        )
        .help(format!("add `JsonSchema` to the `#[derive(..)]` of `{of}`"))),
        SubjectKind::Field(_) if attributes.is_skipped => {
            Err(wrong_place(marker, "a field that serde skips is not in the schema"))
        }
        SubjectKind::Field(_) if attributes.is_flattened => {
            Err(wrong_place(marker, "a field that is flattened has no schema of its own")
                .help("write the marker above the type of the field"))
        }
        _ => Ok(()),
    }
}

fn wrong_place(marker: &Marker, reason: &str) -> MarkerError {
    MarkerError::new(
        "wrong-place",
        format!("`{}` does nothing here: {reason}", marker.name),
        0..marker.text.len(),
    )
}

/// Adds help to the error that says that a marker is in the wrong place.
fn also(error: MarkerError, help: &str) -> MarkerError {
    if error.code == "wrong-place" { error.help(help) } else { error }
}

fn is_about_schema(marker: &Marker) -> bool {
    matches!(marker.definition.effect, Effect::Schema(_) | Effect::Crd(_))
}

/// Whether the schema is no longer that of the Rust type.
fn changes_type(text: &str) -> bool {
    parse(text, &[Target::Field, Target::Type]).is_ok_and(|marker| {
        let changes = [SchemaEffect::Type, SchemaEffect::IntOrString, SchemaEffect::Schemaless];
        matches!(marker.definition.effect, Effect::Schema(effect) if changes.contains(&effect))
    })
}
