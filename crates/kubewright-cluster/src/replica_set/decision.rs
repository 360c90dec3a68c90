use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::{apps::v1::ReplicaSet, core::v1::Pod};
use kube::ResourceExt;

use super::rank;
use crate::ownership;

/// The most pods that one reconciliation creates or deletes.
const BURST: usize = 500;

/// What to do about a ReplicaSet's pods.
#[derive(Debug, PartialEq)]
pub(super) enum Decision {
    /// There are as many as it asks for.
    Keep,
    /// Create so many.
    Create(usize),
    /// Delete these.
    Delete(Vec<Arc<Pod>>),
}

/// The replicas a ReplicaSet asks for; 1 unless it says.
pub(super) fn replicas(replica_set: &ReplicaSet) -> usize {
    let replicas = replica_set.spec.replicas.unwrap_or(1);
    usize::try_from(replicas).unwrap_or(0)
}

/// Compares the `active` pods of a ReplicaSet with what it asks for.
///
/// `related` are the pods of all ReplicaSets of the same controller: pods that share a node with many of them
/// are the first to go.
pub(super) fn decide(
    replica_set: &ReplicaSet,
    mut active: Vec<Arc<Pod>>,
    related: &[Arc<Pod>],
    now: Timestamp,
) -> Decision {
    let wanted = replicas(replica_set);
    if active.len() < wanted {
        return Decision::Create((wanted - active.len()).min(BURST));
    }
    let surplus = (active.len() - wanted).min(BURST);
    if surplus == 0 {
        return Decision::Keep;
    }
    if surplus < active.len() {
        rank::sort(&mut active, related, now);
    }
    active.truncate(surplus);
    Decision::Delete(active)
}

/// A pod of the ReplicaSet's template; the API server completes its name.
pub(super) fn new_pod(replica_set: &ReplicaSet) -> Pod {
    let template = replica_set.spec.template.clone().unwrap_or_default();
    let meta = template.metadata.unwrap_or_default();
    let mut pod = Pod { spec: template.spec, ..Pod::default() };
    pod.metadata.generate_name = Some(format!("{}-", replica_set.name_any()));
    pod.metadata.namespace = replica_set.namespace();
    pod.metadata.labels = meta.labels;
    pod.metadata.annotations = meta.annotations;
    pod.metadata.finalizers = meta.finalizers;
    pod.metadata.owner_references = Some(vec![ownership::controller_reference(replica_set)]);
    pod
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::{
        api::{
            apps::v1::ReplicaSetSpec,
            core::v1::{PodSpec, PodTemplateSpec},
        },
        apimachinery::pkg::apis::meta::v1::ObjectMeta,
    };

    use super::*;

    fn replica_set(replicas: i32) -> ReplicaSet {
        let mut replica_set = ReplicaSet {
            spec: ReplicaSetSpec {
                replicas: Some(replicas),
                template: Some(PodTemplateSpec {
                    metadata: Some(ObjectMeta {
                        labels: Some(BTreeMap::from([("app".into(), "web".into())])),
                        annotations: Some(BTreeMap::from([("note".into(), "x".into())])),
                        ..ObjectMeta::default()
                    }),
                    spec: Some(PodSpec::default()),
                }),
                ..ReplicaSetSpec::default()
            },
            ..ReplicaSet::default()
        };
        replica_set.metadata.name = Some("web".into());
        replica_set.metadata.namespace = Some("ns".into());
        replica_set.metadata.uid = Some("u".into());
        replica_set
    }

    fn pods(count: usize) -> Vec<Arc<Pod>> {
        (0..count).map(|_| Arc::new(Pod::default())).collect()
    }

    #[test]
    fn the_difference_decides_within_a_burst() {
        let decide =
            |replicas, active| decide(&replica_set(replicas), pods(active), &[], Timestamp::UNIX_EPOCH);
        assert_eq!(decide(3, 3), Decision::Keep);
        assert_eq!(decide(3, 1), Decision::Create(2));
        assert_eq!(decide(2000, 0), Decision::Create(500));
        assert_eq!(decide(1, 3), Decision::Delete(pods(2)));
        assert_eq!(decide(0, 1200), Decision::Delete(pods(500)));
        assert_eq!(decide(-1, 0), Decision::Keep);
    }

    #[test]
    fn a_pod_is_of_the_template_and_controlled() {
        let pod = new_pod(&replica_set(1));
        assert_eq!(pod.metadata.generate_name.as_deref(), Some("web-"));
        assert_eq!(pod.metadata.namespace.as_deref(), Some("ns"));
        assert_eq!(pod.labels()["app"], "web");
        assert_eq!(pod.annotations()["note"], "x");
        assert!(ownership::is_controlled_by(&pod.metadata, Some("u")));
        let reference = ownership::controller_of(&pod.metadata).expect("a controller");
        assert_eq!((reference.kind.as_str(), reference.api_version.as_str()), ("ReplicaSet", "apps/v1"));
        assert_eq!(reference.block_owner_deletion, Some(true));
    }
}
