use std::ops::Range;

/// A word of the language.
#[derive(Clone, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) range: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    Bytes,
    Double,
    End,
    EscapedIdent,
    Ident,
    Int,
    /// An operator, a bracket or one of the words `in`, `true`, `false` and `null`.
    Sign,
    String,
    Uint,
    /// The rest of a text from where it is not of the language.
    Unknown,
}

const SIGNS: [&str; 24] = [
    "==", "!=", "<=", ">=", "&&", "||", "<", ">", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?", ":",
    "+", "*", "/", "%",
];
const WORDS: [&str; 4] = ["in", "true", "false", "null"];

/// Splits a text into words. Ends before anything that is none.
pub(super) fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(rest) = source.get(position..).filter(|rest| !rest.is_empty()) {
        let blank = rest.len() - rest.trim_start_matches(['\t', ' ', '\r', '\n', '\u{c}']).len();
        if blank > 0 {
            position += blank;
        } else if rest.starts_with("//") {
            position += rest.find('\n').unwrap_or(rest.len());
        } else {
            let Some((kind, length)) = token(rest) else { break };
            tokens.push(Token { kind, range: position..position + length });
            position += length;
        }
    }
    let kind = if position < source.len() { TokenKind::Unknown } else { TokenKind::End };
    tokens.push(Token { kind, range: position..source.len() });
    tokens
}

fn token(rest: &str) -> Option<(TokenKind, usize)> {
    if let Some((kind, length)) = quoted(rest) {
        return Some((kind, length));
    }
    let first = rest.chars().next()?;
    let digit_follows = || rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if first.is_ascii_digit() || (first == '.' && digit_follows()) {
        return Some(number(rest));
    }
    if first == '_' || first.is_ascii_alphabetic() {
        let length = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let is_word = rest.get(..length).is_some_and(|word| WORDS.contains(&word));
        return Some((if is_word { TokenKind::Sign } else { TokenKind::Ident }, length));
    }
    if let Some(name) = rest.strip_prefix('`') {
        return Some((TokenKind::EscapedIdent, name.find('`')? + 2));
    }
    let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
    Some((TokenKind::Sign, sign.len()))
}

/// A string or bytes, if one stands at the start.
fn quoted(rest: &str) -> Option<(TokenKind, usize)> {
    let bytes = rest.as_bytes();
    let mut start = 0;
    let mut kind = TokenKind::String;
    let mut is_raw = false;
    if matches!(bytes.first(), Some(b'b' | b'B')) {
        kind = TokenKind::Bytes;
        start += 1;
    }
    if matches!(bytes.get(start), Some(b'r' | b'R')) {
        is_raw = true;
        start += 1;
    }
    let quote = bytes.get(start).copied().filter(|byte| matches!(byte, b'"' | b'\''))?;
    let triple = [quote; 3];
    let end: &[u8] = if bytes.get(start..)?.starts_with(&triple) { &triple } else { &triple[..1] };
    let mut position = start + end.len();
    loop {
        let rest = bytes.get(position..)?;
        if rest.starts_with(end) {
            return Some((kind, position + end.len()));
        }
        position += match rest.first()? {
            b'\\' if !is_raw => 2,
            _ => 1,
        };
    }
}

fn number(rest: &str) -> (TokenKind, usize) {
    let bytes = rest.as_bytes();
    let run = |from: usize, is_digit: fn(&u8) -> bool| {
        bytes.get(from..).unwrap_or_default().iter().take_while(|byte| is_digit(byte)).count()
    };
    let unsigned = |length: usize| match bytes.get(length) {
        Some(b'u' | b'U') => (TokenKind::Uint, length + 1),
        _ => (TokenKind::Int, length),
    };
    if rest.starts_with("0x") && run(2, u8::is_ascii_hexdigit) > 0 {
        return unsigned(2 + run(2, u8::is_ascii_hexdigit));
    }
    let mut length = run(0, u8::is_ascii_digit);
    let mut kind = TokenKind::Int;
    if bytes.get(length) == Some(&b'.') && run(length + 1, u8::is_ascii_digit) > 0 {
        kind = TokenKind::Double;
        length += 1 + run(length + 1, u8::is_ascii_digit);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let digits = run(length + 1 + sign, u8::is_ascii_digit);
        if digits > 0 {
            return (TokenKind::Double, length + 1 + sign + digits);
        }
    }
    if kind == TokenKind::Int { unsigned(length) } else { (kind, length) }
}
