//! Errors in expressions as cel-go shows them, and rules as Go does.

use kube_cel::cel::parser::ParseErrors;

use super::syntax::{Located, Place};
use crate::{error::go, structural::Rule};

/// The most errors that are shown.
const MOST: usize = 100;

/// The longest line that is shown.
const LONGEST_LINE: usize = 16_384;

/// All errors of an expression, sorted by place.
pub(super) fn errors(source: &str, errors: &[Located]) -> String {
    let mut places: Vec<(Position<'_>, &Located)> =
        errors.iter().map(|error| (Position::of(source, error.place.at), error)).collect();
    places.sort_by_key(|(position, _)| (position.line, position.column));
    let mut texts: Vec<String> =
        places.iter().take(MOST).map(|(position, error)| position.show(&error.text)).collect();
    if errors.len() > MOST {
        texts.push(format!("{} more errors were truncated", errors.len() - MOST));
    }
    texts.join("\n")
}

/// What the parser of the `cel` crate says about a text that is not of the language.
pub(super) fn foreign(source: &str, errors: &ParseErrors) -> Vec<Located> {
    errors
        .errors
        .iter()
        // What it says about its own tree comes with an error that says why.
        .filter(|error| errors.errors.len() == 1 || !error.msg.starts_with("Incomplete `"))
        .map(|error| {
            let [line, column] =
                [error.pos.0, error.pos.1].map(|number| usize::try_from(number - 1).unwrap_or(0));
            let start = source.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
            let rest = source.get(start..).unwrap_or_default();
            let offset = rest.char_indices().nth(column).map_or(rest.len(), |(offset, _)| offset);
            let at = start + offset;
            let end = at + source.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
            Located { place: Place { at, start: at, end }, text: narrowed(&error.msg) }
        })
        .collect()
}

/// A syntax error as the parser of Go words it, which does not name what could go on where something must end.
fn narrowed(text: &str) -> String {
    const GOES_ON: [&str; 18] = [
        "'=='", "'!='", "'in'", "'<'", "'<='", "'>='", "'>'", "'&&'", "'||'", "'['", "'.'", "'-'", "'?'",
        "'+'", "'*'", "'/'", "'%'", "'{'",
    ];
    let Some((before, expected)) = text.split_once(" expecting {") else { return text.to_owned() };
    let Some(expected) = expected.strip_suffix('}').filter(|expected| expected.contains("'=='")) else {
        return text.to_owned();
    };
    let left: Vec<&str> = expected.split(", ").filter(|token| !GOES_ON.contains(token)).collect();
    match left.as_slice() {
        [] => text.to_owned(),
        [only] => format!("{before} expecting {only}"),
        more => format!("{before} expecting {{{}}}", more.join(", ")),
    }
}

/// A place for readers.
pub(super) struct Position<'s> {
    /// From 1.
    pub(super) line: usize,
    /// From 0, in characters.
    pub(super) column: usize,
    text: &'s str,
    /// Whether the text has no places, as it is empty.
    is_nowhere: bool,
}

impl<'s> Position<'s> {
    pub(super) fn of(source: &'s str, offset: usize) -> Self {
        let before = source.get(..offset).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        let column = before.get(start..).map_or(0, |part| part.chars().count());
        let text = source.get(start..).and_then(|rest| rest.split('\n').next()).unwrap_or_default();
        Self { line, column, text, is_nowhere: source.is_empty() }
    }

    fn show(&self, error: &str) -> String {
        let column = if self.is_nowhere { 0 } else { self.column + 1 };
        let mut out = format!("ERROR: <input>:{}:{column}: {error}", self.line);
        if self.text.len() <= LONGEST_LINE && !self.is_nowhere {
            let line = self.text.replace('\t', " ");
            let mark = |char: Option<char>, narrow: char, wide: char| {
                if char.is_some_and(|char| !char.is_ascii()) { wide } else { narrow }
            };
            let mut chars = line.chars();
            let dots: String =
                chars.by_ref().take(self.column).map(|char| mark(Some(char), '.', '\u{ff0e}')).collect();
            let caret = mark(chars.next(), '^', '\u{ff3e}');
            out.push_str(&format!("\n | {line}\n | {dots}{caret}"));
        }
        out
    }
}

/// A rule as Go's JSON of the internal type, which has no JSON names.
pub(crate) fn rule(rule: &Rule) -> String {
    let json = |text: &str| go::json(&text.into());
    format!(
        r#"{{"Rule":{},"Message":{},"MessageExpression":{},"Reason":{},"FieldPath":{},"OptionalOldSelf":{}}}"#,
        json(&rule.rule),
        json(&rule.message),
        json(&rule.message_expression),
        rule.reason.as_deref().map_or_else(|| "null".to_owned(), json),
        json(&rule.field_path),
        rule.optional_old_self.map_or_else(|| "null".to_owned(), |flag| flag.to_string()),
    )
}
