//! Reading times as Go reads RFC 3339, for its words about those that are none.

use kubewright_schema::error::go;

/// The layouts of `Time` and `MicroTime`, as Go writes them.
const SECONDS: &str = "2006-01-02T15:04:05Z07:00";
const MICROSECONDS: &str = "2006-01-02T15:04:05.000000Z07:00";

/// What is wrong with a text, next to the element of the layout at which Go noticed.
enum Fault {
    /// The text does not have the form of the element.
    Form,
    /// It has, but there is no such month, hour and so on.
    Range(&'static str),
}

/// What is left of a text, and what is in it.
struct Reader<'t> {
    rest: &'t str,
}

/// Checks a time in seconds, or one with exactly six digits of a second.
///
/// # Errors
/// What Go says: `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`.
pub(super) fn check(text: &str, micro: bool) -> Result<(), String> {
    let layout = if micro { MICROSECONDS } else { SECONDS };
    let mut reader = Reader { rest: text };
    let (mut month, mut day, mut year) = (0, 0, 0);
    let elements = ["2006", "-", "01", "-", "02", "T", "15", ":", "04", ":", "05", ".000000", "Z07:00"];
    for element in elements.into_iter().filter(|element| micro || *element != ".000000") {
        let before = reader.rest;
        let read = match element {
            "2006" => reader.year().map(|number| year = number),
            "01" => reader.number(true, 1..=12, "month").map(|number| month = number),
            // That there is such a day is looked at in the end.
            "02" => reader.number(true, 0..=99, "day").map(|number| day = number),
            "15" => reader.number(false, 0..=23, "hour").map(drop),
            "04" => reader.number(true, 0..=59, "minute").map(drop),
            "05" => reader.number(true, 0..=59, "second").map(|_| {
                if !micro {
                    reader.skip_fraction();
                }
            }),
            ".000000" => reader.fraction(),
            "Z07:00" => reader.zone(),
            separator => reader.skip(separator),
        };
        match read {
            Ok(()) => {}
            Err(Fault::Range(what)) => return Err(out_of_range(text, what)),
            Err(Fault::Form) => {
                let [text, layout, at, element] = [text, layout, before, element].map(go::quote);
                return Err(format!("parsing time {text} as {layout}: cannot parse {at} as {element}"));
            }
        }
    }
    if !reader.rest.is_empty() {
        return Err(format!("parsing time {}: extra text: {}", go::quote(text), go::quote(reader.rest)));
    }
    if day < 1 || day > days_in(month, year) {
        return Err(out_of_range(text, "day"));
    }
    Ok(())
}

fn out_of_range(text: &str, what: &str) -> String {
    format!("parsing time {}: {what} out of range", go::quote(text))
}

fn days_in(month: u32, year: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

// === impl Reader ===

impl<'t> Reader<'t> {
    /// Whether the next but `at` character is a digit.
    fn is_digit(&self, at: usize) -> bool {
        self.rest.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
    }

    /// Takes the next bytes, if there are as many and they end between characters.
    fn take(&mut self, bytes: usize) -> Result<&'t str, Fault> {
        let (taken, rest) = self.rest.split_at_checked(bytes).ok_or(Fault::Form)?;
        self.rest = rest;
        Ok(taken)
    }

    fn skip(&mut self, separator: &str) -> Result<(), Fault> {
        self.rest = self.rest.strip_prefix(separator).ok_or(Fault::Form)?;
        Ok(())
    }

    fn year(&mut self) -> Result<u32, Fault> {
        self.take(4)?.parse().map_err(|_| Fault::Form)
    }

    /// A number of two digits, or of one where Go is lenient.
    fn number(
        &mut self,
        fixed: bool,
        range: std::ops::RangeInclusive<u32>,
        what: &'static str,
    ) -> Result<u32, Fault> {
        let digits = match (self.is_digit(0), self.is_digit(1)) {
            (true, true) => 2,
            (true, false) if !fixed => 1,
            _ => return Err(Fault::Form),
        };
        let number = self.take(digits)?.parse().map_err(|_| Fault::Form)?;
        if range.contains(&number) { Ok(number) } else { Err(Fault::Range(what)) }
    }

    /// Skips a fraction of a second that the layout does not have.
    fn skip_fraction(&mut self) {
        if self.rest.starts_with(['.', ',']) && self.is_digit(1) {
            self.rest =
                self.rest.trim_start_matches(['.', ',']).trim_start_matches(|c: char| c.is_ascii_digit());
        }
    }

    fn fraction(&mut self) -> Result<(), Fault> {
        let fraction = self.take(7)?;
        let digits = fraction.strip_prefix(['.', ',']).ok_or(Fault::Form)?;
        if digits.bytes().all(|byte| byte.is_ascii_digit()) { Ok(()) } else { Err(Fault::Form) }
    }

    fn zone(&mut self) -> Result<(), Fault> {
        if self.skip("Z").is_ok() {
            return Ok(());
        }
        let zone = self.take(6)?;
        let two = |text: Option<&str>| {
            let text = text.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?;
            text.parse::<u32>().ok()
        };
        if zone.get(3..4) != Some(":") {
            return Err(Fault::Form);
        }
        let (Some(hours), Some(minutes)) = (two(zone.get(1..3)), two(zone.get(4..6))) else {
            return Err(Fault::Form);
        };
        match (hours, minutes) {
            (25.., _) => Err(Fault::Range("time zone offset hour")),
            (_, 61..) => Err(Fault::Range("time zone offset minute")),
            _ if zone.starts_with(['+', '-']) => Ok(()),
            _ => Err(Fault::Form),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn times_are_judged_as_go_judges_them() {
        for text in ["2020-01-02T03:04:05Z", "2020-02-29T23:59:59.123+02:00", "2020-01-02T3:04:05Z"] {
            assert_eq!(check(text, false), Ok(()), "{text}");
        }
        for (text, micro, want) in [
            ("x", false, r#"as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006""#),
            ("2020-01-02", false, r#"as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T""#),
            ("2020-01-02T03:04:05Zx", false, r#": extra text: "x""#),
            ("2020-13-02T03:04:05Z", false, ": month out of range"),
            ("2021-02-29T03:04:05Z", false, ": day out of range"),
            ("2020-01-02T24:04:05Z", false, ": hour out of range"),
            ("2020-01-02T03:04:05", false, r#"as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00""#),
            (
                "2020-01-02T03:04:05Z",
                true,
                r#"as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000""#,
            ),
            (
                "2020-01-02T03:04:05.0000001Z",
                true,
                r#"as "2006-01-02T15:04:05.000000Z07:00": cannot parse "1Z" as "Z07:00""#,
            ),
            ("2020-01-02T03:04:05+25:00", false, ": time zone offset hour out of range"),
        ] {
            let space = if want.starts_with(':') { "" } else { " " };
            assert_eq!(check(text, micro), Err(format!("parsing time {text:?}{space}{want}")), "{text}");
        }
        assert!(check("2020-01-02T03:04:05.ä00000Z", true).is_err());
    }
}
