use std::{
    fmt::{self, Display, Formatter},
    iter::Peekable,
    str::Chars,
};

use regex::Regex;

/// A regular expression in the syntax of Go, compiled.
///
/// The `regex` crate descends from the same engine as Go's, but reads some patterns differently: in Go,
/// classes such as `\d` and the word boundary are ASCII, and inside brackets `[`, `&&`, `--` and `~~` have
/// no meaning. The pattern is rewritten where the two differ.
#[derive(Clone)]
pub struct Pattern {
    source: String,
    regex: Regex,
}

/// Why a pattern does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("error parsing regexp: {0}")]
pub struct InvalidPattern(String);

impl Pattern {
    /// Compiles `source`.
    ///
    /// # Errors
    ///
    /// If Go would not compile it either, or if the compiled form would be unreasonably large.
    pub fn new(source: &str) -> Result<Self, InvalidPattern> {
        let regex = Regex::new(&translate(source)?).map_err(|error| {
            // The crate draws a diagram over several lines; its last line says what is wrong.
            let text = error.to_string();
            let reason = text.trim_end().lines().last().unwrap_or_default();
            let reason = match reason.trim_start_matches("error: ") {
                "unclosed group" => "missing closing )",
                "unopened group" => "unexpected )",
                other => other,
            };
            InvalidPattern(format!("{reason}: `{source}`"))
        })?;
        Ok(Self { source: source.to_owned(), regex })
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// Whether `text` contains a match. Patterns are not anchored.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.source, f)
    }
}

impl Display for Pattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

fn translate(source: &str) -> Result<String, InvalidPattern> {
    let mut out = String::with_capacity(source.len() + 16);
    let mut chars = source.chars().peekable();
    // The operator before, which Go does not let another one follow.
    let mut repetition = String::new();
    while let Some(c) = chars.next() {
        if let Some(mut operator) = repetition_operator(c, &chars) {
            for _ in 1..operator.len() {
                chars.next();
            }
            operator.extend(chars.next_if_eq(&'?'));
            if !repetition.is_empty() {
                return Err(InvalidPattern(format!(
                    "invalid nested repetition operator: `{repetition}{operator}`"
                )));
            }
            out.push_str(&operator);
            repetition = operator;
            continue;
        }
        repetition.clear();
        match c {
            '\\' => escape(&mut chars, &mut out),
            '[' => class(&mut chars, &mut out),
            '{' => out.push_str("\\{"),
            c => out.push(c),
        }
    }
    Ok(out)
}

/// The operator that starts with `c`, if it is one that repeats.
fn repetition_operator(c: char, rest: &Peekable<Chars<'_>>) -> Option<String> {
    match c {
        '*' | '+' | '?' => Some(c.to_string()),
        '{' if is_repetition(rest.clone()) => {
            let inner = rest.clone().take_while(|&c| c != '}');
            Some("{".chars().chain(inner).chain(['}']).collect())
        }
        _ => None,
    }
}

