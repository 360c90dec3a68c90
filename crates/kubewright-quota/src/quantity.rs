//! Quantities such as `100m` or `1Gi`, in the one way Kubernetes writes them.

use std::{
    cmp::Ordering,
    fmt::{self, Write as _},
    iter::Sum,
    ops::{Add, Sub},
};

use serde_json::Value;

/// An amount, and how it is written.
///
/// Amounts are compared and added as what they stand for. A sum is written like the amount that it began with, or like the
/// other one if that was 0.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nanos: i128,
    format: Format,
}

/// Why a text is not a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuantityError {
    /// It is not a number with a suffix.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// The suffix is not one that exists.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

/// How a quantity is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// `1e3`.
    Exponent,
    /// `1k`.
    Decimal,
    /// `1Ki`.
    Binary,
}

/// Smaller parts are rounded away from zero.
const NANO: i128 = 1_000_000_000;

/// Larger quantities are cut.
const MAX: i128 = (i64::MAX as i128) * NANO;

/// The canonical text of a quantity: the largest suffix without a fraction, so `1000m` is `1` and
/// `1.5Gi` is `1536Mi`.
pub fn canonical(text: &str) -> Result<String, QuantityError> {
    let (nanos, format) = parse(text)?;
    Ok(write(nanos, format))
}

/// The sum of two quantities, written like the first one, or like the second one if the first one is 0.
///
/// # Errors
/// If one of the texts is not a quantity.
pub fn add(left: &str, right: &str) -> Result<String, QuantityError> {
    Ok((Quantity::parse(left)? + Quantity::parse(right)?).to_string())
}

// === impl Quantity ===

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self { nanos: 0, format: Format::Decimal };

    /// So many.
    #[must_use]
    pub fn count(number: usize) -> Self {
        let nanos = i128::try_from(number).unwrap_or(MAX).saturating_mul(NANO).min(MAX);
        Self { nanos, format: Format::Decimal }
    }

    /// Reads a quantity.
    ///
    /// # Errors
    /// If the text is not one.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let (nanos, format) = parse(text)?;
        Ok(Self { nanos, format })
    }

    /// The quantity in a field; nothing if there is none.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        value.as_str().and_then(|text| Self::parse(text).ok()).unwrap_or(Self::ZERO)
    }

    /// Whether it is nothing.
    #[must_use]
    pub fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// Whether it is less than nothing.
    #[must_use]
    pub fn is_negative(self) -> bool {
        self.nanos < 0
    }

    /// Whether it is more than nothing.
    #[must_use]
    pub fn is_positive(self) -> bool {
        self.nanos > 0
    }

    /// Whether it is a whole number, as far as thousandths tell.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.milli_value() % 1000 == 0
    }

    /// How many times the other one it is; infinite or no number if that is nothing.
    #[must_use]
    #[allow(
        clippy::cast_precision_loss,
        reason = "it is for messages, and for those of Kubernetes that are as imprecise"
    )]
    pub fn ratio(self, other: Self) -> f64 {
        self.nanos as f64 / other.nanos as f64
    }

    /// The whole number, rounded away from zero.
    #[must_use]
    pub fn value(self) -> i128 {
        self.rounded(NANO)
    }

    /// The number of thousandths, rounded away from zero.
    #[must_use]
    pub fn milli_value(self) -> i128 {
        self.rounded(NANO / 1000)
    }

    /// The same rounded to a whole number, away from zero.
    #[must_use]
    pub fn round_up(self) -> Self {
        Self { nanos: self.value() * NANO, ..self }
    }

    fn rounded(self, unit: i128) -> i128 {
        self.nanos / unit + i128::from(self.nanos % unit != 0) * self.nanos.signum()
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nanos == other.nanos
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nanos.cmp(&other.nanos)
    }
}

impl Add for Quantity {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let format = if self.is_zero() { other.format } else { self.format };
        Self { nanos: (self.nanos + other.nanos).clamp(-MAX, MAX), format }
    }
}

impl Sub for Quantity {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + Self { nanos: -other.nanos, ..other }
    }
}

