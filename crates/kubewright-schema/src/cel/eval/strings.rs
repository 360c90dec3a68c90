//! Functions of strings, by their characters.

use std::sync::Arc;

use kube_cel::cel::Value as Cel;

use super::{Failure, Outcome, format};

/// Applies a function of strings. Nothing if it is none, or a library knows it.
pub(super) fn apply(function: &str, operands: &[Cel]) -> Option<Outcome> {
    let Some(Cel::String(target)) = operands.first() else { return None };
    let text = target.as_str();
    Some(match (function, operands.get(1..).unwrap_or_default()) {
        ("charAt", [Cel::Int(index)]) => char_at(text, *index),
        ("substring", [Cel::Int(start)]) => substring(text, *start, None),
        ("substring", [Cel::Int(start), Cel::Int(end)]) => substring(text, *start, Some(*end)),
        ("split", [Cel::String(separator)]) => Ok(split(text, separator, -1)),
        ("split", [Cel::String(separator), Cel::Int(most)]) => Ok(split(text, separator, *most)),
        ("format", [Cel::List(arguments)]) => {
            format::format(text, arguments).map(string).map_err(Failure::other)
        }
        _ => return None,
    })
}

fn string(text: impl Into<String>) -> Cel {
    Cel::String(Arc::new(text.into()))
}

fn out_of_range(index: i64) -> Failure {
    Failure::other(format!("index out of range: {index}"))
}

/// The byte at which a character begins; the end of the text behind the last one.
fn offset(text: &str, index: i64) -> Result<usize, Failure> {
    let missing = || out_of_range(index);
    let number = usize::try_from(index).map_err(|_| missing())?;
    let mut offsets = text.char_indices().map(|(offset, _)| offset).chain([text.len()]);
    offsets.nth(number).ok_or_else(missing)
}

fn char_at(text: &str, index: i64) -> Outcome {
    let rest = text.get(offset(text, index)?..).unwrap_or_default();
    Ok(string(rest.chars().next().map(String::from).unwrap_or_default()))
}

fn substring(text: &str, start: i64, end: Option<i64>) -> Outcome {
    if let Some(end) = end.filter(|end| start > *end) {
        return Err(Failure::other(format!("invalid substring range. start: {start}, end: {end}")));
    }
    let from = offset(text, start)?;
    let to = end.map_or(Ok(text.len()), |end| offset(text, end))?;
    Ok(string(text.get(from..to).unwrap_or_default()))
}

/// The parts of a text, `most` at most unless that is negative.
fn split(text: &str, separator: &str, most: i64) -> Cel {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let parts: Vec<Cel> = if most == 0 {
        Vec::new()
    } else if separator.is_empty() {
        let mut parts: Vec<String> = text.chars().map(String::from).collect();
        if parts.len() > most {
            let rest = parts.split_off(most - 1).concat();
            parts.push(rest);
        }
        parts.into_iter().map(string).collect()
    } else {
        text.splitn(most, separator).map(string).collect()
    };
    Cel::List(Arc::new(parts))
}
