use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::{api::core::v1::NamespaceCondition, apimachinery::pkg::apis::meta::v1::Time};

/// How far the deletion of a namespace's contents has come.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Why discovery failed, if it did.
    pub(super) discovery_failure: Option<String>,
    /// What could not be deleted, and why.
    pub(super) failures: Vec<String>,
    /// The number of objects left, by resource, as `pods.` or `deployments.apps`.
    pub(super) remaining: BTreeMap<String, usize>,
    /// The number of objects that a finalizer keeps, by finalizer.
    pub(super) finalizers: BTreeMap<String, usize>,
}

impl Progress {
    pub(super) fn is_complete(&self) -> bool {
        self.discovery_failure.is_none() && self.failures.is_empty() && self.remaining.is_empty()
    }

    /// The conditions of the namespace, those that did not change with their times, those of others kept.
    pub(super) fn conditions(
        &self,
        current: &[NamespaceCondition],
        now: Timestamp,
    ) -> Vec<NamespaceCondition> {
        let ours = self.verdicts();
        let mut conditions: Vec<_> = current
            .iter()
            .filter(|condition| ours.iter().all(|(kind, ..)| *kind != condition.type_))
            .cloned()
            .collect();
        for (kind, status, reason, message) in ours {
            let before = current.iter().find(|condition| condition.type_ == kind);
            let since = before
                .filter(|before| before.status == status)
                .and_then(|before| before.last_transition_time.clone());
            conditions.push(NamespaceCondition {
                type_: kind.into(),
                status: status.into(),
                reason: Some(reason.into()),
                message: Some(message),
                last_transition_time: since.or(Some(Time(now))),
            });
        }
        conditions
    }

    fn verdicts(&self) -> [(&'static str, &'static str, &'static str, String); 5] {
        let discovery = "NamespaceDeletionDiscoveryFailure";
        let content = "NamespaceDeletionContentFailure";
        let remaining = "NamespaceContentRemaining";
        let finalizers = "NamespaceFinalizersRemaining";
        let list = |counts: &BTreeMap<String, usize>, verb: &str| {
            let entries: Vec<_> = counts
                .iter()
                .map(|(name, count)| format!("{name} {verb} {count} resource instances"))
                .collect();
            entries.join(", ")
        };
        [
            match &self.discovery_failure {
                None => (
                    discovery,
                    "False",
                    "ResourcesDiscovered",
                    "All resources successfully discovered".into(),
                ),
                Some(error) => (
                    discovery,
                    "True",
                    "DiscoveryFailed",
                    format!("Discovery failed for some groups, 1 failing: {error}"),
                ),
            },
            (
                "NamespaceDeletionGroupVersionParsingFailure",
                "False",
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed".into(),
            ),
            if self.failures.is_empty() {
                (
                    content,
                    "False",
                    "ContentDeleted",
                    "All content successfully deleted, may be waiting on finalization".into(),
                )
            } else {
                (
                    content,
                    "True",
                    "ContentDeletionFailed",
                    format!(
                        "Failed to delete all resource types, {} remaining: {}",
                        self.failures.len(),
                        self.failures.join(", ")
                    ),
                )
            },
            if self.remaining.is_empty() {
                (remaining, "False", "ContentRemoved", "All content successfully removed".into())
            } else {
                let message = format!("Some resources are remaining: {}", list(&self.remaining, "has"));
                (remaining, "True", "SomeResourcesRemain", message)
            },
            if self.finalizers.is_empty() {
                (
                    finalizers,
                    "False",
                    "ContentHasNoFinalizers",
                    "All content-preserving finalizers finished".into(),
                )
            } else {
                let message = format!(
                    "Some content in the namespace has finalizers remaining: {}",
                    list(&self.finalizers, "in")
                );
                (finalizers, "True", "SomeFinalizersRemain", message)
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: &str) -> Timestamp {
        time.parse().expect("a valid timestamp")
    }

    #[test]
    fn what_remains_is_told_as_kubectl_users_know_it() {
        let progress = Progress {
            remaining: BTreeMap::from([("pods.".into(), 2), ("deployments.apps".into(), 1)]),
            finalizers: BTreeMap::from([("example.com/hold".into(), 2)]),
            ..Progress::default()
        };
        assert!(!progress.is_complete());
        let conditions = progress.conditions(&[], at("2030-01-01T00:00:00Z"));
        let told: Vec<_> =
            conditions.iter().map(|c| (&*c.type_, &*c.status, c.message.as_deref().unwrap_or(""))).collect();
        assert_eq!(
            told,
            [
                ("NamespaceDeletionDiscoveryFailure", "False", "All resources successfully discovered"),
                (
                    "NamespaceDeletionGroupVersionParsingFailure",
                    "False",
                    "All legacy kube types successfully parsed"
                ),
                (
                    "NamespaceDeletionContentFailure",
                    "False",
                    "All content successfully deleted, may be waiting on finalization"
                ),
                (
                    "NamespaceContentRemaining",
                    "True",
                    "Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances"
                ),
                (
                    "NamespaceFinalizersRemaining",
                    "True",
                    "Some content in the namespace has finalizers remaining: example.com/hold in 2 resource instances"
                ),
            ]
        );
    }

    #[test]
    fn times_change_with_the_status_alone() {
        let empty = Progress::default();
        assert!(empty.is_complete());
        let first = empty.conditions(&[], at("2030-01-01T00:00:00Z"));
        let held = Progress { remaining: BTreeMap::from([("pods.".into(), 1)]), ..Progress::default() };
        let second = held.conditions(&first, at("2030-01-01T00:00:10Z"));
        let changed: Vec<_> = second
            .iter()
            .filter(|condition| condition.last_transition_time == Some(Time(at("2030-01-01T00:00:10Z"))))
            .map(|condition| &*condition.type_)
            .collect();
        assert_eq!(changed, ["NamespaceContentRemaining"]);
    }
}
