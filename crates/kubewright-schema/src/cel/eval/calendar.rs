//! The parts of times and durations.

use jiff::{
    Timestamp,
    tz::{Offset, TimeZone},
};
use kube_cel::cel::Value as Cel;

use super::{Failure, Outcome};

/// A part of a time, in UTC or in the zone that is named, or of a duration. Nothing if the function gives none.
pub(super) fn apply(function: &str, operands: &[Cel]) -> Option<Outcome> {
    const PARTS: [&str; 10] = [
        "getFullYear",
        "getMonth",
        "getDayOfYear",
        "getDayOfMonth",
        "getDate",
        "getDayOfWeek",
        "getHours",
        "getMinutes",
        "getSeconds",
        "getMilliseconds",
    ];
    if !PARTS.contains(&function) {
        return None;
    }
    Some(match operands {
        [Cel::Duration(duration)] => {
            let part = match function {
                "getHours" => duration.num_hours(),
                "getMinutes" => duration.num_minutes(),
                "getSeconds" => duration.num_seconds(),
                "getMilliseconds" => duration.num_milliseconds(),
                _ => return Some(Err(Failure::no_such_overload())),
            };
            Ok(Cel::Int(part))
        }
        [Cel::Timestamp(time), zone @ ..] => {
            let zone = match zone {
                [] => Ok(TimeZone::UTC),
                [Cel::String(name), ..] => zone_named(name),
                _ => Err(Failure::no_such_overload()),
            };
            let nanoseconds = i32::try_from(time.timestamp_subsec_nanos()).unwrap_or_default();
            let instant = Timestamp::new(time.timestamp(), nanoseconds)
                .map_err(|_| Failure::other("timestamp overflow"));
            zone.and_then(|zone| Ok(part(function, &instant?.to_zoned(zone))))
        }
        _ => Err(Failure::no_such_overload()),
    })
}

fn part(function: &str, time: &jiff::Zoned) -> Cel {
    Cel::Int(match function {
        "getFullYear" => i64::from(time.year()),
        "getMonth" => i64::from(time.month()) - 1,
        "getDayOfYear" => i64::from(time.day_of_year()) - 1,
        "getDayOfMonth" => i64::from(time.day()) - 1,
        "getDate" => i64::from(time.day()),
        "getDayOfWeek" => i64::from(time.weekday().to_sunday_zero_offset()),
        "getHours" => i64::from(time.hour()),
        "getMinutes" => i64::from(time.minute()),
        "getSeconds" => i64::from(time.second()),
        _ => i64::from(time.millisecond()),
    })
}

/// A zone by its offset, as `-08:00`, or its name.
fn zone_named(name: &str) -> Result<TimeZone, Failure> {
    let unknown = || Failure::other(format!("unknown time zone {name}"));
    if matches!(name, "UTC" | "") {
        return Ok(TimeZone::UTC);
    }
    match name.split_once(':') {
        Some((hours, minutes)) => {
            let sign = if hours.starts_with('-') { -1 } else { 1 };
            let number = |text: &str| text.parse::<i32>().map_err(|_| unknown());
            let seconds = number(hours)? * 3600 + sign * number(minutes)? * 60;
            Offset::from_seconds(seconds).map(Offset::to_time_zone).map_err(|_| unknown())
        }
        None => TimeZone::get(name).map_err(|_| unknown()),
    }
}
