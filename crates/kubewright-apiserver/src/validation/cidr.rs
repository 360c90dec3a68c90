//! Ranges of addresses.
//!
//! Go once read octets with leading zeros, and ranges of version 4 in the notation of version 6. Their meaning is still
//! known, but no new object may have them.

use std::net::IpAddr;

use super::{Field, ip};

/// A range of addresses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cidr {
    /// The address before the slash.
    address: IpAddr,
    /// How many of its bits name the range.
    bits: u8,
}

// === impl Cidr ===

impl Cidr {
    /// The range that a text means.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        if bits.is_empty() || !bits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let is_v6 = address.contains(':');
        let address = ip::parse_sloppy(address)?;
        let bits: u8 = bits.parse().ok()?;
        if bits > if is_v6 { 128 } else { 32 } {
            return None;
        }
        // What is version 4 in the notation of version 6 has 96 bits more.
        let bits = if is_v6 && address.is_ipv4() { bits.saturating_sub(96) } else { bits };
        Some(Self { address, bits })
    }

    const fn width(self) -> u8 {
        if self.address.is_ipv4() { 32 } else { 128 }
    }

    /// The first address.
    fn network(self) -> IpAddr {
        let rest = u32::from(self.width() - self.bits);
        match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(rest).unwrap_or(0);
                IpAddr::from((u32::from(address) & mask).to_be_bytes())
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(rest).unwrap_or(0);
                IpAddr::from((u128::from(address) & mask).to_be_bytes())
            }
        }
    }

    /// Whether the other range is a part of this one, and not all of it.
    pub(super) fn strictly_contains(self, other: Self) -> bool {
        let of_other = Self { address: other.network(), bits: self.bits };
        self.width() == other.width() && self.bits < other.bits && of_other.network() == self.network()
    }

    pub(super) const fn is_v6(self) -> bool {
        self.address.is_ipv6()
    }

    fn text(self) -> String {
        format!("{}/{}", self.network(), self.bits)
    }
}

/// Checks the range in `text`, unless the object had it before. Says whether something is wrong.
pub(super) fn check_new(field: Field<'_>, text: &str, known: &[&str]) -> bool {
    let before = field.report().len();
    match Cidr::parse(text) {
        _ if known.contains(&text) => {}
        None => field.invalid(text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"),
        Some(_) if has_leading_zeros(text) => {
            field.invalid(text, "must not have leading 0s in IP or prefix length");
        }
        Some(range) if is_mapped(range, text) => {
            field.invalid(text, "must not have an IPv4-mapped IPv6 address");
        }
        Some(range) if range.network() != range.address => {
            field.invalid(text, "must not have bits set beyond the prefix length");
        }
        Some(_) => {}
    }
    field.report().len() > before
}

/// Checks a range which must be written in the one right way.
pub(super) fn check_canonical(field: Field<'_>) {
    let text = field.text();
    if check_new(field, text, &[]) {
        return;
    }
    let canonical = Cidr::parse(text).map(Cidr::text).unwrap_or_default();
    if canonical != text {
        field.invalid(text, format!("must be in canonical form (\"{canonical}\")"));
    }
}

/// What to warn about in a range that is fine or was so once.
pub(super) fn warnings(field: Field<'_>) -> Vec<String> {
    let (text, path) = (field.text(), field.path());
    let mut warnings = Vec::new();
    let Some(range) = Cidr::parse(text) else { return warnings };
    let canonical = range.text();
    if range.address != range.network() {
        let one = format!("{}/{}", range.address, range.width());
        warnings.push(format!(
            "{path}: CIDR value {text:?} is ambiguous in this context (should be {canonical:?} or {one:?}?)"
        ));
    }
    if has_leading_zeros(text) || is_mapped(range, text) {
        warnings.push(format!("{path}: non-standard CIDR value {text:?} is invalid: use {canonical:?}"));
    }
    if warnings.is_empty() && range.is_v6() && canonical != text {
        warnings.push(format!(
            "{path}: IPv6 CIDR value {text:?} should be in RFC 5952 canonical format ({canonical:?})"
        ));
    }
    warnings
}

fn has_leading_zeros(text: &str) -> bool {
    let (address, bits) = text.split_once('/').unwrap_or((text, ""));
    address.parse::<IpAddr>().is_err() || (bits.len() > 1 && bits.starts_with('0'))
}

fn is_mapped(range: Cidr, text: &str) -> bool {
    range.address.is_ipv4() && text.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_go_once_did() {
        let range = |text| Cidr::parse(text).expect("a range");
        assert_eq!(range("010.1.2.3/08").text(), "10.0.0.0/8");
        assert_eq!(range("::ffff:10.1.0.0/104").text(), "10.0.0.0/8");
        assert_eq!(range("FD00::1/0").text(), "::/0");
        for text in ["10.0.0.0/33", "10.0.0.0", "10.0.0.0/", "10.0.0.0/+8", "x/8", "::/129"] {
            assert!(Cidr::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn ranges_know_their_parts() {
        let contains = |one, other| {
            let range = |text| Cidr::parse(text).expect("a range");
            range(one).strictly_contains(range(other))
        };
        assert!(contains("10.0.0.0/8", "10.1.0.0/16"));
        assert!(!contains("10.0.0.0/8", "10.0.0.0/8"));
        assert!(!contains("10.0.0.0/8", "11.0.0.0/16"));
        assert!(!contains("10.0.0.0/8", "fd00::/16"));
    }
}
