//! The strings that stand in quotes.

use std::ops::Range;

/// What is wrong in a quoted string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EscapeFault {
    pub(super) message: String,
    /// The bytes of the literal.
    pub(super) range: Range<usize>,
}

/// The text that a literal in double quotes stands for, with Go's escapes.
///
/// # Errors
///
/// An escape that Go does not have, or bytes that are not UTF-8 together.
pub(super) fn unquote(literal: &str) -> Result<String, EscapeFault> {
    let inner = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let escape = &rest[at..];
        let start = literal.len() - 1 - escape.len();
        let mut characters = escape.chars().skip(1);
        let mark = characters.next();
        let length = match mark {
            Some('a' | 'b' | 'f' | 'n' | 'r' | 't' | 'v' | '\\' | '"') => 2,
            Some('0'..='7' | 'x') => 4,
            Some('u') => 6,
            Some('U') => 10,
            other => {
                let length = 1 + other.map_or(0, char::len_utf8);
                return Err(EscapeFault {
                    message: format!("`{}` is not an escape of a quoted string", &escape[..length]),
                    range: start..start + length,
                });
            }
        };
        let fault = || EscapeFault {
            message: "this escape stands for no character".to_owned(),
            range: start..(start + length).min(literal.len() - 1),
        };
        match mark {
            Some('a') => bytes.push(0x07),
            Some('b') => bytes.push(0x08),
            Some('f') => bytes.push(0x0c),
            Some('n') => bytes.push(b'\n'),
            Some('r') => bytes.push(b'\r'),
            Some('t') => bytes.push(b'\t'),
            Some('v') => bytes.push(0x0b),
            Some(c @ ('\\' | '"')) => bytes.push(c as u8),
            Some('x') => {
                bytes.push(digits(escape, 2..4, 16).and_then(|n| u8::try_from(n).ok()).ok_or_else(fault)?);
            }
            Some('u' | 'U') => {
                let c = digits(escape, 2..length, 16).and_then(char::from_u32).ok_or_else(fault)?;
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            _ => bytes.push(digits(escape, 1..4, 8).and_then(|n| u8::try_from(n).ok()).ok_or_else(fault)?),
        }
        rest = &escape[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).map_err(|_| EscapeFault {
        message: "the escapes of this string do not make UTF-8 text".to_owned(),
        range: 0..literal.len(),
    })
}

fn digits(escape: &str, range: Range<usize>, base: u32) -> Option<u32> {
    let digits = escape.get(range).filter(|text| text.chars().all(|c| c.is_digit(base)))?;
    u32::from_str_radix(digits, base).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_go() {
        assert_eq!(unquote(r#""a\n\t\\\"\x41\101\u00e9\U0001F680""#).unwrap(), "a\n\t\\\"AAé🚀");
        assert_eq!(unquote(r#""\xc3\xa9""#).unwrap(), "é");
    }

    #[test]
    fn an_escape_that_go_does_not_have_is_refused_where_it_stands() {
        let fault = unquote(r#""ab\d""#).unwrap_err();
        assert_eq!(
            (fault.range, fault.message.as_str()),
            (3..5, r"`\d` is not an escape of a quoted string")
        );
        for bad in [r#""\xg1""#, r#""\x1""#, r#""\777""#, r#""\ud800""#, r#""\xff""#, r#""\é""#, r#""\u00""#]
        {
            assert!(unquote(bad).is_err(), "{bad}");
        }
    }
}
