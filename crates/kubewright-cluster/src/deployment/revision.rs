use std::collections::BTreeMap;

use k8s_openapi::{
    api::apps::v1::{Deployment, ReplicaSet},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::strategy;

/// The revision a ReplicaSet or Deployment is at.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// The revisions a ReplicaSet was at before it was rolled back to, comma separated.
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The Deployment's replicas when the ReplicaSet was last scaled.
const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
/// The Deployment's replicas plus surge when the ReplicaSet was last scaled.
const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";

/// Annotations of a Deployment that its ReplicaSets do not inherit.
const NOT_INHERITED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
];

/// The longest revision history kept, in bytes; older revisions fall off.
const MAX_HISTORY: usize = 2000;

fn annotation<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    meta.annotations.as_ref()?.get(key).map(String::as_str)
}

/// The revision in the annotation; 0 when there is none or it is not a number.
pub(super) fn revision(meta: &ObjectMeta) -> i64 {
    annotation(meta, REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The Deployment's replicas that the ReplicaSet was last scaled for.
pub(super) fn desired_replicas(replica_set: &ReplicaSet) -> Option<i32> {
    annotation(&replica_set.metadata, DESIRED_REPLICAS)?.parse().ok()
}

/// The Deployment's replicas plus surge that the ReplicaSet was last scaled for.
pub(super) fn max_replicas(replica_set: &ReplicaSet) -> Option<i32> {
    annotation(&replica_set.metadata, MAX_REPLICAS)?.parse().ok()
}

/// Records the size of the Deployment on a ReplicaSet; says whether that changed anything.
pub(super) fn record_size(meta: &mut ObjectMeta, deployment: &Deployment) -> bool {
    let replicas = strategy::replicas(deployment);
    let max = replicas.saturating_add(strategy::max_surge(deployment));
    let annotations = meta.annotations.get_or_insert_default();
    let desired = set(annotations, DESIRED_REPLICAS, replicas.to_string());
    set(annotations, MAX_REPLICAS, max.to_string()) | desired
}

/// Brings the new ReplicaSet to `revision` and hands it the Deployment's annotations; says whether that
/// changed anything.
///
/// A ReplicaSet that had an older revision is one that was rolled back to: the old number moves into its
/// history, which is what `kubectl rollout history` shows.
pub(super) fn record_revision(meta: &mut ObjectMeta, deployment: &Deployment, new: i64) -> bool {
    let annotations = meta.annotations.get_or_insert_default();
    let mut changed = false;
    for (key, value) in deployment.metadata.annotations.iter().flatten() {
        if !NOT_INHERITED.contains(&key.as_str()) {
            changed |= set(annotations, key, value.clone());
        }
    }
    let old = annotations.get(REVISION).cloned();
    if old.as_ref().and_then(|text| text.parse::<i64>().ok()).unwrap_or(0) < new {
        annotations.insert(REVISION.into(), new.to_string());
        changed = true;
        if let Some(old) = old {
            let history = appended(annotations.get(REVISION_HISTORY).map_or("", String::as_str), &old);
            annotations.insert(REVISION_HISTORY.into(), history);
        }
    }
    changed
}

/// `history` with `revision` at its end, without as many of its oldest entries as it takes to fit.
fn appended(history: &str, revision: &str) -> String {
    let mut entries: Vec<&str> = history.split(',').filter(|entry| !entry.is_empty()).collect();
    entries.push(revision);
    let mut length = entries.iter().map(|entry| entry.len() + 1).sum::<usize>() - 1;
    let mut start = 0;
    while length > MAX_HISTORY && start + 1 < entries.len() {
        length -= entries[start].len() + 1;
        start += 1;
    }
    entries[start..].join(",")
}

fn set(annotations: &mut BTreeMap<String, String>, key: &str, value: String) -> bool {
    if annotations.get(key) == Some(&value) {
        return false;
    }
    annotations.insert(key.into(), value);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deployment(annotations: &[(&str, &str)]) -> Deployment {
        let mut deployment = Deployment::default();
        deployment.metadata.annotations =
            Some(annotations.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect());
        deployment
    }

    #[test]
    fn a_rollback_keeps_the_old_revision_in_history() {
        let deployment = deployment(&[]);
        let mut meta = ObjectMeta::default();
        assert!(record_revision(&mut meta, &deployment, 1));
        assert_eq!(annotation(&meta, REVISION_HISTORY), None);
        assert!(!record_revision(&mut meta, &deployment, 1));
        assert!(record_revision(&mut meta, &deployment, 3));
        assert!(record_revision(&mut meta, &deployment, 5));
        assert_eq!(revision(&meta), 5);
        assert_eq!(annotation(&meta, REVISION_HISTORY), Some("1,3"));
    }

    #[test]
    fn annotations_are_inherited_but_for_bookkeeping() {
        let deployment = deployment(&[
            ("kubernetes.io/change-cause", "because"),
            ("kubectl.kubernetes.io/last-applied-configuration", "{}"),
            (REVISION, "7"),
        ]);
        let mut meta = ObjectMeta::default();
        record_revision(&mut meta, &deployment, 1);
        let annotations = meta.annotations.expect("annotations");
        assert_eq!(annotations.keys().collect::<Vec<_>>(), [REVISION, "kubernetes.io/change-cause"]);
        assert_eq!(annotations[REVISION], "1");
    }

    #[test]
    fn history_is_bounded() {
        let mut history = String::new();
        for revision in 1..2000 {
            history = appended(&history, &revision.to_string());
            assert!(history.len() <= MAX_HISTORY);
        }
        assert!(history.ends_with(",1998,1999"), "{history}");
        assert_eq!(appended("", "1"), "1");
    }
}
