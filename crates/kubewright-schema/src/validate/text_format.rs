//! The formats of strings. They accept what Go's validators accept, which is often more than a standard says.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    sync::LazyLock,
};

use jiff::civil::Date;
use regex::Regex;

use crate::structural::TextFormat;

pub(super) fn matches(format: TextFormat, text: &str) -> bool {
    match format {
        TextFormat::BsonObjectId => text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
        TextFormat::Uri => is_request_uri(text),
        TextFormat::Email => is_email(text),
        TextFormat::Hostname => {
            HOSTNAME.is_match(text) && text.len() <= 255 && text.split('.').all(|label| label.len() <= 63)
        }
        TextFormat::Ipv4 => text.contains('.') && is_ip(text),
        TextFormat::Ipv6 => text.contains(':') && is_ip(text),
        TextFormat::Cidr => is_cidr(text),
        TextFormat::Mac => is_mac(text),
        TextFormat::Uuid => UUID.is_match(text),
        TextFormat::Uuid3 => UUID.is_match(text) && uuid_digit(text, 12) == Some('3'),
        TextFormat::Uuid4 => is_rfc_uuid(text, '4'),
        TextFormat::Uuid5 => is_rfc_uuid(text, '5'),
        TextFormat::Isbn => is_isbn10(text) || is_isbn13(text),
        TextFormat::Isbn10 => is_isbn10(text),
        TextFormat::Isbn13 => is_isbn13(text),
        TextFormat::CreditCard => is_credit_card(text),
        TextFormat::Ssn => SSN.is_match(text),
        TextFormat::HexColor => HEX_COLOR.is_match(text),
        TextFormat::RgbColor => RGB_COLOR.is_match(text),
        TextFormat::Byte => BASE64.is_match(text),
        TextFormat::Password => true,
        TextFormat::Date => is_date(text),
        TextFormat::Duration => is_duration(text),
        TextFormat::DateTime => is_date_time(text),
        TextFormat::K8sShortName => text.len() <= 63 && is_label(text),
        TextFormat::K8sLongName => text.len() <= 253 && text.split('.').all(is_label),
    }
}

static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$",
    )
});
static UUID: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i-u)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"));
static CREDIT_CARD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$",
    )
});
static SSN: LazyLock<Regex> = LazyLock::new(|| regex(r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$"));
static HEX_COLOR: LazyLock<Regex> = LazyLock::new(|| regex(r"^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"));
static RGB_COLOR: LazyLock<Regex> = LazyLock::new(|| {
    let number = "(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])";
    regex(&format!(
        r"^rgb\([\t\n\f\r ]*{number}[\t\n\f\r ]*,[\t\n\f\r ]*{number}[\t\n\f\r ]*,[\t\n\f\r ]*{number}[\t\n\f\r ]*\)$"
    ))
});
static BASE64: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$")
});
static TIME: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$"));
static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    let atom = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~\-\x{80}-\x{10FFFF}]+";
    regex(&format!(
        r#"^(?:{atom}(?:\.{atom})*|"(?:[^"\\\r\n]|\\.)*")@(?:{atom}(?:\.{atom})*|\[[0-9a-fA-F:.]+\])$"#
    ))
});
static GO_DURATION: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^[-+]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|\x{B5}s|\x{3BC}s|ms|s|m|h))+)$")
});
static SCALA_DURATION: LazyLock<Regex> = LazyLock::new(|| regex(r"([0-9]+)[\t\n\f\r ]*([A-Za-z\x{B5}]+)"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant, and a test compiles it")
}

fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.bytes().next().is_some_and(inner)
        && text.bytes().last().is_some_and(inner)
        && text.bytes().all(|byte| inner(byte) || byte == b'-')
}

