//! The addresses that services get.

use std::{
    collections::BTreeSet,
    fmt,
    net::{IpAddr, Ipv6Addr},
    str::FromStr,
};

use ipnet::IpNet;

/// The ranges of the addresses of services: one, or one of each family (kube-apiserver's `--service-cluster-ip-range`).
///
/// Services get addresses of the first, unless they say that they want another or both. The default is `10.96.0.0/12`.
///
/// ```
/// use kubewright_apiserver::ServiceRanges;
///
/// let ranges: ServiceRanges = "10.43.0.0/16,fd00:43::/112".parse()?;
/// assert_eq!(ranges.first_address().to_string(), "10.43.0.1");
/// # Ok::<(), kubewright_apiserver::ServiceRangeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceRanges {
    ranges: Vec<ServiceRange>,
}

/// Text that is no [`ServiceRanges`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ServiceRangeError(String);

/// One range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceRange {
    network: IpNet,
    /// The first and the last address that a service may have.
    first: u128,
    last: u128,
    /// From where on addresses are handed out: those below are left for who wants a certain one.
    dynamic: u128,
}

// === impl ServiceRanges ===

impl ServiceRanges {
    /// The address of the service `kubernetes`.
    #[must_use]
    pub fn first_address(&self) -> IpAddr {
        let [primary, ..] = self.ranges.as_slice() else { return Ipv6Addr::UNSPECIFIED.into() };
        primary.address(primary.first)
    }

    /// `IPv4` or `IPv6` for each range.
    pub(crate) fn families(&self) -> impl Iterator<Item = &'static str> {
        self.ranges.iter().map(ServiceRange::family)
    }

    /// The range of a family.
    pub(crate) fn of(&self, family: &str) -> Option<&ServiceRange> {
        self.ranges.iter().find(|range| range.family() == family)
    }

    /// The ranges as texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        self.ranges.iter().map(|range| range.network.to_string())
    }
}

impl Default for ServiceRanges {
    fn default() -> Self {
        let network = IpNet::from(ipnet::Ipv4Net::new_assert([10, 96, 0, 0].into(), 12));
        Self { ranges: vec![ServiceRange::new(network)] }
    }
}

impl fmt::Display for ServiceRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.texts().collect::<Vec<_>>().join(","))
    }
}

impl FromStr for ServiceRanges {
    type Err = ServiceRangeError;

    fn from_str(text: &str) -> Result<Self, ServiceRangeError> {
        let ranges: Result<Vec<_>, _> = text.split(',').map(ServiceRange::parse).collect();
        let ranges = ranges?;
        match ranges.as_slice() {
            [_] => {}
            [one, two] if one.family() != two.family() => {}
            [_, _] => {
                return Err(ServiceRangeError(format!(
                    "{text} has two ranges of one family; give one of IPv4 and one of IPv6, or a single one"
                )));
            }
            _ => return Err(ServiceRangeError(format!("{text} has more than two ranges"))),
        }
        Ok(Self { ranges })
    }
}

// === impl ServiceRange ===

impl ServiceRange {
    fn parse(text: &str) -> Result<Self, ServiceRangeError> {
        let example = "give one such as 10.96.0.0/12 or fd00:10:96::/112";
        let network: IpNet = text
            .parse()
            .map_err(|_| ServiceRangeError(format!("{text:?} is not a range of addresses; {example}")))?;
        let network = network.trunc();
        let bits = network.max_prefix_len() - network.prefix_len();
        if bits < 3 {
            return Err(ServiceRangeError(format!("{text} has fewer than 8 addresses; {example}")));
        }
        if network.addr().is_ipv6() && network.prefix_len() < SHORTEST_V6 {
            return Err(ServiceRangeError(format!(
                "{text} is too large; the prefix of an IPv6 range must have {SHORTEST_V6} bits or more"
            )));
        }
        Ok(Self::new(network))
    }

    fn new(network: IpNet) -> Self {
        let size = 1_u128 << (network.max_prefix_len() - network.prefix_len());
        let start = number(network.network());
        // IPv6 has no broadcast address.
        let last = start + size - if network.addr().is_ipv4() { 2 } else { 1 };
        let first = start + 1;
        let reserved = if size <= 16 { 0 } else { (size / 16).clamp(16, 256) };
        Self { network, first, last, dynamic: first + reserved }
    }

    pub(crate) fn family(&self) -> &'static str {
        if self.network.addr().is_ipv4() { "IPv4" } else { "IPv6" }
    }

    /// Whether a service may have the address.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.network.addr().is_ipv4()
            && (self.first..=self.last).contains(&number(address))
    }

    /// The address to hand out: the lowest free one, those left for others last.
    pub(crate) fn next(&self, taken: &BTreeSet<IpAddr>) -> Option<IpAddr> {
        let numbers = (self.dynamic..=self.last).chain(self.first..self.dynamic);
        numbers.map(|number| self.address(number)).find(|address| !taken.contains(address))
    }

    fn address(&self, number: u128) -> IpAddr {
        match u32::try_from(number) {
            Ok(number) if self.network.addr().is_ipv4() => IpAddr::V4(number.into()),
            _ => IpAddr::V6(number.into()),
        }
    }
}

/// What kube-apiserver demands of ranges of IPv6.
const SHORTEST_V6: u8 = 64;

fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u32::from(address).into(),
        IpAddr::V6(address) => address.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_one_of_each_family_at_most() {
        for (text, first) in [
            ("10.43.0.0/16", "10.43.0.1"),
            ("10.43.7.9/16", "10.43.0.1"),
            ("fd00:43::/112,10.43.0.0/16", "fd00:43::1"),
        ] {
            let ranges: ServiceRanges = text.parse().expect(text);
            assert_eq!(ranges.first_address().to_string(), first);
        }
        for (text, expected) in [
            ("", "not a range of addresses"),
            ("10.43.0.0", "not a range of addresses"),
            ("10.43.0.0/16,", "not a range of addresses"),
            ("10.43.0.0/30", "fewer than 8 addresses"),
            ("fd00::/60", "64 bits or more"),
            ("10.43.0.0/16,10.44.0.0/16", "two ranges of one family"),
            ("10.43.0.0/16,fd00::/112,10.44.0.0/16", "more than two"),
        ] {
            let error = text.parse::<ServiceRanges>().expect_err(text).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn the_lower_addresses_are_handed_out_last() {
        let ranges: ServiceRanges = "10.0.0.0/27,fd00::/124".parse().expect("ranges");
        let all = |family: &str| {
            let range = ranges.of(family).expect("a range");
            let mut taken = BTreeSet::new();
            let mut handed_out = Vec::new();
            while let Some(address) = range.next(&taken) {
                assert!(range.contains(address));
                taken.insert(address);
                handed_out.push(address.to_string());
            }
            handed_out
        };
        let v4 = all("IPv4");
        assert_eq!(
            (v4.len(), v4[0].as_str(), v4[13].as_str(), v4[14].as_str()),
            (30, "10.0.0.17", "10.0.0.30", "10.0.0.1")
        );
        let v6 = all("IPv6");
        assert_eq!((v6.len(), v6[0].as_str(), v6[14].as_str()), (15, "fd00::1", "fd00::f"));
    }
}
