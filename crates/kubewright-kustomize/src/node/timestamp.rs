//! Scalars that are points in time.

/// The time that `text` is, in the form of RFC 3339: a date alone, a date and a time with a zone after `T` or `t`, or
/// a date and a time without zone after a space. Month, day, hour, minute and second may have one digit.
pub(super) fn parse(text: &str) -> Option<String> {
    let mut rest = Cursor(text);
    let year = rest.0.get(..4).filter(|year| year.bytes().all(|b| b.is_ascii_digit()))?;
    rest.0 = &rest.0[4..];
    rest.mark("-")?;
    let month = rest.number(1..=12)?;
    rest.mark("-")?;
    let day = rest.number(1..=last_day(year.parse().ok()?, month))?;
    if rest.0.is_empty() {
        return Some(format!("{year}-{month:02}-{day:02}T00:00:00Z"));
    }
    let zoned = rest.mark("T").or_else(|| rest.mark("t")).is_some();
    if !zoned {
        rest.mark(" ")?;
    }
    let hour = rest.number(0..=23)?;
    rest.mark(":")?;
    let minute = rest.number(0..=59)?;
    rest.mark(":")?;
    let second = rest.number(0..=59)?;
    let fraction = rest.fraction();
    let zone = if zoned { rest.zone()? } else { "Z".to_owned() };
    rest.0
        .is_empty()
        .then(|| format!("{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}"))
}

fn last_day(year: u32, month: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}

struct Cursor<'a>(&'a str);

impl Cursor<'_> {
    fn mark(&mut self, mark: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(mark)?;
        Some(())
    }

    fn number(&mut self, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
        let length = self.0.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let number = self.0[..length].parse().ok().filter(|number| range.contains(number))?;
        self.0 = &self.0[length..];
        Some(number)
    }

    /// Up to nine digits, without zeros at their end.
    fn fraction(&mut self) -> String {
        let Some(digits) = self.0.strip_prefix(['.', ',']) else { return String::new() };
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return String::new();
        }
        self.0 = &digits[length..];
        let significant = digits[..length.min(9)].trim_end_matches('0');
        if significant.is_empty() { String::new() } else { format!(".{significant}") }
    }

    fn zone(&mut self) -> Option<String> {
        if self.mark("Z").is_some() {
            return Some("Z".to_owned());
        }
        let zone = self.0.get(..6)?;
        let (sign, time) = zone.split_at_checked(1)?;
        let (hours, minutes) = time.split_once(':')?;
        let two_digits = |text: &str| text.len() == 2 && text.bytes().all(|b| b.is_ascii_digit());
        if !matches!(sign, "+" | "-") || !two_digits(hours) || !two_digits(minutes) {
            return None;
        }
        self.0 = &self.0[6..];
        Some(if time == "00:00" { "Z".to_owned() } else { zone.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn times_are_in_the_form_of_rfc_3339() {
        for (text, expected) in [
            ("2020-1-2", "2020-01-02T00:00:00Z"),
            ("2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z"),
            ("2020-1-2t3:4:5.600+02:00", "2020-01-02T03:04:05.6+02:00"),
            ("2020-01-02 03:04:05", "2020-01-02T03:04:05Z"),
        ] {
            assert_eq!(parse(text).as_deref(), Some(expected), "{text}");
        }
        for text in
            ["2020", "2020-", "2023-02-29", "2020-13-01", "2020-01-02T03:04:05", "2020-01-02 ", "202é-01-02"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
