//! IP addresses in the fields that took sloppy ones once.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Field;

/// Checks that the text is an address, and not one that other software may read otherwise.
pub(crate) fn validate_ip(address: Field<'_>) {
    let text = address.text();
    match (text.parse::<IpAddr>(), parse_sloppy(text)) {
        (_, None) => {
            address.invalid(text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
        }
        (Err(_), Some(_)) => address.invalid(text, "must not have leading 0s"),
        (Ok(IpAddr::V6(ip)), _) if ip.to_ipv4_mapped().is_some() => {
            address.invalid(text, "must not be an IPv4-mapped IPv6 address");
        }
        (Ok(_), Some(_)) => {}
    }
}

/// What to warn about an address that is allowed.
pub(crate) fn ip_warning(address: Field<'_>) -> Option<String> {
    let (text, path) = (address.text(), address.path());
    let sloppy = parse_sloppy(text)?;
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V6(ip)) if ip.to_ipv4_mapped().is_none() => {
            let canonical = sloppy.to_string();
            (canonical != text).then(|| {
                format!(
                    "{path}: IPv6 address {text:?} should be in RFC 5952 canonical format ({canonical:?})"
                )
            })
        }
        Ok(IpAddr::V4(_)) => None,
        _ => Some(format!("{path}: non-standard IP address {text:?} is invalid: use \"{sloppy}\"")),
    }
}

/// Reads an address whose numbers may have zeros before them. One that is IPv4 in IPv6's clothes is IPv4.
pub(crate) fn parse_sloppy(text: &str) -> Option<IpAddr> {
    let sloppy_v4 = |text: &str| {
        let mut octets = [0; 4];
        let mut parts = text.split('.');
        for octet in &mut octets {
            let part = parts.next().filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()))?;
            *octet = part.parse::<u8>().ok()?;
        }
        parts.next().is_none().then(|| Ipv4Addr::from(octets))
    };
    if !text.contains(':') {
        return sloppy_v4(text).map(IpAddr::V4);
    }
    let ip = match text.parse::<Ipv6Addr>() {
        Ok(ip) => ip,
        Err(_) => {
            // Zeros may stand before the numbers of a dotted tail, too.
            let (head, tail) = text.rsplit_once(':')?;
            format!("{head}:{}", sloppy_v4(tail)?).parse().ok()?
        }
    };
    Some(ip.to_ipv4_mapped().map_or(IpAddr::V6(ip), IpAddr::V4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sloppy_addresses() {
        let parse = |text| parse_sloppy(text).map(|ip| ip.to_string());
        assert_eq!(parse("010.002.003.004").as_deref(), Some("10.2.3.4"));
        assert_eq!(parse("::ffff:1.2.3.4").as_deref(), Some("1.2.3.4"));
        assert_eq!(parse("FE80:0::0abc").as_deref(), Some("fe80::abc"));
        assert_eq!(parse("1.2.3"), None);
        assert_eq!(parse("1.2.3.256"), None);
        assert_eq!(parse("::1%eth0"), None);
    }
}