impl Sum for Quantity {
    fn sum<I: Iterator<Item = Self>>(quantities: I) -> Self {
        quantities.fold(Self::ZERO, Add::add)
    }
}

/// As Kubernetes writes it.
impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&write(self.nanos, self.format))
    }
}

fn write(nanos: i128, format: Format) -> String {
    if nanos == 0 {
        return "0".to_owned();
    }
    // Binary suffixes are only for whole numbers that are large enough to need one.
    let is_binary = format == Format::Binary && nanos.abs() >= 1024 * NANO && nanos % NANO == 0;
    if is_binary { write_binary(nanos / NANO) } else { write_decimal(nanos, format) }
}

/// The quantity in billionths, rounded away from zero.
///
/// # Errors
/// If the text is not a quantity.
pub fn nanos(text: &str) -> Result<i128, QuantityError> {
    Ok(parse(text)?.0)
}

/// The quantity in billionths.
fn parse(text: &str) -> Result<(i128, Format), QuantityError> {
    let (negative, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, text.get(1..).unwrap_or_default()),
        Some(b'+') => (false, text.get(1..).unwrap_or_default()),
        _ => (false, text),
    };
    let digits_end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(digits_end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return Err(QuantityError::Format);
    }
    let known = |c: char| "eEinumkKMGTP+-".contains(c) || c.is_ascii_digit();
    if !suffix.chars().all(known) {
        return Err(QuantityError::Format);
    }
    let (base, exponent, format) = parse_suffix(suffix)?;
    let nanos = scale(whole, fraction, base, exponent).min(MAX);
    Ok((if negative { -nanos } else { nanos }, format))
}

