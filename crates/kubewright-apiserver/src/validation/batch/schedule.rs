//! Schedules of cron jobs: `*/5 8-17 * * mon-fri`, `@daily`, `@every 1h30m`.

use super::time_zone;

/// The numbers of a field, and words for them.
struct Bounds {
    min: u64,
    max: u64,
    names: &'static [&'static str],
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Minutes, hours, days of a month, months and days of a week.
const FIELDS: [Bounds; 5] = [
    Bounds { min: 0, max: 59, names: &[] },
    Bounds { min: 0, max: 23, names: &[] },
    Bounds { min: 1, max: 31, names: &[] },
    Bounds { min: 1, max: 12, names: &MONTHS },
    Bounds { min: 0, max: 6, names: &DAYS },
];

/// Checks a schedule.
///
/// # Errors
/// With what is wrong with it, in the words of the parser that Kubernetes uses.
pub(super) fn parse(schedule: &str) -> Result<(), String> {
    let schedule = match schedule.strip_prefix("TZ=").or_else(|| schedule.strip_prefix("CRON_TZ=")) {
        None => schedule,
        Some(rest) => {
            let Some((zone, rest)) = rest.split_once(' ') else {
                let why = "invalid schedule format: runtime error: slice bounds out of range [:-1]";
                return Err(why.to_owned());
            };
            if !time_zone::is_known(zone) {
                return Err(format!("provided bad location {zone}: unknown time zone {zone}"));
            }
            rest.trim()
        }
    };
    if let Some(name) = schedule.strip_prefix('@') {
        return parse_descriptor(schedule, name);
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!(
            "expected exactly {} fields, found {}: [{}]",
            FIELDS.len(),
            fields.len(),
            fields.join(" ")
        ));
    }
    for (field, bounds) in fields.into_iter().zip(&FIELDS) {
        for range in field.split(',').filter(|range| !range.is_empty()) {
            parse_range(range, bounds)?;
        }
    }
    Ok(())
}

fn parse_descriptor(schedule: &str, name: &str) -> Result<(), String> {
    match name {
        "yearly" | "annually" | "monthly" | "weekly" | "daily" | "midnight" | "hourly" => Ok(()),
        _ => match name.strip_prefix("every ") {
            None => Err(format!("unrecognized descriptor: {schedule}")),
            Some(duration) => parse_duration(duration)
                .map_err(|why| format!("failed to parse duration {schedule}: time: {why}")),
        },
    }
}

fn parse_range(range: &str, bounds: &Bounds) -> Result<(), String> {
    let parts: Vec<&str> = range.split('/').collect();
    let ends: Vec<&str> = parts.first().map(|ends| ends.split('-').collect()).unwrap_or_default();
    let first = ends.first().copied().unwrap_or_default();
    let (start, mut end) = if matches!(first, "*" | "?") {
        (bounds.min, bounds.max)
    } else {
        let start = parse_number_or_name(first, bounds)?;
        match ends.as_slice() {
            [_] => (start, start),
            [_, last] => (start, parse_number_or_name(last, bounds)?),
            _ => return Err(format!("too many hyphens: {range}")),
        }
    };
    let step = match parts.as_slice() {
        [_] => 1,
        [_, step] => {
            if ends.len() == 1 {
                end = bounds.max;
            }
            parse_number(step)?
        }
        _ => return Err(format!("too many slashes: {range}")),
    };
    let (min, max) = (bounds.min, bounds.max);
    if start < min {
        return Err(format!("beginning of range ({start}) below minimum ({min}): {range}"));
    }
    if end > max {
        return Err(format!("end of range ({end}) above maximum ({max}): {range}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {range}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {range}"));
    }
    Ok(())
}

fn parse_number_or_name(text: &str, bounds: &Bounds) -> Result<u64, String> {
    let position = bounds.names.iter().position(|name| text.eq_ignore_ascii_case(name));
    match position.and_then(|position| u64::try_from(position).ok()) {
        Some(position) => Ok(bounds.min + position),
        None => parse_number(text),
    }
}

fn parse_number(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = text.parse::<i64>().map_err(|_| {
        let why = if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
            "value out of range"
        } else {
            "invalid syntax"
        };
        format!("failed to parse int from {text}: strconv.Atoi: parsing {text:?}: {why}")
    })?;
    u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}"))
}

/// Checks a duration as Go writes it: `1h30m`, `1.5s`.
fn parse_duration(text: &str) -> Result<(), String> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "0" {
        return Ok(());
    }
    if unsigned.is_empty() {
        return Err(format!("invalid duration {text:?}"));
    }
    let mut rest = unsigned;
    while !rest.is_empty() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (digits, after) = rest.split_at(number);
        if !digits.bytes().any(|byte| byte.is_ascii_digit()) || digits.matches('.').count() > 1 {
            return Err(format!("invalid duration {text:?}"));
        }
        let unit = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        match unit {
            "" => return Err(format!("missing unit in duration {text:?}")),
            "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h" => {}
            unit => return Err(format!("unknown unit {unit:?} in duration {text:?}")),
        }
        rest = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules() {
        for schedule in
            ["* * * * ?", "*/5 8-17/2 1,15 JAN-jun mon", "@daily", "@every 1h30m", "TZ=UTC 0 0 * * *"]
        {
            assert_eq!(parse(schedule), Ok(()), "{schedule}");
        }
        for (schedule, why) in [
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
            ("1/2/3 * * * *", "too many slashes: 1/2/3"),
            ("x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"),
            ("@never", "unrecognized descriptor: @never"),
            ("@every 5", "failed to parse duration @every 5: time: missing unit in duration \"5\""),
            ("TZ=Mars 0 0 * * *", "provided bad location Mars: unknown time zone Mars"),
            ("TZ=0", "invalid schedule format: runtime error: slice bounds out of range [:-1]"),
        ] {
            assert_eq!(parse(schedule).as_ref().map_err(String::as_str), Err(why), "{schedule}");
        }
    }
}
