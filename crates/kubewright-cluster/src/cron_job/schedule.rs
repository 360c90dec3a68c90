use std::time::Duration;

use jiff::{SignedDuration, Timestamp, ToSpan, civil::DateTime, tz::TimeZone};

/// The times at which a CronJob runs, in UTC.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Schedule {
    /// At the minutes that all fields match.
    Fields(Box<Fields>),
    /// Again and again after this long.
    Every(Duration),
}

/// The sets of values of the five fields, as bits.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Fields {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Whether the day of the month, or that of the week, is any: then the other one alone decides. Where both
    /// are restricted, one of them has to match.
    any_day: bool,
    any_weekday: bool,
}

/// How far ahead a time is looked for: the 29th of February may be eight years away.
const HORIZON_DAYS: usize = 366 * 8 + 2;

const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

impl Schedule {
    /// Reads a schedule such as `*/5 * * * *`, `@hourly` or `@every 1h30m`.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let fields = match text {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            _ => match text.strip_prefix("@every ") {
                Some(duration) => return every(duration),
                None if text.starts_with('@') => return Err(format!("unrecognized descriptor: {text}")),
                None => text,
            },
        };
        let fields: Vec<&str> = fields.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(format!("expected exactly 5 fields, found {}: {fields:?}", fields.len()));
        };
        Ok(Self::Fields(Box::new(Fields {
            minutes: field(minute, 0, 59, &[])?,
            hours: field(hour, 0, 23, &[])?,
            days: field(day, 1, 31, &[])?,
            months: field(month, 1, 12, &MONTHS)?,
            weekdays: field(weekday, 0, 6, &WEEKDAYS)?,
            any_day: is_any(day),
            any_weekday: is_any(weekday),
        })))
    }

    /// The last time after `after` and not after `now`, and how many there are.
    pub(super) fn last(&self, after: Timestamp, now: Timestamp) -> (Option<Timestamp>, usize) {
        if let Self::Every(period) = self {
            // There may be very many, and they are regular.
            let Some(first) = self.next(after).filter(|first| *first <= now) else { return (None, 0) };
            let elapsed = Duration::try_from(now.duration_since(first)).unwrap_or(Duration::ZERO);
            let more = elapsed.as_secs() / period.as_secs().max(1);
            let last = first.saturating_add(Duration::from_secs(more * period.as_secs()));
            return (last.ok(), usize::try_from(more).unwrap_or(usize::MAX).saturating_add(1));
        }
        let (mut last, mut count) = (None, 0);
        while let Some(time) = self.next(last.unwrap_or(after)).filter(|time| *time <= now) {
            last = Some(time);
            count += 1;
        }
        (last, count)
    }

    /// The first time after `after`; `None` if there is none in sight, as for the 30th of February.
    pub(super) fn next(&self, after: Timestamp) -> Option<Timestamp> {
        match self {
            Self::Every(period) => {
                let seconds = Timestamp::from_second(after.as_second()).ok()?;
                seconds.checked_add(*period).ok()
            }
            Self::Fields(fields) => fields.next(after),
        }
    }
}

impl Fields {
    fn next(&self, after: Timestamp) -> Option<Timestamp> {
        let after = after.to_zoned(TimeZone::UTC).datetime();
        let first = after.with().second(0).subsec_nanosecond(0).build().ok()?.checked_add(1.minute()).ok()?;
        let mut day = first;
        for _ in 0..HORIZON_DAYS {
            if self.matches_day(day)
                && let Some(time) = self.next_on(day)
            {
                return time.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp());
            }
            day = day.date().tomorrow().ok()?.at(0, 0, 0, 0);
        }
        None
    }

    fn matches_day(&self, day: DateTime) -> bool {
        if !has(self.months, day.month()) {
            return false;
        }
        let by_month = has(self.days, day.day());
        let by_week = has(self.weekdays, day.date().weekday().to_sunday_zero_offset());
        match (self.any_day, self.any_weekday) {
            (false, false) => by_month || by_week,
            _ => by_month && by_week,
        }
    }

    /// The first matching minute of a day, not before the one of `from`.
    fn next_on(&self, from: DateTime) -> Option<DateTime> {
        (from.hour()..24).filter(|hour| has(self.hours, *hour)).find_map(|hour| {
            let first = if hour == from.hour() { from.minute() } else { 0 };
            let minute = (first..60).find(|minute| has(self.minutes, *minute))?;
            Some(from.date().at(hour, minute, 0, 0))
        })
    }
}

fn every(text: &str) -> Result<Schedule, String> {
    let failed = || format!("failed to parse duration @every {text}: expected a duration such as 1h30m");
    let duration: SignedDuration = text.parse().map_err(|_| failed())?;
    let seconds = u64::try_from(duration.as_secs()).map_err(|_| failed())?;
    Ok(Schedule::Every(Duration::from_secs(seconds.max(1))))
}

