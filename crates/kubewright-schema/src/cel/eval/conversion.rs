//! Conversions between types. They fail in the words of cel-go.

use std::sync::Arc;

use kube_cel::cel::Value as Cel;

use super::{Failure, Outcome, functions, library};
use crate::{
    cel::checker::{is_duration, is_time},
    error::go,
};

/// The first and the last second of the years 1 to 9999.
pub(super) const SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Applies a conversion. Nothing if the function is none, or a library knows the value.
pub(super) fn apply(function: &str, value: &Cel) -> Option<Outcome> {
    let failed = |to: &str| {
        let from = functions::type_name(value);
        Err(Failure::other(format!("type conversion error from '{from}' to '{to}'")))
    };
    Some(match function {
        "dyn" => Ok(value.clone()),
        "type" => Ok(functions::type_of(value)),
        "bool" => match value {
            Cel::Bool(_) => Ok(value.clone()),
            Cel::String(text) => match text.as_str() {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Cel::Bool(true)),
                "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Cel::Bool(false)),
                _ => failed("bool"),
            },
            _ => failed("bool"),
        },
        "bytes" => match value {
            Cel::Bytes(_) => Ok(value.clone()),
            Cel::String(text) => Ok(Cel::Bytes(Arc::new(text.as_bytes().to_vec()))),
            _ => failed("bytes"),
        },
        "double" => match value {
            Cel::Float(_) => Ok(value.clone()),
            Cel::Int(number) => Ok(Cel::Float(*number as f64)),
            Cel::UInt(number) => Ok(Cel::Float(*number as f64)),
            Cel::String(text) => text.parse().map(Cel::Float).or_else(|_| failed("double")),
            _ => failed("double"),
        },
        "int" => match value {
            Cel::Int(_) => Ok(value.clone()),
            Cel::UInt(number) => {
                i64::try_from(*number).map(Cel::Int).map_err(|_| Failure::other("integer overflow"))
            }
            Cel::Float(number) if *number > i64::MIN as f64 && *number < i64::MAX as f64 => {
                Ok(Cel::Int(*number as i64))
            }
            Cel::Float(_) => Err(Failure::other("integer overflow")),
            Cel::String(text) => text.parse().map(Cel::Int).or_else(|_| failed("int")),
            Cel::Timestamp(time) => Ok(Cel::Int(time.timestamp())),
            Cel::Duration(duration) => Ok(Cel::Int(duration.num_nanoseconds().unwrap_or(i64::MAX))),
            _ => failed("int"),
        },
        "uint" => match value {
            Cel::UInt(_) => Ok(value.clone()),
            Cel::Int(number) => {
                u64::try_from(*number).map(Cel::UInt).map_err(|_| Failure::other("unsigned integer overflow"))
            }
            Cel::Float(number) if *number >= 0.0 && *number < u64::MAX as f64 => {
                Ok(Cel::UInt(*number as u64))
            }
            Cel::Float(_) => Err(Failure::other("unsigned integer overflow")),
            Cel::String(text) if !text.starts_with('+') => {
                text.parse().map(Cel::UInt).or_else(|_| failed("uint"))
            }
            _ => failed("uint"),
        },
        "string" => match value {
            Cel::Opaque(_) => return None,
            Cel::Bytes(bytes) if std::str::from_utf8(bytes).is_err() => {
                Err(Failure::other("invalid UTF-8 in bytes, cannot convert to string"))
            }
            _ => text(value).map_or_else(|| failed("string"), |text| Ok(Cel::String(Arc::new(text)))),
        },
        "duration" => match value {
            Cel::Duration(_) => Ok(value.clone()),
            Cel::String(text) => duration(text).map_or_else(|| failed("google.protobuf.Duration"), Ok),
            _ => failed("google.protobuf.Duration"),
        },
        "timestamp" => match value {
            Cel::Timestamp(_) => Ok(value.clone()),
            Cel::String(text) => timestamp(text).map_or_else(|| failed("google.protobuf.Timestamp"), Ok),
            Cel::Int(seconds) => time_of(*seconds).ok_or_else(|| Failure::other("timestamp overflow")),
            _ => failed("google.protobuf.Timestamp"),
        },
        _ => return None,
    })
}

/// A value as text, as `string(..)` makes it.
pub(in crate::cel) fn text(value: &Cel) -> Option<String> {
    Some(match value {
        Cel::String(text) => text.to_string(),
        Cel::Bool(flag) => flag.to_string(),
        Cel::Int(number) => number.to_string(),
        Cel::UInt(number) => number.to_string(),
        Cel::Float(number) => go::float(*number),
        Cel::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok()?,
        Cel::Null => "null".to_owned(),
        Cel::Duration(duration) => {
            let nanoseconds = duration.num_nanoseconds().unwrap_or(i64::MAX);
            format!("{}s", nanoseconds as f64 / 1e9)
        }
        Cel::Timestamp(time) => {
            // As of RFC 3339, with as many digits as it takes.
            let fraction = format!("{:09}", time.timestamp_subsec_nanos());
            let fraction = fraction.trim_end_matches('0');
            let point = if fraction.is_empty() { "" } else { "." };
            let zone = match time.format("%:z").to_string() {
                zone if zone == "+00:00" => "Z".to_owned(),
                zone => zone,
            };
            format!("{}{point}{fraction}{zone}", time.format("%Y-%m-%dT%H:%M:%S"))
        }
        _ => return None,
    })
}

/// A duration that Go parses.
pub(in crate::cel) fn duration(text: &str) -> Option<Cel> {
    if !is_duration(text) {
        return None;
    }
    // The library takes one sign and no other spelling of the unit.
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let rest = rest.strip_prefix('+').unwrap_or(rest).replace(['µ', 'μ'], "u");
    match rest.as_str() {
        "0" => library::parse("duration", "0s"),
        _ => library::parse("duration", &format!("{sign}{rest}")),
    }
}

/// A time as of RFC 3339 that Go parses.
pub(in crate::cel) fn timestamp(text: &str) -> Option<Cel> {
    if !is_time(text) { None } else { library::parse("timestamp", &text.replace(',', ".")) }
}

fn time_of(seconds: i64) -> Option<Cel> {
    let time = SECONDS.contains(&seconds).then(|| jiff::Timestamp::from_second(seconds).ok()).flatten()?;
    library::parse("timestamp", &time.to_string())
}