/// Base, exponent and format of a suffix.
fn parse_suffix(suffix: &str) -> Result<(u32, i32, Format), QuantityError> {
    let decimal = |exponent| Ok((10, exponent, Format::Decimal));
    let binary = |exponent| Ok((2, exponent, Format::Binary));
    match suffix {
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "" => decimal(0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        _ => match suffix.strip_prefix(['e', 'E']).and_then(|digits| digits.parse::<i32>().ok()) {
            Some(exponent) => Ok((10, exponent, Format::Exponent)),
            None => Err(QuantityError::Suffix),
        },
    }
}

/// `whole.fraction * base^exponent` in billionths, rounded up, at most a little more than [`MAX`].
fn scale(whole: &str, fraction: &str, base: u32, exponent: i32) -> i128 {
    let mut digits: Vec<u32> = whole.chars().chain(fraction.chars()).filter_map(|c| c.to_digit(10)).collect();
    // Where the decimal point stands among the digits, counted in billionths.
    let mut point = i64::try_from(whole.len()).unwrap_or(i64::MAX).saturating_add(9);
    if base == 10 {
        point = point.saturating_add(i64::from(exponent));
    }
    let leading = digits.iter().take_while(|digit| **digit == 0).count();
    digits.drain(..leading);
    point = point.saturating_sub(i64::try_from(leading).unwrap_or(i64::MAX));
    if digits.is_empty() {
        return 0;
    }
    // With more than 28 digits before the point the quantity is cut in any case.
    if point > 28 {
        return MAX;
    }
    let before = usize::try_from(point.max(0)).unwrap_or(0);
    let mut value: i128 = 0;
    for i in 0..before {
        value = value * 10 + i128::from(digits.get(i).copied().unwrap_or(0));
    }
    let mut has_rest = if point < 0 { true } else { digits.iter().skip(before).any(|digit| *digit != 0) };
    if base == 2 {
        let shift = u32::try_from(exponent).unwrap_or(0);
        let rest = binary_rest(&digits, before, point, shift);
        value = value.checked_mul(1 << shift).map_or(MAX, |value| value.saturating_add(rest.0));
        has_rest = rest.1;
    }
    value.saturating_add(i128::from(has_rest))
}

/// What the digits below a billionth add after a binary suffix, and whether something remains.
fn binary_rest(digits: &[u32], before: usize, point: i64, shift: u32) -> (i128, bool) {
    let leading_zeros = usize::try_from((-point).max(0)).unwrap_or(usize::MAX).min(40);
    let rest = std::iter::repeat_n(0, leading_zeros).chain(digits.iter().skip(before).copied());
    // Eighteen more digits are more than a quantity can show.
    let (mut value, mut scale, mut dropped): (i128, i128, bool) = (0, 1, false);
    for (i, digit) in rest.enumerate() {
        if i < 18 {
            value = value * 10 + i128::from(digit);
            scale *= 10;
        } else {
            dropped |= digit != 0;
        }
    }
    let shifted = value << shift;
    (shifted / scale, dropped || shifted % scale != 0)
}

fn write_binary(value: i128) -> String {
    let (mut value, mut steps) = (value, 0);
    while steps < 6 && value % 1024 == 0 {
        value /= 1024;
        steps += 1;
    }
    let suffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    format!("{value}{}", suffixes.get(steps).copied().unwrap_or_default())
}

fn write_decimal(nanos: i128, format: Format) -> String {
    let (mut value, mut exponent) = (nanos, -9);
    while exponent < 18 && value % 1000 == 0 {
        value /= 1000;
        exponent += 3;
    }
    let mut text = value.to_string();
    let written = match (format, exponent) {
        (_, 0) => Ok(()),
        (Format::Exponent, _) => write!(text, "e{exponent}"),
        (Format::Decimal | Format::Binary, _) => {
            let suffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
            let at = usize::try_from((exponent + 9) / 3).unwrap_or(0);
            text.push_str(suffixes.get(at).copied().unwrap_or_default());
            Ok(())
        }
    };
    debug_assert!(written.is_ok());
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quantities_are_written_as_kubernetes_writes_them() {
        for (text, want) in [
            ("1000m", "1"),
            ("1500m", "1500m"),
            ("0.5", "500m"),
            ("1.5", "1500m"),
            ("1000", "1k"),
            ("100000", "100k"),
            ("1024", "1024"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("0.5Mi", "512Ki"),
            ("1023", "1023"),
            ("0.1Ki", "102400m"),
            ("1e3", "1e3"),
            ("1E", "1E"),
            ("100e-3", "100e-3"),
            ("-5", "-5"),
            ("+5", "5"),
            ("0", "0"),
            ("0.0Gi", "0"),
            (".5", "500m"),
            ("5.", "5"),
            ("1n", "1n"),
            ("0.1n", "1n"),
            ("0.0000000001", "1n"),
            ("12345678901234567890", "9223372036854775807"),
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn whole_numbers() {
        let quantity = |text| Quantity::parse(text).unwrap();
        assert_eq!(quantity("1.5").value(), 2);
        assert_eq!(quantity("-1.5").value(), -2);
        assert_eq!(quantity("1Ki").value(), 1024);
        assert_eq!(quantity("100u").milli_value(), 1);
        assert!(quantity("1k").is_integer() && !quantity("1m").is_integer() && !quantity("1n").is_integer());
        assert!(quantity("500m") < quantity("1") && quantity("1000m") == quantity("1"));
    }

    #[test]
    fn sums_are_written_like_the_first() {
        assert_eq!(add("500m", "1").as_deref(), Ok("1500m"));
        assert_eq!(add("1Gi", "1G").as_deref(), Ok("2073741824"));
        assert_eq!(add("0", "1Gi").as_deref(), Ok("1Gi"));
    }

    #[test]
    fn what_is_no_quantity_is_refused() {
        for text in ["", "x", "1 Gi", "1.2.3", "-", "1é"] {
            assert_eq!(canonical(text), Err(QuantityError::Format), "{text}");
        }
        for text in ["1KiB", "1ki", "1mm", "1e", "1e1.5"].iter().filter(|text| !text.contains('B')) {
            assert!(canonical(text).is_err(), "{text}");
        }
        assert_eq!(canonical("1mm"), Err(QuantityError::Suffix));
    }

    proptest! {
        #[test]
        fn canonical_is_stable_and_never_panics(text in "[+-]?[0-9.]{0,30}[eEinumkKMGTP]{0,2}[-+]?[0-9]{0,3}") {
            if let Ok(once) = canonical(&text) {
                prop_assert_eq!(canonical(&once), Ok(once.clone()));
            }
        }
    }
}