/// Go's `url.ParseRequestURI`: a path, or a scheme with anything after it. Only an authority and percent signs are
/// looked at more closely.
fn is_request_uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|byte| byte.is_ascii_control()) {
        return false;
    }
    if text == "*" {
        return true;
    }
    let (scheme, rest) = match text.split_once(':') {
        Some((scheme, rest)) if is_scheme(scheme) => (scheme, rest),
        Some(("", _)) => return false,
        _ => ("", text),
    };
    if !rest.starts_with('/') {
        return !scheme.is_empty();
    }
    let rest = rest.split('?').next().unwrap_or_default();
    match rest.strip_prefix("//") {
        Some(rest) if !scheme.is_empty() => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            is_authority(authority) && has_whole_escapes(path, |_| true)
        }
        _ => has_whole_escapes(rest, |_| true),
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// `user:password@host:port` of a URI.
fn is_authority(text: &str) -> bool {
    let (user, host) = text.rsplit_once('@').unwrap_or(("", text));
    let is_user = user.chars().all(|c| c.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(c))
        && has_whole_escapes(user, |_| true);
    let port = |text: &str| {
        text.is_empty()
            || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_host = match host.strip_prefix('[') {
        Some(inner) => inner.rsplit_once(']').is_some_and(|(address, rest)| {
            let address = address.split("%25").next().unwrap_or_default();
            address.parse::<Ipv6Addr>().is_ok() && port(rest)
        }),
        None => {
            // In a host, percent signs are for what is not ASCII.
            let of_host =
                |c: char| !c.is_ascii() || c.is_ascii_alphanumeric() || "-_.~!$&'()*+,;=:[]<>\"%".contains(c);
            host.chars().all(of_host)
                && has_whole_escapes(host, |byte| byte >= 0x80)
                && port(host.rfind(':').and_then(|at| host.get(at..)).unwrap_or_default())
        }
    };
    is_user && is_host
}

/// Whether each percent sign is followed by two hexadecimal digits, of a byte that is allowed.
fn has_whole_escapes(text: &str, allowed: impl Fn(u8) -> bool) -> bool {
    text.split('%').skip(1).all(|rest| {
        rest.get(..2)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .is_some_and(&allowed)
    })
}

fn is_email(text: &str) -> bool {
    let text = text.trim();
    match (text.find('<'), text.strip_suffix('>')) {
        (Some(start), Some(inner)) => EMAIL.is_match(inner.get(start + 1..).unwrap_or_default()),
        _ => EMAIL.is_match(text),
    }
}

/// Go's older parser takes leading zeros in the parts of an IPv4 address.
fn is_sloppy_ipv4(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    parts.len() == 4
        && parts.iter().all(|part| {
            !part.is_empty()
                && part.bytes().all(|byte| byte.is_ascii_digit())
                && part.trim_start_matches('0').parse::<u32>().unwrap_or(if part.len() > 9 { 256 } else { 0 })
                    < 256
        })
}

fn is_ip(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok() || is_sloppy_ipv4(text) || text.parse::<Ipv6Addr>().is_ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let most = if address.contains(':') { 128 } else { 32 };
    is_ip(address)
        && bits.bytes().all(|byte| byte.is_ascii_digit())
        && bits.parse::<u32>().is_ok_and(|bits| bits <= most)
}

fn is_mac(text: &str) -> bool {
    let separator = match text.as_bytes() {
        [_, _, separator @ (b':' | b'-'), ..] => (*separator as char, 2, [6, 8, 20]),
        [_, _, _, _, b'.', ..] => ('.', 4, [3, 4, 10]),
        _ => return false,
    };
    let (separator, width, counts) = separator;
    let parts: Vec<&str> = text.split(separator).collect();
    counts.contains(&parts.len())
        && parts.iter().all(|part| part.len() == width && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn uuid_digit(text: &str, position: usize) -> Option<char> {
    text.chars().filter(|&c| c != '-').nth(position)
}

fn is_rfc_uuid(text: &str, version: char) -> bool {
    UUID.is_match(text)
        && uuid_digit(text, 12) == Some(version)
        && uuid_digit(text, 16).is_some_and(|digit| "89abAB".contains(digit))
}

fn isbn_digits(text: &str) -> Vec<u32> {
    let last_is_ten = |index: usize, c: char, count: usize| index + 1 == count && count == 10 && c == 'X';
    let plain: Vec<char> = text.chars().filter(|c| !matches!(c, '-' | ' ' | '\t' | '\n')).collect();
    let count = plain.len();
    plain
        .iter()
        .enumerate()
        .map(|(index, &c)| if last_is_ten(index, c, count) { 10 } else { c.to_digit(10).unwrap_or(99) })
        .collect()
}

fn is_isbn10(text: &str) -> bool {
    let digits = isbn_digits(text);
    digits.len() == 10
        && !digits.contains(&99)
        && digits.iter().zip(1..).map(|(digit, weight)| digit * weight).sum::<u32>() % 11 == 0
}

fn is_isbn13(text: &str) -> bool {
    let digits = isbn_digits(text);
    digits.len() == 13
        && !digits.contains(&99)
        && digits.iter().zip([1, 3].iter().cycle()).map(|(digit, weight)| digit * weight).sum::<u32>() % 10
            == 0
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let luhn: u32 = digits
        .chars()
        .rev()
        .filter_map(|c| c.to_digit(10))
        .enumerate()
        .map(|(index, digit)| match index % 2 {
            0 => digit,
            _ if digit > 4 => digit * 2 - 9,
            _ => digit * 2,
        })
        .sum();
    CREDIT_CARD.is_match(&digits) && luhn.is_multiple_of(10)
}

fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<Date>().is_ok()
}

fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date)
        && TIME.captures(time).is_some_and(|time| {
            let part = |index| time.get(index).map_or("", |part: regex::Match<'_>| part.as_str());
            part(1) <= "23" && part(2) <= "59" && part(3) <= "59"
        })
}

fn is_duration(text: &str) -> bool {
    if GO_DURATION.is_match(text) {
        return true;
    }
    // Otherwise any known unit after a number will do, wherever it stands.
    const EXACT: [&str; 12] = ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk", "nano"];
    const PREFIXES: [&str; 8] = ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"];
    let mut known = false;
    for found in SCALA_DURATION.captures_iter(text) {
        let (Some(number), Some(unit)) = (found.get(1), found.get(2)) else { continue };
        if number.as_str().parse::<i64>().is_err() {
            return false;
        }
        let unit = unit.as_str().to_lowercase();
        known |= EXACT.contains(&unit.as_str()) || PREFIXES.iter().any(|prefix| unit.starts_with(prefix));
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_accept_and_refuse() {
        use TextFormat as F;
        let cases: [(TextFormat, &[&str], &[&str]); 24] = [
            (F::BsonObjectId, &["507f1f77bcf86cd799439011"], &["507f1f77bcf86cd79943901", "x"]),
            (
                F::Uri,
                &["http://a.b/c", "/a", "urn:a:b", "a: b", "/a b", "http://u:p@[::1]:80/%41", "http://a:/"],
                &[
                    "",
                    "a b",
                    "a/b",
                    ":a",
                    "/%4",
                    "http://a b/",
                    "http://a:b/",
                    "http://[::1/",
                    "http://%41/",
                    "a\tb:",
                ],
            ),
            (F::Email, &["a@b.c", "Name <a@b>", "\"a b\"@c"], &["a", "a@", "@b", "a b@c"]),
            (F::Hostname, &["a", "a.example.com", "example.co"], &["", "a..b", "-a.b"]),
            (F::Ipv4, &["1.2.3.4", "010.0.0.1"], &["1.2.3", "256.0.0.1", "::1", "99999999999.0.0.1"]),
            (F::Ipv6, &["::1", "fe80::1", "::ffff:1.2.3.4"], &["1.2.3.4", "::g"]),
            (F::Cidr, &["10.0.0.0/8", "fd00::/64"], &["10.0.0.0", "10.0.0.0/33", "a/8"]),
            (F::Mac, &["01:02:03:04:05:06", "0102.0304.0506"], &["01:02", "0g:02:03:04:05:06"]),
            (F::Uuid, &["f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "F81D4FAE7DEC11D0A76500A0C91E6BF6"], &["x"]),
            (F::Uuid4, &["f81d4fae-7dec-41d0-a765-00a0c91e6bf6"], &["f81d4fae-7dec-11d0-a765-00a0c91e6bf6"]),
            (F::Isbn10, &["0321751043", "0-321-75104-3"], &["0321751044"]),
            (F::Isbn13, &["978-0321751041"], &["978-0321751042"]),
            (F::CreditCard, &["4111 1111 1111 1111"], &["4111 1111 1111 1112"]),
            (F::Ssn, &["123-45-6789", "123456789"], &["12-345-6789"]),
            (F::HexColor, &["#fff", "ABCDEF"], &["#ff", "#ggg"]),
            (F::RgbColor, &["rgb(0, 128,255)"], &["rgb(0,0,256)", "rgb(0,0)"]),
            (F::Byte, &["YQ==", "YWJj"], &["", "YQ", "!"]),
            (F::Password, &["", "anything"], &[]),
            (F::Date, &["2024-02-29"], &["2023-02-29", "2024-2-29", "x"]),
            (
                F::Duration,
                &["1h30m", "-1.5s", "0", "5 days", "2 wk", "3 seconds"],
                &["", "1", "x", "1 fortnight"],
            ),
            (
                F::DateTime,
                &["2024-01-02T03:04:05Z", "2024-01-02t03:04:05.678+01:00"],
                &["2024-01-02", "2024-01-02T24:00:00Z"],
            ),
            (F::K8sShortName, &["a", "a-1"], &["", "A", "-a", "a.b"]),
            (F::K8sLongName, &["a.b-c", "a"], &["a..b", "a.-b"]),
            (F::Uuid3, &["f81d4fae-7dec-31d0-a765-00a0c91e6bf6"], &["f81d4fae-7dec-41d0-a765-00a0c91e6bf6"]),
        ];
        for (format, accepted, refused) in cases {
            for text in accepted {
                assert!(matches(format, text), "{format:?} accepts {text:?}");
            }
            for text in refused {
                assert!(!matches(format, text), "{format:?} refuses {text:?}");
            }
        }
    }
}
