//! `'..'.format([..])`.

use std::collections::BTreeMap;

use kube_cel::cel::{Value as Cel, objects::Key};

use super::{conversion, functions};
use crate::error::go;

/// The most digits behind the point that are asked for without saying.
const PRECISION: usize = 6;

/// Fills the clauses of a text.
///
/// # Errors
/// In the words of cel-go.
pub(super) fn format(text: &str, arguments: &[Cel]) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    let mut next = 0;
    while let Some(at) = rest.find('%') {
        let (before, clause) = rest.split_at(at);
        out.push_str(before);
        let clause = clause.get(1..).unwrap_or_default();
        if let Some(after) = clause.strip_prefix('%') {
            out.push('%');
            rest = after;
            continue;
        }
        let argument = arguments.get(next).ok_or_else(|| format!("index {next} out of range"))?;
        next += 1;
        let (precision, clause) = precision(clause)?;
        let mut chars = clause.chars();
        let letter = chars.next().ok_or("unexpected end of string")?;
        let filled = match letter {
            's' => string(argument),
            'd' => decimal(argument),
            'f' => fixed(argument, precision),
            'e' => scientific(argument, precision),
            'b' => binary(argument),
            'x' | 'X' => hex(argument).map(|text| if letter == 'X' { text.to_uppercase() } else { text }),
            'o' => octal(argument),
            other => {
                return Err(format!(
                    "could not parse formatting clause: unrecognized formatting clause \"{other}\""
                ));
            }
        };
        out.push_str(&filled.map_err(|why| format!("error during formatting: {why}"))?);
        rest = chars.as_str();
    }
    out.push_str(rest);
    Ok(out)
}

fn precision(clause: &str) -> Result<(usize, &str), String> {
    let Some(digits) = clause.strip_prefix('.') else { return Ok((PRECISION, clause)) };
    let wrong =
        |why: &str| format!("could not parse formatting clause: error while parsing precision: {why}");
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .ok_or_else(|| wrong("could not find end of precision specifier"))?;
    let (number, rest) = digits.split_at(end);
    let number = number.parse::<u16>().map_err(|_| {
        let shown = go::quote(number);
        wrong(&format!(
            "error while converting precision to integer: strconv.Atoi: parsing {shown}: invalid syntax"
        ))
    })?;
    Ok((usize::from(number), rest))
}

fn refuse(clause: &str, value: &Cel) -> Result<String, String> {
    Err(format!("{clause}, was given {}", functions::type_name(value)))
}

fn string(value: &Cel) -> Result<String, String> {
    match value {
        Cel::List(_) | Cel::Map(_) => inner(value),
        Cel::Opaque(_) if functions::type_name(value) == "type" => Ok(functions::shown(value)),
        Cel::Opaque(_) | Cel::Function(..) => refuse(
            "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, \
             and timestamps",
            value,
        ),
        other => conversion::text(other).ok_or_else(|| "could not convert argument to string".to_owned()),
    }
}

/// A value in a list or a map, as the language writes it.
fn inner(value: &Cel) -> Result<String, String> {
    Ok(match value {
        Cel::List(items) => {
            let items: Vec<String> = items.iter().map(inner).collect::<Result<_, _>>()?;
            format!("[{}]", items.join(", "))
        }
        Cel::Map(map) => {
            let mut entries = BTreeMap::new();
            for (key, value) in map.map.iter() {
                let shown = match key {
                    Key::String(text) => go::quote(text),
                    other => other.to_string(),
                };
                entries.insert(shown, inner(value)?);
            }
            let entries: Vec<String> = entries.iter().map(|(key, value)| format!("{key}:{value}")).collect();
            format!("{{{}}}", entries.join(", "))
        }
        Cel::String(text) => go::quote(text),
        Cel::Bytes(_) => format!("b{}", go::quote(&string(value)?)),
        Cel::Float(number) => format!("{number:.PRECISION$}"),
        Cel::Duration(_) => format!("duration({})", go::quote(&string(value)?)),
        Cel::Timestamp(_) => format!("timestamp({})", go::quote(&string(value)?)),
        Cel::Opaque(_) if functions::type_name(value) != "type" => {
            return Err(format!("no formatting function for {}", functions::type_name(value)));
        }
        other => string(other)?,
    })
}

fn decimal(value: &Cel) -> Result<String, String> {
    match value {
        Cel::Int(number) => Ok(number.to_string()),
        Cel::UInt(number) => Ok(number.to_string()),
        _ => refuse("decimal clause can only be used on integers", value),
    }
}

