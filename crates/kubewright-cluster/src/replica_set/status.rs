use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetStatus},
        core::v1::Pod,
    },
    apimachinery::pkg::apis::meta::v1::Time,
};

use super::decision;
use crate::pod::{self, Availability};

const REPLICA_FAILURE: &str = "ReplicaFailure";

/// Why pods could not be created or deleted.
#[derive(Debug)]
pub(super) struct Failure {
    /// `FailedCreate` or `FailedDelete`.
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// A status, and when it changes by the mere passing of time.
#[derive(Debug, PartialEq)]
pub(super) struct Report {
    pub(super) status: ReplicaSetStatus,
    pub(super) check_after: Option<Duration>,
}

/// Counts the pods of a ReplicaSet, active and terminating ones.
pub(super) fn report(
    replica_set: &ReplicaSet,
    pods: &[Arc<Pod>],
    failure: Option<&Failure>,
    now: Timestamp,
) -> Report {
    let min_ready_seconds = replica_set.spec.min_ready_seconds.unwrap_or(0);
    let labels = replica_set
        .spec
        .template
        .as_ref()
        .and_then(|template| template.metadata.as_ref())
        .and_then(|meta| meta.labels.as_ref());
    let mut counts = Counts::default();
    let mut check_after: Option<Duration> = None;
    for pod in pods {
        if pod::is_terminating(pod) {
            counts.terminating += 1;
        }
        if !pod::is_active(pod) {
            continue;
        }
        counts.replicas += 1;
        let own = pod.metadata.labels.as_ref();
        if labels.is_none_or(|labels| labels.iter().all(|(k, v)| own.and_then(|own| own.get(k)) == Some(v))) {
            counts.fully_labeled += 1;
        }
        if pod::is_ready(pod) {
            counts.ready += 1;
        }
        match pod::availability(pod, min_ready_seconds, now) {
            Availability::Now => counts.available += 1,
            Availability::After(left) => {
                check_after = Some(check_after.map_or(left, |earliest| earliest.min(left)));
            }
            Availability::Unknown => {}
        }
    }
    let nonzero = |count: i32| (count != 0).then_some(count);
    let status = ReplicaSetStatus {
        replicas: counts.replicas,
        fully_labeled_replicas: nonzero(counts.fully_labeled),
        ready_replicas: nonzero(counts.ready),
        available_replicas: nonzero(counts.available),
        terminating_replicas: Some(counts.terminating),
        observed_generation: replica_set.metadata.generation,
        conditions: conditions(replica_set, counts.replicas, failure, now),
    };
    Report { status, check_after }
}

#[derive(Default)]
struct Counts {
    replicas: i32,
    fully_labeled: i32,
    ready: i32,
    available: i32,
    terminating: i32,
}

/// The conditions of the ReplicaSet with ReplicaFailure set or removed.
fn conditions(
    replica_set: &ReplicaSet,
    replicas: i32,
    failure: Option<&Failure>,
    now: Timestamp,
) -> Option<Vec<ReplicaSetCondition>> {
    let current = replica_set.status.as_ref().and_then(|status| status.conditions.clone());
    let has_failure = |conditions: &[ReplicaSetCondition]| {
        conditions.iter().any(|condition| condition.type_.as_deref() == Some(REPLICA_FAILURE))
    };
    let mut conditions = current.unwrap_or_default();
    match failure {
        // A failure that is reported already keeps its time.
        Some(_) if has_failure(&conditions) => {}
        // A failure that does not keep the ReplicaSet from its size is none.
        Some(failure) if usize::try_from(replicas) != Ok(decision::replicas(replica_set)) => {
            conditions.push(ReplicaSetCondition {
                type_: Some(REPLICA_FAILURE.into()),
                status: Some("True".into()),
                reason: Some(failure.reason.into()),
                message: Some(failure.message.clone()),
                last_transition_time: Some(Time(now)),
            });
        }
        Some(_) => {}
        None => conditions.retain(|condition| condition.type_.as_deref() != Some(REPLICA_FAILURE)),
    }
    (!conditions.is_empty()).then_some(conditions)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::{
        api::{
            apps::v1::ReplicaSetSpec,
            core::v1::{PodCondition, PodStatus, PodTemplateSpec},
        },
        apimachinery::pkg::apis::meta::v1::ObjectMeta,
    };

    use super::*;

    fn at(time: &str) -> Timestamp {
        time.parse().expect("a valid timestamp")
    }

    fn labels() -> Option<BTreeMap<String, String>> {
        Some(BTreeMap::from([("app".into(), "web".into()), ("tier".into(), "front".into())]))
    }

    fn replica_set(min_ready_seconds: i32) -> ReplicaSet {
        let mut replica_set = ReplicaSet {
            spec: ReplicaSetSpec {
                replicas: Some(3),
                min_ready_seconds: Some(min_ready_seconds),
                template: Some(PodTemplateSpec {
                    metadata: Some(ObjectMeta { labels: labels(), ..ObjectMeta::default() }),
                    spec: None,
                }),
                ..ReplicaSetSpec::default()
            },
            ..ReplicaSet::default()
        };
        replica_set.metadata.generation = Some(4);
        replica_set
    }

    fn ready(since: &str) -> Pod {
        let mut pod = Pod {
            status: Some(PodStatus {
                phase: Some("Running".into()),
                conditions: Some(vec![PodCondition {
                    type_: "Ready".into(),
                    status: "True".into(),
                    last_transition_time: Some(Time(at(since))),
                    ..PodCondition::default()
                }]),
                ..PodStatus::default()
            }),
            ..Pod::default()
        };
        pod.metadata.labels = labels();
        pod
    }

    #[test]
    fn pods_are_counted_by_what_they_are() {
        let mut partly_labelled = ready("2030-01-01T00:00:08Z");
        partly_labelled.metadata.labels.as_mut().expect("labels").remove("tier");
        let mut finished = ready("2030-01-01T00:00:00Z");
        finished.status.as_mut().expect("a status").phase = Some("Failed".into());
        let mut terminating = ready("2030-01-01T00:00:00Z");
        terminating.metadata.deletion_timestamp = Some(Time(at("2030-01-01T00:00:00Z")));
        let pods = [ready("2030-01-01T00:00:00Z"), partly_labelled, Pod::default(), finished, terminating]
            .map(Arc::new);

        let report = report(&replica_set(10), &pods, None, at("2030-01-01T00:00:10Z"));
        assert_eq!(
            report.status,
            ReplicaSetStatus {
                replicas: 3,
                fully_labeled_replicas: Some(1),
                ready_replicas: Some(2),
                available_replicas: Some(1),
                terminating_replicas: Some(1),
                observed_generation: Some(4),
                conditions: None,
            }
        );
        assert_eq!(report.check_after, Some(Duration::from_secs(8)));
    }

    #[test]
    fn a_failure_is_reported_once_and_withdrawn() {
        let mut replica_set = replica_set(0);
        let failure = Failure { reason: "FailedCreate", message: "quota".into() };
        let first = report(&replica_set, &[], Some(&failure), at("2030-01-01T00:00:00Z"));
        let condition = first.status.conditions.as_ref().expect("a condition")[0].clone();
        assert_eq!(condition.reason.as_deref(), Some("FailedCreate"));

        replica_set.status = Some(first.status.clone());
        let again = report(&replica_set, &[], Some(&failure), at("2030-01-01T00:00:30Z"));
        assert_eq!(again.status, first.status);
        assert_eq!(report(&replica_set, &[], None, at("2030-01-01T00:00:40Z")).status.conditions, None);
    }
}