/// Whether the text after `{` is a repetition count. Go takes any other brace literally.
fn is_repetition(chars: Peekable<Chars<'_>>) -> bool {
    let inner: String = chars.take_while(|&c| c != '}').collect();
    let (least, most) = inner.split_once(',').unwrap_or((&inner, "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number(least) && (most.is_empty() || is_number(most))
}

fn escape(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    match chars.next() {
        Some(c @ ('d' | 'D' | 's' | 'S' | 'w' | 'W')) => {
            out.push('[');
            out.push_str(ascii_class(c));
            out.push(']');
        }
        Some(c @ ('b' | 'B')) => {
            out.push_str("(?-u:\\");
            out.push(c);
            out.push(')');
        }
        Some('Q') => {
            // Everything up to `\E` is literal.
            let rest: String = chars.clone().collect();
            let (literal, skipped) = rest.split_once("\\E").map_or((rest.as_str(), 0), |(text, _)| (text, 2));
            out.push_str(&regex::escape(literal));
            for _ in 0..literal.chars().count() + skipped {
                chars.next();
            }
        }
        Some(c) => {
            literal_escape(c, out);
            // The braces of `\x{..}` and `\p{..}` count nothing.
            if matches!(c, 'x' | 'p' | 'P') && chars.next_if_eq(&'{').is_some() {
                out.push('{');
            }
        }
        None => out.push('\\'),
    }
}

/// In Go a backslash takes the meaning from any punctuation. The `regex` crate gives `\<` and `\>` one.
fn literal_escape(c: char, out: &mut String) {
    if c.is_ascii_alphanumeric() || !c.is_ascii() {
        out.push('\\');
        out.push(c);
    } else {
        out.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }
}

fn class(chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    // A bracket that comes first is an item of the class.
    if chars.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    while let Some(c) = chars.next() {
        match c {
            ']' => {
                out.push(']');
                return;
            }
            '[' if chars.peek() == Some(&':') && named_class(chars, out) => {}
            '\\' if chars.peek().is_some_and(|c| "dDsSwW".contains(*c)) => {
                let ascii = ascii_class(chars.next().unwrap_or('d'));
                if ascii.starts_with('^') {
                    out.push('[');
                    out.push_str(ascii);
                    out.push(']');
                } else {
                    out.push_str(ascii);
                }
            }
            c => {
                class_item(c, chars, out);
                // A dash makes a range unless it is the last item.
                let mut ahead = chars.clone();
                if ahead.next() == Some('-') && ahead.next().is_some_and(|c| c != ']') {
                    chars.next();
                    out.push('-');
                    if let Some(end) = chars.next() {
                        class_item(end, chars, out);
                    }
                }
            }
        }
    }
}

/// One character of a class, without the meaning that the `regex` crate gives to more characters than Go does.
fn class_item(c: char, chars: &mut Peekable<Chars<'_>>, out: &mut String) {
    match c {
        '\\' => match chars.next() {
            Some(c) => literal_escape(c, out),
            None => out.push('\\'),
        },
        '[' | '&' | '~' | '-' => {
            out.push('\\');
            out.push(c);
        }
        c => out.push(c),
    }
}

/// Copies `[:alpha:]` and the like; the opening bracket is already read.
fn named_class(chars: &mut Peekable<Chars<'_>>, out: &mut String) -> bool {
    let rest: String = chars.clone().collect();
    let Some(end) = rest.find(":]") else { return false };
    let name = &rest[..end];
    if !name.chars().skip(1).all(|c| c.is_ascii_lowercase() || c == '^') {
        return false;
    }
    out.push('[');
    out.push_str(name);
    out.push_str(":]");
    for _ in 0..name.chars().count() + 2 {
        chars.next();
    }
    true
}

fn ascii_class(letter: char) -> &'static str {
    match letter {
        'd' => "0-9",
        'D' => "^0-9",
        's' => "\\t\\n\\x0C\\r ",
        'S' => "^\\t\\n\\x0C\\r ",
        'w' => "0-9A-Za-z_",
        _ => "^0-9A-Za-z_",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_go() {
        let cases = [
            (r"^\d+$", "123", true),
            (r"^\d+$", "١٢٣", false),
            (r"^[\d.]+$", "1.2", true),
            (r"^[^\D]+$", "12", true),
            (r"^\w+$", "é", false),
            (r"^[[a]+$", "[a", true),
            (r"^[]a]+$", "a]", true),
            (r"^[a&&b]+$", "&", true),
            (r"^[a~~b]+$", "~", true),
            (r"^[+--]+$", ",", true),
            (r"^[a-c-]+$", "b-", true),
            (r"^[\w-]+$", "b-", true),
            (r"^[\d-z]+$", "1-z", true),
            (r"^[!-\]]+$", "A", true),
            (r"^\x{41}\p{Lu}$", "AB", true),
            (r"^[\x41-\x43]$", "B", true),
            (r"^{a}$", "{a}", true),
            (r"^a{2,3}$", "aaa", true),
            (r"^a{,3}$", "a{,3}", true),
            (r"^\<\/\-\_$", "</-_", true),
            (r"^\Qa.b\E+$", "a.bb", true),
            (r"\bfoo\b", "a foo b", true),
            (r"^[[:alpha:]]+$", "abc", true),
            (r"^[\s\S]*$", "a\nb", true),
            (r"foo", "a foo b", true),
            (r"^(?:a*?)+b??$", "aa", true),
            (r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?)$", "a-b", true),
        ];
        for (pattern, text, matches) in cases {
            assert_eq!(Pattern::new(pattern).unwrap().is_match(text), matches, "{pattern} on {text}");
        }
    }

    #[test]
    fn broken_patterns_are_errors() {
        for pattern in ["(", "[a", "*", "\\", "(?=a)", "a{3,2}", "a**", "a+?*", "a{2}{3}", "a???"] {
            assert!(Pattern::new(pattern).is_err(), "{pattern}");
        }
    }
}