/// A double, or one of the words for what is no number.
fn double(value: &Cel) -> Option<f64> {
    match value {
        Cel::Float(number) => Some(*number),
        Cel::String(text) => match text.as_str() {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// What English readers are shown of what is no finite number.
fn special(number: f64) -> Option<String> {
    if number.is_nan() {
        return Some("NaN".to_owned());
    }
    number.is_infinite().then(|| if number > 0.0 { "∞".to_owned() } else { "-∞".to_owned() })
}

fn fixed(value: &Cel, precision: usize) -> Result<String, String> {
    let Some(number) = double(value) else {
        return refuse("fixed-point clause can only be used on doubles", value);
    };
    if let Some(special) = special(number) {
        return Ok(special);
    }
    let digits = rounded(number, precision);
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let point = if fraction.is_empty() { "" } else { "." };
    Ok(format!("{sign}{}{point}{fraction}", grouped(whole)))
}

/// The number with some digits behind the point, rounded by its shortest decimal digits, halves up.
fn rounded(number: f64, precision: usize) -> String {
    let exact = format!("{number}");
    let Some((whole, fraction)) = exact.split_once('.') else { return format!("{number:.precision$}") };
    match fraction.as_bytes().get(precision) {
        // A half by its digits, which the value itself may be just below.
        Some(b'5') if fraction.len() == precision + 1 => {
            let sign = if number < 0.0 { "-" } else { "" };
            let kept: String =
                whole.trim_start_matches('-').chars().chain(fraction.chars().take(precision)).collect();
            let up = kept.parse::<u128>().map_or(kept.clone(), |kept| (kept + 1).to_string());
            let up = format!("{up:0>width$}", width = precision + 1);
            let (whole, fraction) = up.split_at(up.len() - precision);
            let point = if fraction.is_empty() { "" } else { "." };
            format!("{sign}{whole}{point}{fraction}")
        }
        _ => format!("{number:.precision$}"),
    }
}

/// Digits in groups of three, as in English.
fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A double as English readers are shown it: `1.25×10⁰¹`.
fn scientific(value: &Cel, precision: usize) -> Result<String, String> {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let Some(number) = double(value) else {
        return refuse("scientific clause can only be used on doubles", value);
    };
    if let Some(special) = special(number) {
        return Ok(special);
    }
    let text = format!("{number:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text.as_str(), "0"));
    let (sign, digits) = exponent.strip_prefix('-').map_or(("", exponent), |rest| ("⁻", rest));
    let raised = format!("{digits:0>2}");
    let raised = raised.chars().filter_map(|digit| RAISED.get(digit.to_digit(10)? as usize));
    Ok(format!("{mantissa}×10{sign}{}", raised.collect::<String>()))
}

fn binary(value: &Cel) -> Result<String, String> {
    match value {
        Cel::Int(number) => Ok(signed(*number, |number| format!("{number:b}"))),
        Cel::UInt(number) => Ok(format!("{number:b}")),
        Cel::Bool(flag) => Ok(u8::from(*flag).to_string()),
        _ => refuse("only integers and bools can be formatted as binary", value),
    }
}

fn octal(value: &Cel) -> Result<String, String> {
    match value {
        Cel::Int(number) => Ok(signed(*number, |number| format!("{number:o}"))),
        Cel::UInt(number) => Ok(format!("{number:o}")),
        _ => refuse("octal clause can only be used on integers", value),
    }
}

fn hex(value: &Cel) -> Result<String, String> {
    let bytes = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match value {
        Cel::String(text) => Ok(bytes(text.as_bytes())),
        Cel::Bytes(content) => Ok(bytes(content)),
        Cel::Int(number) => Ok(signed(*number, |number| format!("{number:x}"))),
        Cel::UInt(number) => Ok(format!("{number:x}")),
        _ => refuse("only integers, byte buffers, and strings can be formatted as hex", value),
    }
}

fn signed(number: i64, digits: impl Fn(u64) -> String) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", digits(number.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, value: Cel) -> Result<String, String> {
        format(text, &[value])
    }

    #[test]
    fn numbers_are_those_of_an_english_printer() {
        assert_eq!(of("%.2f", Cel::Float(2.345)), Ok("2.35".to_owned()));
        assert_eq!(of("%f", Cel::Float(-1_234_567.5)), Ok("-1,234,567.500000".to_owned()));
        assert_eq!(of("%.1e", Cel::Float(1_250.0)), Ok("1.2×10⁰³".to_owned()));
        assert_eq!(of("%x", Cel::Int(-255)), Ok("-ff".to_owned()));
        assert_eq!(of("%%%d%%", Cel::UInt(7)), Ok("%7%".to_owned()));
    }

    #[test]
    fn clauses_that_do_not_fit_are_told() {
        let text = "error during formatting: decimal clause can only be used on integers, was given bool";
        assert_eq!(of("%d", Cel::Bool(true)), Err(text.to_owned()));
        assert_eq!(format("%s", &[]), Err("index 0 out of range".to_owned()));
        assert_eq!(of("100%", Cel::Null), Err("unexpected end of string".to_owned()));
    }
}
