//! Kubernetes quantities as numbers.

/// The thousandths that a quantity stands for: `500m`, `2`, `1.5Gi`, `3e2`; `None` for anything else.
///
/// Fractions of a thousandth are rounded up, as Kubernetes does, and numbers beyond the range are cut off.
pub(crate) fn millis(text: &str) -> Option<i128> {
    let split =
        text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-'))).unwrap_or(text.len());
    let (number, suffix) = text.split_at(split);
    let (negative, number) = match number.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = format!("{whole}{fraction}");
    let digits: i128 = if digits.len() > 24 { return None } else { digits.parse().ok()? };
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let (numerator, denominator) = multiplier(suffix)?;
    let thousandths = digits.checked_mul(numerator)?.checked_mul(1000)?;
    let divisor = scale.checked_mul(denominator)?;
    let value = thousandths / divisor + i128::from(thousandths % divisor != 0);
    Some(if negative { -value } else { value })
}

fn multiplier(suffix: &str) -> Option<(i128, i128)> {
    let power = |base: i128, exponent: u32| base.checked_pow(exponent);
    Some(match suffix {
        "" => (1, 1),
        "n" => (1, power(10, 9)?),
        "u" => (1, power(10, 6)?),
        "m" => (1, 1000),
        "k" => (1000, 1),
        "M" => (power(1000, 2)?, 1),
        "G" => (power(1000, 3)?, 1),
        "T" => (power(1000, 4)?, 1),
        "P" => (power(1000, 5)?, 1),
        "E" => (power(1000, 6)?, 1),
        "Ki" => (1024, 1),
        "Mi" => (power(1024, 2)?, 1),
        "Gi" => (power(1024, 3)?, 1),
        "Ti" => (power(1024, 4)?, 1),
        "Pi" => (power(1024, 5)?, 1),
        "Ei" => (power(1024, 6)?, 1),
        _ => {
            let exponent: i32 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
            let magnitude = power(10, exponent.unsigned_abs())?;
            if exponent < 0 { (1, magnitude) } else { (magnitude, 1) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_in_thousandths() {
        for (text, expected) in [
            ("1", Some(1000)),
            ("500m", Some(500)),
            ("1.5", Some(1500)),
            (".5", Some(500)),
            ("2k", Some(2_000_000)),
            ("1Ki", Some(1_024_000)),
            ("1.5Gi", Some(1_610_612_736_000)),
            ("3e2", Some(300_000)),
            ("5E-1", Some(500)),
            ("1E", Some(1_000_000_000_000_000_000_000)),
            ("100u", Some(1)),
            ("-1", Some(-1000)),
            ("", None),
            ("m", None),
            ("1x", None),
            ("1e99", None),
        ] {
            assert_eq!(millis(text), expected, "{text}");
        }
    }
}
