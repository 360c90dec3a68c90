//! Texts of a format, a pattern and a length.

use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::Value;

/// A text that the schema of a string allows, as far as that is easy; different numbers give different texts.
pub(crate) fn text(schema: &Value, number: usize) -> String {
    let least = schema["minLength"].as_u64().unwrap_or(0) as usize;
    let most = schema["maxLength"].as_u64().map_or(usize::MAX, |most| most as usize);
    let patterns: Vec<Hir> =
        patterns(schema).filter_map(|pattern| regex_syntax::parse(pattern).ok()).collect();
    if !patterns.is_empty() {
        let length = |text: &String| text.chars().count();
        // What several patterns match is mostly a text with a part for each.
        let texts =
            (0..70).map(|extra| patterns.iter().map(|hir| matching(hir, extra, number)).collect::<String>());
        let texts: Vec<String> = texts.filter(|text| length(text) <= most).collect();
        let long_enough = texts.iter().find(|text| length(text) >= least).cloned();
        // A pattern without an end allows anything after it.
        let padded = || {
            texts.first().map(|text| {
                // More than the letter that makes the texts differ.
                let letter = char::from(b'a' + (number % 26) as u8).to_string();
                format!("{text}{}", letter.repeat(least.saturating_sub(length(text)).max(1)))
            })
        };
        if let Some(text) = long_enough.or_else(padded) {
            return text;
        }
    }
    let text = match schema["format"].as_str() {
        Some("date-time") => return format!("2030-01-01T00:00:{:02}Z", number % 60),
        Some("date") => return format!("2030-01-{:02}", number % 28 + 1),
        Some("byte") => return "aGVsbG8=".to_owned(),
        Some("duration") => return format!("{}s", number + 1),
        Some("uri") => format!("https://example.com/{number}"),
        Some("hostname") => format!("host{number}"),
        Some("email") => format!("a{number}@example.com"),
        Some("ipv4") => format!("192.0.2.{}", number % 255),
        Some("ipv6") => format!("2001:db8::{number}"),
        Some("cidr") => format!("192.0.{}.0/24", number % 255),
        Some("uuid") => format!("00000000-0000-4000-8000-{number:012}"),
        _ => format!("text{number}"),
    };
    let missing = least.saturating_sub(text.chars().count());
    (text + &"x".repeat(missing)).chars().take(most).collect()
}

/// The patterns of a schema and of the parts of its `allOf`.
fn patterns(schema: &Value) -> impl Iterator<Item = &str> {
    let parts = schema["allOf"].as_array().into_iter().flatten();
    let inherited =
        schema["pattern"].as_str().filter(|own| !parts.clone().any(|part| part["pattern"] == **own));
    inherited.into_iter().chain(parts.filter_map(|part| part["pattern"].as_str()))
}

/// A text that matches, with `extra` more repetitions where it may repeat, and the `number`th letter of a class.
fn matching(hir: &Hir, extra: usize, number: usize) -> String {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => String::new(),
        HirKind::Literal(literal) => String::from_utf8_lossy(&literal.0).into_owned(),
        HirKind::Class(class) => letter(class, number).into(),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.map_or(usize::MAX, |most| most as usize);
            let times = (repetition.min as usize + extra).min(most);
            matching(&repetition.sub, 0, number).repeat(times)
        }
        HirKind::Capture(capture) => matching(&capture.sub, extra, number),
        HirKind::Concat(parts) => parts.iter().map(|part| matching(part, extra, number)).collect(),
        HirKind::Alternation(parts) => {
            // The last is mostly the one that is not empty.
            parts.last().map(|part| matching(part, extra, number)).unwrap_or_default()
        }
    }
}

/// A letter of the class, a small or a digit if it has one.
fn letter(class: &Class, number: usize) -> char {
    let ranges: Vec<(char, char)> = match class {
        Class::Unicode(class) => class.ranges().iter().map(|range| (range.start(), range.end())).collect(),
        Class::Bytes(class) => {
            class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect()
        }
    };
    let has = |letter: &char| ranges.iter().any(|(start, end)| (start..=end).contains(&letter));
    let common: Vec<char> = ('a'..='z').chain('1'..='9').chain('A'..='Z').filter(has).collect();
    let first = ranges.first().map_or('a', |(start, _)| *start);
    common.get(number % common.len().max(1)).copied().unwrap_or(first)
}
