//! What is wrong with the value of a marker beyond its type.

use std::ops::Range;

use regex_syntax::{Error, Parser};
use serde_json::Value;

use super::subject::Shape;
use crate::marker::{Effect, Marker, MarkerError, SchemaEffect};

/// Checks the values of a marker.
pub(super) fn check(marker: &Marker) -> Result<(), MarkerError> {
    match marker.definition.effect {
        Effect::Schema(SchemaEffect::Pattern) => pattern(marker),
        Effect::Schema(SchemaEffect::Title) => title(marker),
        _ => Ok(()),
    }
}

/// The regular expression is one of RE2, as far as Rust's regular expressions are the same.
fn pattern(marker: &Marker) -> Result<(), MarkerError> {
    let Some(argument) = marker.arguments.first() else { return Ok(()) };
    let Some(pattern) = argument.value.as_str() else { return Ok(()) };
    let Err(error) = Parser::new().parse(pattern) else { return Ok(()) };
    let (reason, span) = match &error {
        Error::Parse(error) => (error.kind().to_string(), error.span().start.offset..error.span().end.offset),
        Error::Translate(error) => {
            (error.kind().to_string(), error.span().start.offset..error.span().end.offset)
        }
        other => (other.to_string(), 0..pattern.len()),
    };
    let range = within(marker, &argument.range, pattern, &span);
    let error = MarkerError::new("bad-pattern", format!("not a regular expression: {reason}"), range);
    Err(if reason.contains("look-around") || reason.contains("backreference") {
        error.help("the API server's regular expressions (RE2) have neither look-around nor backreferences; a CEL rule can say more")
    } else {
        error
    })
}

fn title(marker: &Marker) -> Result<(), MarkerError> {
    match marker.arguments.first() {
        Some(argument) if !argument.value.is_string() => {
            let text = marker.text.get(argument.range.clone()).unwrap_or_default();
            Err(MarkerError::new(
                "bad-value",
                format!("expected a text, found {}", kind(&argument.value)),
                argument.range.clone(),
            )
            .help(format!("write \"{text}\"")))
        }
        _ => Ok(()),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The bytes of the marker with a part of a text, if the text stands there as it is.
fn within(marker: &Marker, literal: &Range<usize>, value: &str, part: &Range<usize>) -> Range<usize> {
    let written = marker.text.get(literal.clone()).unwrap_or_default();
    match written.find(value) {
        Some(at) => literal.start + at + part.start..literal.start + at + part.end,
        None => literal.clone(),
    }
}

/// Checks that a marker fits the Rust type of `what`, which is `this field` or `this type`.
pub(super) fn fits(marker: &Marker, shape: Shape, what: &str) -> Result<(), MarkerError> {
    use SchemaEffect as S;
    let Effect::Schema(effect) = marker.definition.effect else { return Ok(()) };
    let (expected, name): (&[Shape], &str) = match effect {
        _ if marker.on_items => (&[Shape::List], "a list"),
        S::Maximum | S::Minimum | S::ExclusiveMaximum | S::ExclusiveMinimum | S::MultipleOf => {
            (&[Shape::Whole, Shape::Number], "a number")
        }
        S::MinLength | S::MaxLength | S::Pattern => (&[Shape::Text], "a text"),
        S::MinItems | S::MaxItems | S::UniqueItems | S::ListType | S::ListMapKey => {
            (&[Shape::List], "a list")
        }
        S::MinProperties | S::MaxProperties => (&[Shape::Map, Shape::Object], "a map or a struct"),
        S::MapType => (&[Shape::Map, Shape::Object], "a map"),
        S::StructType | S::AtMostOneOf | S::ExactlyOneOf | S::AtLeastOneOf => (&[Shape::Object], "a struct"),
        _ => return Ok(()),
    };
    if expected.contains(&shape) {
        return Ok(());
    }
    let found = match shape {
        Shape::Text => "a text",
        Shape::Whole => "a whole number",
        Shape::Number => "a number",
        Shape::Bool => "a boolean",
        Shape::List => "a list",
        Shape::Map => "a map",
        Shape::Object => "a struct",
    };
    let written = 1..1 + marker.text[1..].find(['=', ' ']).unwrap_or(marker.text.len() - 1);
    let error = MarkerError::new(
        "type-mismatch",
        format!("`{}` is for {name}, and {what} is {found}", marker.name),
        written,
    );
    let instead = match (effect, shape) {
        _ if marker.on_items => None,
        (S::Minimum, Shape::Text) => Some("MinLength"),
        (S::Maximum, Shape::Text) => Some("MaxLength"),
        (S::MinLength | S::Minimum, Shape::List) => Some("MinItems"),
        (S::MaxLength | S::Maximum, Shape::List) => Some("MaxItems"),
        (S::MinLength | S::MinItems, Shape::Map | Shape::Object) => Some("MinProperties"),
        (S::MaxLength | S::MaxItems, Shape::Map | Shape::Object) => Some("MaxProperties"),
        (S::MinLength | S::MinItems, Shape::Whole | Shape::Number) => Some("Minimum"),
        (S::MaxLength | S::MaxItems, Shape::Whole | Shape::Number) => Some("Maximum"),
        (S::Pattern, Shape::List) => Some("items:Pattern"),
        _ => None,
    };
    Err(error.maybe_help(instead.map(|right| format!("write `kubebuilder:validation:{right}`"))))
}
