//! Addresses of services and endpoints.

use std::net::IpAddr;

use super::{Field, ip};

/// Checks an address, unless the object had it before. Says whether something is wrong.
pub(super) fn check_new(address: Field<'_>, known: &[&str]) -> bool {
    let before = address.report().len();
    if !known.contains(&address.text()) {
        ip::validate_ip(address);
    }
    address.report().len() > before
}

/// Checks an address which must be written in the one right way. Says whether something is wrong.
pub(super) fn check_canonical(address: Field<'_>) -> bool {
    if check_new(address, &[]) {
        return true;
    }
    let canonical = ip::parse_sloppy(address.text()).map(|address| address.to_string()).unwrap_or_default();
    if canonical != address.text() {
        address.invalid(address.text(), format!("must be in canonical form (\"{canonical}\")"));
    }
    canonical != address.text()
}

/// Checks that others than the node itself can reach an address.
pub(super) fn check_reachable(field: Field<'_>) {
    let text = field.text();
    let Some(address) = ip::parse_sloppy(text) else {
        field.invalid(text, "must be a valid IP address");
        return;
    };
    if address.is_unspecified() {
        field.invalid(text, format!("may not be unspecified ({text})"));
    }
    if address.is_loopback() {
        field.invalid(text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    let (is_link_local, is_local_multicast) = match address {
        IpAddr::V4(address) => (address.is_link_local(), matches!(address.octets(), [224, 0, 0, _])),
        IpAddr::V6(address) => {
            let [first, ..] = address.segments();
            (first & 0xffc0 == 0xfe80, first & 0xff0f == 0xff02)
        }
    };
    if is_link_local {
        field.invalid(text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if is_local_multicast {
        field.invalid(text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

/// Whether a text means an address of version 4.
pub(super) fn is_v4(text: &str) -> bool {
    ip::parse_sloppy(text).is_some_and(|address| address.is_ipv4())
}

/// Whether a text means an address of version 6.
pub(super) fn is_v6(text: &str) -> bool {
    ip::parse_sloppy(text).is_some_and(|address| address.is_ipv6())
}
