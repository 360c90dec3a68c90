use jiff::{SignedDuration, Timestamp};

/// A duration as people read it, with one or two units: `95s`, `3m20s`, `5h`, `3d4h`, `2y10d`.
///
/// More than a second in the future is `<invalid>`, as in Kubernetes.
#[must_use]
pub fn human_duration(duration: SignedDuration) -> String {
    let seconds = duration.as_secs();
    if seconds < -1 {
        return "<invalid>".into();
    }
    if seconds < 0 {
        return "0s".into();
    }
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let (days, years) = (hours / 24, hours / 24 / 365);
    match () {
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => two_units(minutes, "m", seconds % 60, "s"),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => two_units(hours, "h", minutes % 60, "m"),
        () if hours < 48 => format!("{hours}h"),
        () if days < 8 => two_units(days, "d", hours % 24, "h"),
        () if years < 2 => format!("{days}d"),
        () if years < 8 => two_units(years, "y", days % 365, "d"),
        () => format!("{years}y"),
    }
}

/// The time from `time` (RFC 3339) until now; `<unknown>` without one.
pub(super) fn age(time: Option<&str>, now: Timestamp) -> String {
    match time {
        None | Some("") => "<unknown>".into(),
        Some(text) => text
            .parse::<Timestamp>()
            .map_or_else(|_| "<invalid>".into(), |time| human_duration(now.duration_since(time))),
    }
}

fn two_units(major: i64, major_unit: &str, minor: i64, minor_unit: &str) -> String {
    if minor == 0 {
        format!("{major}{major_unit}")
    } else {
        format!("{major}{major_unit}{minor}{minor_unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_change_with_the_size() {
        const MINUTE: i64 = 60;
        const HOUR: i64 = 60 * MINUTE;
        const DAY: i64 = 24 * HOUR;
        const YEAR: i64 = 365 * DAY;
        for (seconds, expected) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (2 * MINUTE, "2m"),
            (3 * MINUTE + 20, "3m20s"),
            (10 * MINUTE + 5, "10m"),
            (179 * MINUTE, "179m"),
            (3 * HOUR, "3h"),
            (7 * HOUR + 59 * MINUTE, "7h59m"),
            (8 * HOUR + 59 * MINUTE, "8h"),
            (47 * HOUR, "47h"),
            (3 * DAY + 4 * HOUR, "3d4h"),
            (8 * DAY + 4 * HOUR, "8d"),
            (2 * YEAR - 1, "729d"),
            (2 * YEAR + 10 * DAY, "2y10d"),
            (8 * YEAR + 10 * DAY, "8y"),
        ] {
            assert_eq!(human_duration(SignedDuration::from_secs(seconds)), expected, "{seconds} s");
        }
    }

    #[test]
    fn ages() {
        let now: Timestamp = "2026-01-02T03:04:05Z".parse().unwrap();
        assert_eq!(age(Some("2026-01-02T03:03:55.000001Z"), now), "9s");
        assert_eq!(age(Some("yesterday"), now), "<invalid>");
        assert_eq!(age(None, now), "<unknown>");
    }
}