fn has(set: u64, value: i8) -> bool {
    u32::try_from(value).is_ok_and(|value| set & (1 << value) != 0)
}

fn is_any(field: &str) -> bool {
    field.split(',').any(|part| part.starts_with('*') || part.starts_with('?'))
}

/// The values of one field: `*`, `1`, `1-5`, `*/2`, `MON`, and lists of those.
fn field(text: &str, min: u32, max: u32, names: &[&str]) -> Result<u64, String> {
    let mut set = 0;
    for part in text.split(',') {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(number(step, &[], min)?)),
            None => (part, None),
        };
        let (first, last) = match range {
            "*" | "?" => (min, max),
            _ => match range.split_once('-') {
                Some((first, last)) => (number(first, names, min)?, number(last, names, min)?),
                None => {
                    let first = number(range, names, min)?;
                    // `5/15` begins at 5 and has no end.
                    (first, if step.is_some() { max } else { first })
                }
            },
        };
        if first < min || last > max || first > last {
            return Err(format!("{part:?} is not within {min}-{max}, or its end is before its beginning"));
        }
        let step = step.unwrap_or(1);
        if step == 0 {
            return Err(format!("step of range should be a positive number: {part}"));
        }
        for value in (first..=last).step_by(usize::try_from(step).unwrap_or(usize::MAX)) {
            set |= 1 << value;
        }
    }
    Ok(set)
}

fn number(text: &str, names: &[&str], min: u32) -> Result<u32, String> {
    if let Some(index) = names.iter().position(|name| name.eq_ignore_ascii_case(text)) {
        return Ok(min + u32::try_from(index).unwrap_or(0));
    }
    text.parse().map_err(|_| format!("failed to parse int from {text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(schedule: &str, after: &str) -> String {
        let schedule = Schedule::parse(schedule).expect("a valid schedule");
        let after = after.parse().expect("a valid timestamp");
        schedule.next(after).map_or_else(|| "never".to_owned(), |time| time.to_string())
    }

    #[test]
    fn the_next_time_is_found() {
        for (schedule, after, expected) in [
            ("* * * * *", "2030-01-01T00:00:00Z", "2030-01-01T00:01:00Z"),
            ("* * * * *", "2030-01-01T00:00:30Z", "2030-01-01T00:01:00Z"),
            ("*/15 * * * *", "2030-01-01T00:50:00Z", "2030-01-01T01:00:00Z"),
            ("30 9-17/4 * * *", "2030-01-01T10:00:00Z", "2030-01-01T13:30:00Z"),
            ("0 0 1 * *", "2030-01-15T00:00:00Z", "2030-02-01T00:00:00Z"),
            // The first of January 2030 is a Tuesday.
            ("0 12 * * MON-FRI", "2030-01-04T12:00:00Z", "2030-01-07T12:00:00Z"),
            ("0 0 13 * FRI", "2030-01-01T00:00:00Z", "2030-01-04T00:00:00Z"),
            ("0 0 29 2 *", "2030-01-01T00:00:00Z", "2032-02-29T00:00:00Z"),
            ("0 0 30 2 *", "2030-01-01T00:00:00Z", "never"),
            ("@hourly", "2030-01-01T00:00:00Z", "2030-01-01T01:00:00Z"),
            ("@every 90s", "2030-01-01T00:00:00.5Z", "2030-01-01T00:01:30Z"),
        ] {
            assert_eq!(next(schedule, after), expected, "{schedule} after {after}");
        }
    }

    #[test]
    fn missed_times_are_counted() {
        let last = |schedule: &str| {
            let schedule = Schedule::parse(schedule).expect("a valid schedule");
            let at = |time: &str| time.parse::<Timestamp>().expect("a valid timestamp");
            let (last, count) = schedule.last(at("2030-01-01T00:00:00Z"), at("2030-01-01T01:00:10Z"));
            (last.map(|time| time.to_string()).unwrap_or_default(), count)
        };
        assert_eq!(last("*/20 * * * *"), ("2030-01-01T01:00:00Z".into(), 3));
        assert_eq!(last("@every 7s"), ("2030-01-01T01:00:05Z".into(), 515));
        assert_eq!(last("@daily"), (String::new(), 0));
    }

    #[test]
    fn mistakes_are_told() {
        for schedule in ["", "* * * *", "60 * * * *", "5-1 * * * *", "*/0 * * * *", "x * * * *", "@often"] {
            assert!(Schedule::parse(schedule).is_err(), "{schedule}");
        }
    }
}
