use serde_json::Value;

/// To how small a part a quantity is rounded up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    /// A thousandth.
    Milli,
    /// A billionth, the smallest part that Kubernetes keeps.
    Nano,
}

/// The canonical form of a quantity: no fraction, and the largest suffix of its kind that allows that. `None` if
/// the value is not a quantity, or too large to be handled here; it is left as it is then.
pub(super) fn canonical(value: &Value, rounding: Rounding) -> Option<String> {
    match value {
        Value::String(text) => Quantity::parse(text, rounding).map(|quantity| quantity.to_string()),
        Value::Number(number) => Quantity::parse(&number.to_string(), rounding).map(|it| it.to_string()),
        _ => None,
    }
}

/// A number in billionths, and how it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Quantity {
    nanos: i128,
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// With suffixes n, u, m, k, M, G, T, P, E.
    Decimal,
    /// With an exponent: 1e3.
    Exponent,
    /// With suffixes Ki, Mi, Gi, Ti, Pi, Ei.
    Binary,
}

const BILLION: i128 = 1_000_000_000;

/// The suffixes by a third of the exponent of ten, from 10^-9.
const DECIMAL: [&str; 10] = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];

/// The suffixes by a tenth of the exponent of two.
const BINARY: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

impl Quantity {
    fn parse(text: &str, rounding: Rounding) -> Option<Self> {
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let digits: i128 = format!("0{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?;

        let (format, nanos) = if let Some(power) = BINARY.iter().skip(1).position(|known| *known == suffix) {
            let factor = 1_i128.checked_shl(10 * u32::try_from(power + 1).ok()?)?;
            let value = digits.checked_mul(factor)?.checked_mul(BILLION)?;
            (Format::Binary, divide_up(value, ten_to(scale)?))
        } else {
            let (format, exponent) = match DECIMAL.iter().position(|known| *known == suffix) {
                Some(index) => (Format::Decimal, 3 * (i32::try_from(index).ok()? - 3)),
                None => (Format::Exponent, suffix.strip_prefix(['e', 'E'])?.parse::<i32>().ok()?),
            };
            match exponent.checked_add(9)?.checked_sub(scale)? {
                up @ 0.. => (format, digits.checked_mul(ten_to(up)?)?),
                down => (format, ten_to(-down).map_or(i128::from(digits > 0), |by| divide_up(digits, by))),
            }
        };
        let step = if rounding == Rounding::Milli { BILLION / 1000 } else { 1 };
        // Rounding is away from zero.
        let nanos = divide_up(nanos, step).checked_mul(step)?;
        Some(Self { nanos: if negative { -nanos } else { nanos }, format })
    }
}

impl std::fmt::Display for Quantity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (sign, nanos) = if self.nanos < 0 { ("-", -self.nanos) } else { ("", self.nanos) };
        if nanos == 0 {
            return f.write_str("0");
        }
        // Small numbers read better in decimal.
        if self.format == Format::Binary && nanos >= 1024 * BILLION {
            let mut number = divide_up(nanos, BILLION);
            let mut power = 0;
            while number % 1024 == 0 && power + 1 < BINARY.len() {
                number /= 1024;
                power += 1;
            }
            return write!(f, "{sign}{number}{}", BINARY.get(power).unwrap_or(&""));
        }
        let mut number = nanos;
        let mut thirds = 0;
        while number % 1000 == 0 && (thirds + 1 < DECIMAL.len() || self.format == Format::Exponent) {
            number /= 1000;
            thirds += 1;
        }
        match self.format {
            Format::Exponent if thirds != 3 => {
                let exponent = 3 * i32::try_from(thirds).unwrap_or_default() - 9;
                write!(f, "{sign}{number}e{exponent}")
            }
            Format::Exponent => write!(f, "{sign}{number}"),
            _ => write!(f, "{sign}{number}{}", DECIMAL.get(thirds).unwrap_or(&"")),
        }
    }
}

fn divide_up(number: i128, by: i128) -> i128 {
    number / by + i128::from(number % by != 0)
}

fn ten_to(exponent: i32) -> Option<i128> {
    10_i128.checked_pow(u32::try_from(exponent).ok()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn canonical_forms() {
        for (given, expected) in [
            ("0", "0"),
            ("0.5", "500m"),
            ("1000m", "1"),
            ("1500m", "1500m"),
            (".5", "500m"),
            ("1.", "1"),
            ("+1", "1"),
            ("-0.25", "-250m"),
            ("1024", "1024"),
            ("1024Ki", "1Mi"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("1Ki", "1Ki"),
            ("1000k", "1M"),
            ("12e6", "12e6"),
            ("1e3", "1e3"),
            ("1.5e3", "1500"),
            ("1E", "1E"),
            ("100000000000000000000", "100E"),
            ("0.0000000001", "1n"),
            ("128974848", "128974848"),
            ("129e6", "129e6"),
            ("123Mi", "123Mi"),
        ] {
            assert_eq!(canonical(&json!(given), Rounding::Nano).as_deref(), Some(expected), "{given}");
        }
        assert_eq!(canonical(&json!(2), Rounding::Nano).as_deref(), Some("2"));
        assert_eq!(canonical(&json!(0.5), Rounding::Nano).as_deref(), Some("500m"));
        assert_eq!(canonical(&json!("1u"), Rounding::Milli).as_deref(), Some("1m"));
    }

    #[test]
    fn other_values_have_no_canonical_form() {
        for given in
            [json!(""), json!("a"), json!("1.2.3"), json!("1Zi"), json!("1e"), json!("."), json!(true)]
        {
            assert_eq!(canonical(&given, Rounding::Nano), None, "{given}");
        }
        let huge = "9".repeat(60);
        assert_eq!(canonical(&json!(huge), Rounding::Nano), None);
    }
}
