//! What a plain text would be read as.
//!
//! A string keeps its quotes if, without them, yaml.v2 would read it as a boolean, null, a number or a timestamp of
//! YAML 1.1, or if an older reader would take it for a number to base 60.

use super::timestamp;

/// Whether `text`, written without quotes, would be read as a string.
pub(super) fn reads_as_string(text: &str) -> bool {
    let Some(first) = text.chars().next() else { return false };
    match first {
        'y' | 'Y' | 'n' | 'N' | 't' | 'T' | 'f' | 'F' | 'o' | 'O' | '~' => !is_word(text),
        '.' => !is_special_float(text) && !is_go_float(text),
        '+' | '-' | '0'..='9' => {
            !is_special_float(text)
                && !timestamp::reads_as_timestamp(text)
                && !is_number(&text.replace('_', ""))
                && !is_base_60(text)
        }
        _ => true,
    }
}

/// The booleans and nulls of YAML 1.1, each in three cases but no others.
fn is_word(text: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "yes", "true", "on", "n", "no", "false", "off", "null"];
    let in_a_case = |word: &&str| {
        let capital = word.split_at_checked(1).is_some_and(|(first, rest)| {
            text.strip_prefix(&first.to_uppercase()).is_some_and(|other| other == rest)
        });
        text == *word || capital || text == word.to_uppercase()
    };
    text == "~" || WORDS.iter().any(in_a_case)
}

fn is_special_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// What Go parses as a float that begins with a point. Underscores may stand between two digits.
fn is_go_float(text: &str) -> bool {
    let bytes = text.as_bytes();
    let underscores_stand_between_digits = bytes.iter().enumerate().all(|(at, byte)| {
        *byte != b'_'
            || at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(u8::is_ascii_digit)
                && bytes
                    .get(at..)
                    .and_then(|rest| rest.iter().find(|byte| **byte != b'_'))
                    .is_some_and(u8::is_ascii_digit)
                && bytes.get(at + 1) != Some(&b'_')
    });
    underscores_stand_between_digits && is_finite_decimal(&text.replace('_', ""))
}

/// An integer of 64 bits in one of Go's notations, or a decimal float. `text` has no underscores any more.
fn is_number(text: &str) -> bool {
    is_go_integer(text) || is_finite_decimal(text) || is_signed_binary(text)
}

fn is_go_integer(text: &str) -> bool {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (Some('-'), digits),
        None => text.strip_prefix('+').map_or((None, text), |digits| (Some('+'), digits)),
    };
    let (radix, digits) = match digits.split_at_checked(2) {
        Some(("0b" | "0B", digits)) if !digits.is_empty() => (2, digits),
        Some(("0o" | "0O", digits)) if !digits.is_empty() => (8, digits),
        Some(("0x" | "0X", digits)) if !digits.is_empty() => (16, digits),
        _ if digits == "0" => (10, digits),
        _ => digits.strip_prefix('0').map_or((10, digits), |digits| (8, digits)),
    };
    // Rust takes a second sign here, Go does not.
    if !digits.starts_with(|c: char| c.is_digit(radix)) {
        return false;
    }
    let Ok(magnitude) = u64::from_str_radix(digits, radix) else { return false };
    match sign {
        None => true,
        Some('-') => magnitude <= i64::MIN.unsigned_abs(),
        Some(_) => magnitude <= i64::MAX.unsigned_abs(),
    }
}

/// Binary integers with a sign after the prefix, which yaml.v2 takes besides Go's own notation.
fn is_signed_binary(text: &str) -> bool {
    text.strip_prefix("0b").is_some_and(|digits| i64::from_str_radix(digits, 2).is_ok())
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, within the range of a 64 bit float.
fn is_finite_decimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = unsigned
        .split_once(['e', 'E'])
        .map_or((unsigned, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let mantissa_fits = match mantissa.split_once('.') {
        Some(("", fraction)) => !fraction.is_empty() && digits(fraction),
        Some((whole, fraction)) => digits(whole) && digits(fraction),
        None => !mantissa.is_empty() && digits(mantissa),
    };
    let exponent_fits = exponent.is_none_or(|exponent| {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !unsigned.is_empty() && digits(unsigned)
    });
    mantissa_fits && exponent_fits && text.parse::<f64>().is_ok_and(f64::is_finite)
}

/// `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`
fn is_base_60(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digit_or_underscore = |byte: u8| byte.is_ascii_digit() || byte == b'_';
    let mut places = unsigned.split(':').peekable();
    let first = places.next().unwrap_or_default();
    if places.peek().is_none()
        || !first.starts_with(|c: char| c.is_ascii_digit())
        || !first.bytes().all(digit_or_underscore)
    {
        return false;
    }
    while let Some(mut place) = places.next() {
        if places.peek().is_none()
            && let Some((whole, fraction)) = place.split_once('.')
        {
            if !fraction.bytes().all(digit_or_underscore) {
                return false;
            }
            place = whole;
        }
        if !matches!(place.as_bytes(), [b'0'..=b'9'] | [b'0'..=b'5', b'0'..=b'9']) {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(texts: &[&str]) {
        for text in texts {
            assert!(!reads_as_string(text), "`{text}` needs quotes");
        }
    }

    fn plain(texts: &[&str]) {
        for text in texts {
            assert!(reads_as_string(text), "`{text}` needs no quotes");
        }
    }

    #[test]
    fn booleans_and_null_of_yaml_1_1() {
        quoted(&[
            "", "~", "y", "Y", "yes", "Yes", "YES", "on", "Off", "TRUE", "False", "null", "Null", "NULL",
        ]);
        plain(&["yEs", "nULL", "yes ", "truth", "o", "t", "Nil", "tRUE", "~/x"]);
    }

    #[test]
    fn integers_in_every_notation() {
        quoted(&[
            "0", "-1", "+1", "0777", "0x1F", "0X1f", "0o7", "0b1", "-0b1", "+0b1", "0b-1", "0b+1", "1_000",
        ]);
        quoted(&["1__0", "0x_1F", "18446744073709551615", "-9223372036854775808", "08", "00", "0_"]);
        plain(&["0b", "0x", "0o8", "-", "+", "--1", "1a", "-0b-1", "0xg", "0x1ffffffffffffffff", "0x+1"]);
    }

    #[test]
    fn floats_unless_they_overflow() {
        quoted(&[
            ".5",
            ".1_0",
            ".5e1",
            "1e5",
            "1.",
            "-1.5E-3",
            "99999999999999999999",
            "1e-999",
            ".inf",
            "-.Inf",
        ]);
        quoted(&["+.INF", ".nan", ".1_0e1_0"]);
        plain(&[
            "7e7404", "1e400", ".", ".e1", "._1", ".1_", ".1__0", ".5.", "-.nan", ".infx", "0x1p-2", "1e",
            "1.2.3",
        ]);
    }

    #[test]
    fn numbers_to_base_60() {
        quoted(&["1:30", "12:59:59", "-1:2", "1_0:00.5_", "1:2."]);
        plain(&["12:99", "-:1", "1:", "1:2:", "_1:2", "1:2.x", "a:1", "1.5:30"]);
    }

    #[test]
    fn other_words_are_strings() {
        plain(&["=", "<<", "hello", "é", "10.0.0.1", "1Gi", "v1"]);
    }
}
