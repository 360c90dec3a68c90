//! The values of literals.

use std::str::Chars;

use super::Literal;

pub(super) fn integer(text: &str) -> Option<Literal> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    match digits.strip_prefix("0x") {
        Some(hex) => i64::from_str_radix(&format!("{sign}{hex}"), 16),
        None => text.parse(),
    }
    .ok()
    .map(Literal::Int)
}

pub(super) fn unsigned(text: &str) -> Option<Literal> {
    let digits = text.strip_suffix(['u', 'U'])?;
    match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    }
    .ok()
    .map(Literal::Uint)
}

pub(super) fn double(text: &str) -> Option<Literal> {
    text.parse().ok().map(Literal::Double)
}

pub(super) fn string(text: &str) -> Option<Literal> {
    let bytes = unquoted(text, false)?;
    String::from_utf8(bytes).ok().map(Literal::String)
}

pub(super) fn bytes(text: &str) -> Option<Literal> {
    unquoted(text.get(1..)?, true).map(Literal::Bytes)
}

/// The content of a quoted text. All line breaks count as `\n`.
fn unquoted(text: &str, is_bytes: bool) -> Option<Vec<u8>> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (is_raw, text) = text.strip_prefix(['r', 'R']).map_or((false, text.as_str()), |rest| (true, rest));
    let quotes =
        if text.len() >= 6 && (text.starts_with("'''") || text.starts_with("\"\"\"")) { 3 } else { 1 };
    let content = text.get(quotes..text.len().checked_sub(quotes)?)?;
    if is_raw {
        return Some(content.as_bytes().to_vec());
    }
    let mut out = Vec::with_capacity(content.len());
    let mut chars = content.chars();
    while let Some(char) = chars.next() {
        if char == '\\' {
            escaped(&mut chars, is_bytes, &mut out)?;
        } else {
            push(char, &mut out);
        }
    }
    Some(out)
}

/// The character behind a backslash.
fn escaped(chars: &mut Chars<'_>, is_bytes: bool, out: &mut Vec<u8>) -> Option<()> {
    let first = chars.next()?;
    let (digits, radix, value) = match first {
        'x' | 'X' => (2, 16, 0),
        'u' if !is_bytes => (4, 16, 0),
        'U' if !is_bytes => (8, 16, 0),
        '0'..='3' => (2, 8, first.to_digit(8)?),
        _ => {
            push(plain(first)?, out);
            return Some(());
        }
    };
    let value = (0..digits).try_fold(value, |value: u32, _| {
        value.checked_mul(radix)?.checked_add(chars.next()?.to_digit(radix)?)
    })?;
    // In bytes, a code is a byte and not a character.
    if is_bytes {
        out.push(u8::try_from(value).ok()?);
    } else {
        push(char::from_u32(value)?, out);
    }
    Some(())
}

fn plain(char: char) -> Option<char> {
    Some(match char {
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\u{b}',
        '\\' | '\'' | '"' | '`' | '?' => char,
        _ => return None,
    })
}

fn push(char: char, out: &mut Vec<u8>) {
    out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
}
