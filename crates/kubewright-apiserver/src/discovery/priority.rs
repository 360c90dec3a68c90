//! The order of groups and versions in discovery.

use std::cmp::{Ordering, Reverse};

/// Compares versions as Kubernetes does, the better one greater: `v2 > v1 > v2beta1 > v1beta2 > v1alpha1`,
/// and any of these greater than a version of another form, among which the first by name is the greatest.
#[must_use]
pub fn compare_versions(a: &str, b: &str) -> Ordering {
    match (KubeVersion::parse(a), KubeVersion::parse(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => b.cmp(a),
    }
}

/// Ordered by stability, then major, then minor number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct KubeVersion {
    stability: Stability,
    major: u64,
    minor: u64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    Alpha,
    Beta,
    Stable,
}

impl KubeVersion {
    fn parse(version: &str) -> Option<Self> {
        let version = version.strip_prefix('v')?;
        let digits = version.find(|c: char| !c.is_ascii_digit()).unwrap_or(version.len());
        let (major, rest) = version.split_at(digits);
        let major = major.parse().ok()?;
        if rest.is_empty() {
            return Some(Self { stability: Stability::Stable, major, minor: 0 });
        }
        let (stability, minor) = match (rest.strip_prefix("alpha"), rest.strip_prefix("beta")) {
            (Some(minor), _) => (Stability::Alpha, minor),
            (_, Some(minor)) => (Stability::Beta, minor),
            _ => return None,
        };
        // `parse` alone would accept a sign.
        if !minor.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Self { stability, major, minor: minor.parse().ok()? })
    }
}

/// The sort key of a group: the higher priority first, then the name. Custom groups have 1000.
pub(super) fn group_order(group: &str) -> (Reverse<u32>, String) {
    let priority = GROUPS.iter().find(|(name, _)| *name == group).map_or(1000, |(_, priority)| *priority);
    (Reverse(priority), group.to_owned())
}

/// Whether the group belongs to Kubernetes itself.
pub(super) fn is_built_in(group: &str) -> bool {
    GROUPS.iter().any(|(name, _)| *name == group)
}

/// `groupPriorityMinimum` of the built-in groups.
const GROUPS: [(&str, u32); 23] = [
    ("apiregistration.k8s.io", 20000),
    ("", 18000),
    ("apps", 17800),
    ("events.k8s.io", 17750),
    ("authentication.k8s.io", 17700),
    ("authorization.k8s.io", 17600),
    ("autoscaling", 17500),
    ("batch", 17400),
    ("certificates.k8s.io", 17300),
    ("networking.k8s.io", 17200),
    ("policy", 17100),
    ("rbac.authorization.k8s.io", 17000),
    ("storage.k8s.io", 16800),
    ("apiextensions.k8s.io", 16700),
    ("admissionregistration.k8s.io", 16700),
    ("scheduling.k8s.io", 16600),
    ("coordination.k8s.io", 16500),
    ("node.k8s.io", 16300),
    ("discovery.k8s.io", 16200),
    ("resource.k8s.io", 16200),
    ("flowcontrol.apiserver.k8s.io", 16100),
    ("internal.apiserver.k8s.io", 16000),
    ("storagemigration.k8s.io", 15800),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_sort_by_stability_then_number() {
        let sorted =
            ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];
        for pair in sorted.windows(2) {
            assert_eq!(compare_versions(pair[0], pair[1]), Ordering::Greater, "{pair:?}");
        }
        assert_eq!(compare_versions("v1", "v1"), Ordering::Equal);
        for odd in ["v", "v1gamma1", "v1beta", "v1beta+1", "1", "v99999999999999999999"] {
            assert_eq!(compare_versions("v1alpha1", odd), Ordering::Greater, "{odd}");
        }
    }
}
