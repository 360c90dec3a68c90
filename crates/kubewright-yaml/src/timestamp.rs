//! Timestamps of YAML 1.1, as far as yaml.v2 knows them.

/// Whether yaml.v2 reads `text` as a timestamp: a date alone, a date and a time with a zone after `T` or `t`, or a
/// date and a time without zone after spaces. Month, day, hour, minute and second may have one digit.
pub(super) fn reads_as_timestamp(text: &str) -> bool {
    let Some(year) = text.get(..4).filter(|year| year.bytes().all(|byte| byte.is_ascii_digit())) else {
        return false;
    };
    let mut cursor = Cursor { rest: text.get(4..).unwrap_or_default() };
    cursor.date(year.parse().unwrap_or_default()).is_some() && cursor.rest_is_time()
}

struct Cursor<'a> {
    rest: &'a str,
}

impl Cursor<'_> {
    fn date(&mut self, year: u32) -> Option<()> {
        self.literal('-')?;
        let month = self.number(1..=12)?;
        self.literal('-')?;
        let last = match month {
            4 | 6 | 9 | 11 => 30,
            2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
            2 => 28,
            _ => 31,
        };
        self.number(1..=last).map(drop)
    }

    fn rest_is_time(mut self) -> bool {
        match self.rest.chars().next() {
            None => true,
            Some('T' | 't') => {
                self.rest = self.rest.get(1..).unwrap_or_default();
                self.time().and_then(|()| self.zone()).is_some() && self.rest.is_empty()
            }
            Some(' ') => {
                self.rest = self.rest.trim_start_matches(' ');
                self.time().is_some() && self.rest.is_empty()
            }
            Some(_) => false,
        }
    }

    fn time(&mut self) -> Option<()> {
        self.number(0..=23)?;
        self.literal(':')?;
        self.number(0..=59)?;
        self.literal(':')?;
        self.number(0..=59)?;
        if let Some(fraction) = self.rest.strip_prefix(['.', ',']) {
            let after = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
            if after.len() < fraction.len() {
                self.rest = after;
            }
        }
        Some(())
    }

    fn zone(&mut self) -> Option<()> {
        if self.literal('Z').is_some() {
            return Some(());
        }
        self.rest = self.rest.strip_prefix(['+', '-'])?;
        // Go takes offsets of a full day and a full hour too.
        self.two_digits(24)?;
        self.literal(':')?;
        self.two_digits(60)
    }

    fn two_digits(&mut self, limit: u32) -> Option<()> {
        let (digits, rest) = self.rest.split_at_checked(2)?;
        let both = digits.bytes().all(|byte| byte.is_ascii_digit());
        self.rest = rest;
        (both && digits.parse::<u32>().ok()? <= limit).then_some(())
    }

    /// One digit or two.
    fn number(&mut self, range: std::ops::RangeInclusive<u32>) -> Option<u32> {
        let length = self.rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        digits.parse().ok().filter(|number| range.contains(number))
    }

    fn literal(&mut self, literal: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(literal)?;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_timestamps() {
        for text in [
            "2020-01-02",
            "2020-1-2",
            "2024-02-29",
            "0000-02-29",
            "2020-01-02T03:04:05Z",
            "2020-1-2t3:4:5.123456789123+02:00",
            "2020-1-2T3:4:5,5-24:60",
            "2020-01-02 03:04:05",
            "2020-01-02    3:4:5.5",
        ] {
            assert!(reads_as_timestamp(text), "{text}");
        }
    }

    #[test]
    fn what_go_does_not_parse_is_a_string() {
        for text in [
            "2020",
            "2020-",
            "2020-13-01",
            "2023-02-29",
            "2020-01-00",
            "2020-01-02T03:04:05",
            "2020-01-02 03:04:05Z",
            "2020-01-02T24:00:00Z",
            "2020-01-02T03:04:05.Z",
            "2020-01-02T03:04:05z",
            "2020-01-02T03:04:05+2:00",
            "2020-01-02T03:04:05+25:00",
            "2020-01-02 ",
            "20200-01-02",
            "2020-001-02",
            "202é-01-02",
        ] {
            assert!(!reads_as_timestamp(text), "{text}");
        }
    }
}
