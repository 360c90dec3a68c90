//! Why a text is no address, no range of addresses and no version, in the words of Go.
//!
//! Texts are read from their start, and the first thing that is wrong is told, as Go's `netip` and the module for versions do.

use crate::error::go;

/// Why a text is no IP address of those that expressions may use. Nothing if it is one.
pub(super) fn address(text: &str) -> Option<String> {
    match Address::parse(text) {
        Err(why) => {
            Some(format!("IP Address {} parse error during conversion from string: {why}", go::quote(text)))
        }
        Ok(Address { zone: true, .. }) => {
            Some(format!("IP address {} with zone value is not allowed", go::quote(text)))
        }
        Ok(Address { mapped: true, .. }) => {
            Some(format!("IPv4-mapped IPv6 address {} is not allowed", go::quote(text)))
        }
        Ok(_) => None,
    }
}

/// Why a text is no range of addresses. Nothing if it is one.
pub(super) fn range(text: &str) -> Option<String> {
    const WHAT: &str = "network address parse error during conversion from string";
    let refuse = |why: &str| Some(format!("{WHAT}: {WHAT}: netip.ParsePrefix({}): {why}", go::quote(text)));
    let Some((start, length)) = text.rsplit_once('/') else { return refuse("no '/'") };
    let address = match Address::parse(start) {
        Ok(address) => address,
        Err(why) => return refuse(&why),
    };
    if address.zone {
        return refuse("IPv6 zones cannot be present in a prefix");
    }
    // Neither a sign nor a zero in front is taken.
    let is_plain = length.len() <= 1 || length.starts_with(|first: char| ('1'..='9').contains(&first));
    let Some(bits) = length.parse::<u32>().ok().filter(|_| is_plain) else {
        return refuse(&format!("bad bits after slash: {}", go::quote(length)));
    };
    if bits > address.bits {
        return refuse("prefix length out of range");
    }
    address.mapped.then(|| format!("{WHAT}: IPv4-mapped IPv6 address {} is not allowed", go::quote(text)))
}

/// Why a text is no version of software. Nothing if it is one.
pub(super) fn version(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("Version string empty".to_owned());
    }
    let parts: Vec<&str> = text.splitn(3, '.').collect();
    let [major, minor, rest] = parts.as_slice() else {
        return Some("No Major.Minor.Patch elements found".to_owned());
    };
    let (rest, build) = rest.split_once('+').map_or((*rest, None), |(rest, build)| (rest, Some(build)));
    let (patch, before) = rest.split_once('-').map_or((rest, None), |(patch, before)| (patch, Some(before)));
    let core = [("major", "Major", *major), ("minor", "Minor", *minor), ("patch", "Patch", patch)];
    let of_core = core.iter().find_map(|(small, large, number)| {
        if !is_digits(number) {
            return Some(format!("Invalid character(s) found in {small} number {}", go::quote(number)));
        }
        if has_leading_zero(number) {
            return Some(format!("{large} number must not contain leading zeroes {}", go::quote(number)));
        }
        number_problem(number)
    });
    of_core
        .or_else(|| before?.split('.').find_map(before_release))
        .or_else(|| build?.split('.').find_map(build_problem))
}

fn before_release(part: &str) -> Option<String> {
    if part.is_empty() {
        return Some("Prerelease is empty".to_owned());
    }
    if is_digits(part) {
        if has_leading_zero(part) {
            return Some(format!(
                "Numeric PreRelease version must not contain leading zeroes {}",
                go::quote(part)
            ));
        }
        return number_problem(part);
    }
    (!is_word(part)).then(|| format!("Invalid character(s) found in prerelease {}", go::quote(part)))
}

