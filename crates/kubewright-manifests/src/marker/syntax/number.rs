//! Numbers as Go reads them, and as JSON numbers.

use serde_json::{Number, Value};

/// The number that `text` is for Go's `ParseFloat`: decimal or hexadecimal, with an exponent, a sign, and underscores
/// between digits. None if it is none, too large, or not a number of JSON (`NaN`, `Inf`).
pub(super) fn float(text: &str) -> Option<Value> {
    let plain = without_underscores(text)?;
    let (negative, digits) = match plain.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, plain.strip_prefix('+').unwrap_or(&plain)),
    };
    if let Some(hexadecimal) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        let magnitude = hexadecimal_float(hexadecimal)?;
        return json(if negative { -magnitude } else { magnitude });
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if digits.bytes().all(|byte| byte.is_ascii_digit())
        && let Some(whole) = integer(&plain)
    {
        return Some(whole);
    }
    json(plain.parse().ok()?)
}

/// The whole number that `text` is for Go's `Atoi`, and above it whatever fits 64 bits without a sign. None otherwise.
pub(super) fn integer(text: &str) -> Option<Value> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from)).ok()
}

/// A finite number; whole ones without a fraction, as Go's JSON has them.
fn json(number: f64) -> Option<Value> {
    Number::from_f64(number).map(|number| whole(&number))
}

/// The number as an integer, if it is one that fits 64 bits.
pub(crate) fn whole(number: &Number) -> Value {
    const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;
    match number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0) {
        Some(float) if float.abs() < TWO_TO_63 || float == -TWO_TO_63 => (float as i64).into(),
        Some(float) if float > 0.0 && float < 2.0 * TWO_TO_63 => (float as u64).into(),
        _ => number.clone().into(),
    }
}

/// Go allows an underscore between two digits, or between the prefix of a base and a digit.
fn without_underscores(text: &str) -> Option<String> {
    if !text.contains('_') {
        return Some(text.to_owned());
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let hexadecimal = unsigned.starts_with("0x") || unsigned.starts_with("0X");
    let is_digit = |c: char| c.is_ascii_digit() || (hexadecimal && c.is_ascii_hexdigit());
    let body = if hexadecimal { &unsigned[2..] } else { unsigned };
    let mut before = if hexadecimal { '0' } else { '.' };
    let mut characters = body.chars().peekable();
    while let Some(c) = characters.next() {
        if c == '_' && !(is_digit(before) && characters.peek().copied().is_some_and(is_digit)) {
            return None;
        }
        before = c;
    }
    Some(text.replace('_', ""))
}

/// What follows `0x`: a mantissa and a binary exponent after `p`, which is obligatory.
fn hexadecimal_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let signless = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if signless.is_empty() || !signless.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut exponent = exponent.parse::<i32>().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut bits: u64 = 0;
    for (c, is_fraction) in whole.chars().map(|c| (c, false)).chain(fraction.chars().map(|c| (c, true))) {
        let digit = u64::from(c.to_digit(16)?);
        if bits >> 60 == 0 {
            bits = bits << 4 | digit;
            exponent = exponent.checked_sub(if is_fraction { 4 } else { 0 })?;
        } else {
            // The digit is below the precision of a float; that it is not zero decides how a tie is rounded.
            bits |= u64::from(digit != 0);
            exponent = exponent.checked_add(if is_fraction { 0 } else { 4 })?;
        }
    }
    let number = bits as f64 * 2f64.powi(exponent);
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn floats_are_those_of_go() {
        for (text, value) in [
            ("1", json!(1)),
            ("+5", json!(5)),
            ("-0", json!(0)),
            ("1e3", json!(1000)),
            ("0x10p0", json!(16)),
            ("0x1.8p1", json!(3)),
            ("0X.8p-1", json!(0.25)),
            ("-0x_1p-2", json!(-0.25)),
            (".5", json!(0.5)),
            ("5.", json!(5)),
            ("1_000", json!(1000)),
            ("9223372036854775807", json!(9223372036854775807_i64)),
            ("18446744073709551615", json!(18446744073709551615_u64)),
            ("1e18", json!(1_000_000_000_000_000_000_i64)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("-9.223372036854775808e18", json!(i64::MIN)),
            ("1e300", json!(1e300)),
            ("1e-999", json!(0)),
        ] {
            assert_eq!(float(text), Some(value), "{text}");
        }
        for text in [
            "", "-", "NaN", "inf", "Infinity", "1e999", "0x10", "0x", "_1", "1_", "1__0", "1_.5", "5 ",
            "--1", "0xp1", "ten", "e5",
        ] {
            assert_eq!(float(text), None, "{text}");
        }
    }

    #[test]
    fn integers_are_decimal() {
        assert_eq!(integer("010"), Some(json!(10)));
        assert_eq!(integer("-7"), Some(json!(-7)));
        for text in ["", "+", "0x10", "1_000", "1.0", "99999999999999999999999"] {
            assert_eq!(integer(text), None, "{text}");
        }
    }
}
