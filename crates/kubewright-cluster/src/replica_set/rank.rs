use std::{cmp::Ordering, collections::BTreeMap, sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{ContainerStatus, Pod},
    apimachinery::pkg::apis::meta::v1::Time,
};

use crate::pod;

/// The annotation by which a user says which pods to keep when a ReplicaSet shrinks: the lowest go first.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// Sorts `pods` so that those whose deletion hurts least come first.
///
/// The order is Kubernetes': without a node first, then pending, not ready, of lower deletion cost, on a node
/// with more of the `related` pods, ready for a shorter time, with more restarts, younger. Times are compared
/// by their order of magnitude, so that one burst of pods does not lose its youngest ones each time; the uid
/// decides between equals.
pub(super) fn sort(pods: &mut [Arc<Pod>], related: &[Arc<Pod>], now: Timestamp) {
    let mut on_node: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in related.iter().filter(|pod| pod::is_active(pod)) {
        *on_node.entry(node(pod)).or_default() += 1;
    }
    pods.sort_by(|one, two| {
        let neighbours = |pod: &Pod| on_node.get(node(pod)).copied().unwrap_or(0);
        compare(one, two, now, neighbours)
    });
}

fn compare(one: &Pod, two: &Pod, now: Timestamp, neighbours: impl Fn(&Pod) -> usize) -> Ordering {
    let assigned = |pod: &Pod| !node(pod).is_empty();
    let phase = |pod: &Pod| match pod::phase(pod) {
        "Pending" => 0,
        "Unknown" => 1,
        _ => 2,
    };
    assigned(one)
        .cmp(&assigned(two))
        .then_with(|| phase(one).cmp(&phase(two)))
        .then_with(|| pod::is_ready(one).cmp(&pod::is_ready(two)))
        .then_with(|| deletion_cost(one).cmp(&deletion_cost(two)))
        .then_with(|| neighbours(two).cmp(&neighbours(one)))
        .then_with(|| match (pod::is_ready(one), pod::is_ready(two)) {
            (true, true) => younger_first(pod::ready_since(one), pod::ready_since(two), now),
            _ => Ordering::Equal,
        })
        .then_with(|| restarts(two).cmp(&restarts(one)))
        .then_with(|| younger_first(created(one), created(two), now))
        .then_with(|| one.metadata.uid.cmp(&two.metadata.uid))
}

/// Compares two times by the magnitude of their age; one without a time counts as the youngest.
fn younger_first(one: Option<Timestamp>, two: Option<Timestamp>, now: Timestamp) -> Ordering {
    match (one, two) {
        (Some(one), Some(two)) => magnitude(one, now).cmp(&magnitude(two, now)),
        (one, two) => one.is_some().cmp(&two.is_some()),
    }
}

fn magnitude(time: Timestamp, now: Timestamp) -> u32 {
    let age = Duration::try_from(now.duration_since(time)).unwrap_or(Duration::ZERO);
    age.as_nanos().checked_ilog2().map_or(0, |log| log + 1)
}

fn node(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default()
}

fn deletion_cost(pod: &Pod) -> i32 {
    let annotations = pod.metadata.annotations.as_ref();
    annotations.and_then(|all| all.get(DELETION_COST)).and_then(|cost| cost.parse().ok()).unwrap_or(0)
}

fn restarts(pod: &Pod) -> i32 {
    let count = |statuses: &Option<Vec<ContainerStatus>>| {
        statuses.iter().flatten().map(|status| status.restart_count).max().unwrap_or(0)
    };
    pod.status
        .as_ref()
        .map_or(0, |status| count(&status.container_statuses).max(count(&status.init_container_statuses)))
}

fn created(pod: &Pod) -> Option<Timestamp> {
    pod.metadata.creation_timestamp.as_ref().map(|Time(time)| *time)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{PodCondition, PodSpec, PodStatus};

    use super::*;

    fn pod(name: &str, change: impl FnOnce(&mut Pod)) -> Arc<Pod> {
        let mut pod = Pod {
            spec: Some(PodSpec { node_name: Some("a".into()), ..PodSpec::default() }),
            status: Some(PodStatus {
                phase: Some("Running".into()),
                conditions: Some(vec![PodCondition {
                    type_: "Ready".into(),
                    status: "True".into(),
                    last_transition_time: Some(Time(at("2030-01-01T00:00:00Z"))),
                    ..PodCondition::default()
                }]),
                ..PodStatus::default()
            }),
            ..Pod::default()
        };
        pod.metadata.name = Some(name.into());
        pod.metadata.uid = Some(name.into());
        pod.metadata.creation_timestamp = Some(Time(at("2030-01-01T00:00:00Z")));
        change(&mut pod);
        Arc::new(pod)
    }

    fn at(time: &str) -> Timestamp {
        time.parse().expect("a valid timestamp")
    }

    fn status(pod: &mut Pod) -> &mut PodStatus {
        pod.status.get_or_insert_default()
    }

    #[test]
    fn the_least_useful_pod_goes_first() {
        let expected = [
            pod("no-node", |pod| pod.spec.get_or_insert_default().node_name = None),
            pod("pending", |pod| status(pod).phase = Some("Pending".into())),
            pod("not-ready", |pod| status(pod).conditions = None),
            pod("cheap", |pod| {
                pod.metadata.annotations = Some(BTreeMap::from([(DELETION_COST.into(), "-5".into())]));
            }),
            pod("crowded", |pod| pod.spec.get_or_insert_default().node_name = Some("b".into())),
            pod("fresh", |pod| {
                status(pod).conditions.as_mut().expect("conditions")[0].last_transition_time =
                    Some(Time(at("2030-01-01T00:59:50Z")));
            }),
            pod("restarted", |pod| {
                status(pod).container_statuses =
                    Some(vec![ContainerStatus { restart_count: 3, ..ContainerStatus::default() }]);
            }),
            pod("young", |pod| {
                pod.metadata.creation_timestamp = Some(Time(at("2030-01-01T00:59:00Z")));
            }),
            pod("z-old", |_| {}),
        ];
        let mut related = expected.to_vec();
        related.extend((0..20).map(|_| {
            pod("x", |pod| {
                pod.spec.get_or_insert_default().node_name = Some("b".into());
            })
        }));
        let mut pods: Vec<_> = expected.iter().rev().cloned().collect();
        sort(&mut pods, &related, at("2030-01-01T01:00:00Z"));
        let names = |pods: &[Arc<Pod>]| pods.iter().map(|pod| pod.metadata.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&pods), names(&expected));
    }

    #[test]
    fn times_compare_by_magnitude() {
        let now = at("2030-01-01T01:00:00Z");
        let (one, two) = (Some(at("2030-01-01T00:00:00Z")), Some(at("2030-01-01T00:00:05Z")));
        assert_eq!(younger_first(one, two, now), Ordering::Equal);
        assert_eq!(younger_first(Some(at("2030-01-01T00:59:59Z")), one, now), Ordering::Less);
    }
}