fn build_problem(part: &str) -> Option<String> {
    if part.is_empty() {
        return Some("Build meta data is empty".to_owned());
    }
    (!is_word(part)).then(|| format!("Invalid character(s) found in build meta data {}", go::quote(part)))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn has_leading_zero(text: &str) -> bool {
    text.len() > 1 && text.starts_with('0')
}

/// Why digits are no number of 64 bits.
fn number_problem(digits: &str) -> Option<String> {
    let why = match digits {
        "" => "invalid syntax",
        digits if digits.parse::<u64>().is_err() => "value out of range",
        _ => return None,
    };
    Some(format!("strconv.ParseUint: parsing {}: {why}", go::quote(digits)))
}

/// What kind of address a text is.
struct Address {
    bits: u32,
    /// Whether it is an address of version 4 written as one of version 6.
    mapped: bool,
    zone: bool,
}

// === impl Address ===

impl Address {
    /// # Errors
    /// With the text of `netip.ParseAddr`.
    fn parse(text: &str) -> Result<Self, String> {
        let refuse = |(why, at): Problem<'_>| {
            let at = at.map(|at| format!(" (at {})", go::quote(at))).unwrap_or_default();
            format!("ParseAddr({}): {why}{at}", go::quote(text))
        };
        match text.chars().find(|c| matches!(c, '.' | ':' | '%')) {
            Some('.') => {
                version_4(text).map_err(refuse)?;
                Ok(Self { bits: 32, mapped: false, zone: false })
            }
            Some(':') => {
                let (digits, zone) = text.split_once('%').map_or((text, None), |(d, zone)| (d, Some(zone)));
                if zone == Some("") {
                    return Err(refuse(("zone must be a non-empty string", None)));
                }
                version_6(digits).map_err(refuse)?;
                let mapped = digits.parse().is_ok_and(|ip: std::net::Ipv6Addr| ip.to_ipv4_mapped().is_some());
                Ok(Self { bits: 128, mapped, zone: zone.is_some() })
            }
            Some(_) => Err(refuse(("missing IPv6 address", None))),
            None => Err(refuse(("unable to parse IP", None))),
        }
    }
}

/// What is wrong, and the rest of the text from there on, where that is told.
type Problem<'a> = (&'static str, Option<&'a str>);

fn version_4(text: &str) -> Result<(), Problem<'_>> {
    let (mut value, mut digits, mut fields) = (0_u32, 0, 0);
    let mut before = None;
    for (at, c) in text.char_indices() {
        let rest = Some(&text[at..]);
        match c.to_digit(10) {
            Some(digit) => {
                if digits == 1 && value == 0 {
                    return Err(("IPv4 field has octet with leading zero", None));
                }
                value = value * 10 + digit;
                digits += 1;
                if value > 255 {
                    return Err(("IPv4 field has value >255", None));
                }
            }
            None if c == '.' => {
                if matches!(before, None | Some('.')) || at + 1 == text.len() {
                    return Err(("IPv4 field must have at least one digit", rest));
                }
                if fields == 3 {
                    return Err(("IPv4 address too long", None));
                }
                fields += 1;
                (value, digits) = (0, 0);
            }
            None => return Err(("unexpected character", rest)),
        }
        before = Some(c);
    }
    if fields < 3 { Err(("IPv4 address too short", None)) } else { Ok(()) }
}

fn version_6(text: &str) -> Result<(), Problem<'_>> {
    /// How many fields of 16 bits there are.
    const FIELDS: usize = 8;
    let (mut rest, mut shortened) = (text, false);
    if let Some(after) = rest.strip_prefix("::") {
        if after.is_empty() {
            return Ok(());
        }
        (rest, shortened) = (after, true);
    }
    let mut fields = 0;
    while fields < FIELDS {
        let length = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        if length > 4 {
            return Err(("each group must have 4 or less digits", Some(rest)));
        }
        if length == 0 {
            return Err(("each colon-separated field must have at least one digit", Some(rest)));
        }
        let (_, after) = rest.split_at(length);
        if after.starts_with('.') {
            if !shortened && fields != FIELDS - 2 {
                let why = "embedded IPv4 address must replace the final 2 fields of the address";
                return Err((why, Some(rest)));
            }
            if fields + 2 > FIELDS {
                let why = "too many hex fields to fit an embedded IPv4 at the end of the address";
                return Err((why, Some(rest)));
            }
            version_4(rest)?;
            fields += 2;
            rest = "";
            break;
        }
        fields += 1;
        rest = after;
        let Some(behind) = rest.strip_prefix(':') else {
            if rest.is_empty() {
                break;
            }
            return Err(("unexpected character, want colon", Some(rest)));
        };
        if behind.is_empty() {
            return Err(("colon must be followed by more characters", Some(rest)));
        }
        rest = behind;
        if let Some(behind) = rest.strip_prefix(':') {
            if shortened {
                return Err(("multiple :: in address", Some(rest)));
            }
            (rest, shortened) = (behind, true);
            if rest.is_empty() {
                break;
            }
        }
    }
    match (rest.is_empty(), fields < FIELDS, shortened) {
        (false, ..) => Err(("trailing garbage after address", Some(rest))),
        (_, true, false) => Err(("address string too short", None)),
        (_, false, true) => Err(("the :: must expand to at least one field of zeros", None)),
        _ => Ok(()),
    }
}
