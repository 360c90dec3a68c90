//! The text of numbers.

use serde_json::Number;

/// The text of `number`, as it comes out when Go writes it as JSON, reads that as YAML, and writes it again.
///
/// Integers keep their digits. A float with an integral value has no fraction in Go's JSON and becomes an integer;
/// others have their shortest text that reads back the same, with an exponent below 1e-4 and from 1e6 on (`%g`).
pub(super) fn text(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => float_text(float),
        _ => number.to_string(),
    }
}

fn float_text(float: f64) -> String {
    // Go's JSON has no exponent below 1e21, and what then reads as a 64 bit integer is one. Its digits after those
    // that tell the float from its neighbours are zeros, as here.
    if float.fract() == 0.0 && float.abs() < 1e21 {
        let digits = float.to_string();
        if digits == "-0" {
            return "0".to_owned();
        }
        if digits.parse::<i64>().is_ok() || digits.parse::<u64>().is_ok() {
            return digits;
        }
    }
    let scientific = shortest(float);
    let Some((mantissa, exponent)) =
        scientific.split_once('e').and_then(|(m, e)| Some((m, e.parse::<i32>().ok()?)))
    else {
        return scientific;
    };
    if (-4..6).contains(&exponent) {
        return float.to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.unsigned_abs())
}

/// The fewest digits that tell `float` from its neighbours, with an exponent. If two numbers with as many digits are
/// equally near, Rust takes the greater and Go the one whose last digit is even.
fn shortest(float: f64) -> String {
    let shortest = format!("{float:e}");
    let digits = shortest.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    let nearest = format!("{float:.*e}", digits.saturating_sub(1));
    if nearest.parse() == Ok(float) { nearest } else { shortest }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(float: f64) -> String {
        text(&Number::from_f64(float).expect("a finite number"))
    }

    #[test]
    fn integers_keep_their_digits() {
        assert_eq!(text(&Number::from(u64::MAX)), "18446744073709551615");
        assert_eq!(text(&Number::from(i64::MIN)), "-9223372036854775808");
    }

    #[test]
    fn integral_floats_become_integers() {
        assert_eq!(float(1.0), "1");
        assert_eq!(float(-0.0), "0");
        assert_eq!(float(1e6), "1000000");
        assert_eq!(float(1.309_423_158_101_033e17), "130942315810103300");
        assert_eq!(float(9.223_372_036_854_776e18), "9223372036854776000");
        assert_eq!(float(-9.223_372_036_854_776e18), "-9.223372036854776e+18");
        assert_eq!(float(1e20), "1e+20");
        assert_eq!(float(1e21), "1e+21");
    }

    #[test]
    fn fractions_have_their_shortest_text_in_the_form_of_go() {
        assert_eq!(float(0.5), "0.5");
        assert_eq!(float(-123_456.75), "-123456.75");
        assert_eq!(float(1_234_567.5), "1.2345675e+06");
        assert_eq!(float(1e-4), "0.0001");
        assert_eq!(float(1e-7), "1e-07");
        assert_eq!(float(-2.5e-123), "-2.5e-123");
        assert_eq!(float(1_407_572_586_235_586.0 + 0.25), "1.4075725862355862e+15");
        assert_eq!(float(5e-324), "5e-324");
        assert_eq!(float(f64::MAX), "1.7976931348623157e+308");
    }
}
