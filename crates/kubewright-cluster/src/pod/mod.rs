//! What the controllers ask of a Pod: is it active, ready, available?
//!
//! Pure functions over the Pod's status, shared by every workload controller so that all count alike.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Pod, PodCondition},
    apimachinery::pkg::apis::meta::v1::Time,
};

/// The pod's phase; a pod without status counts as pending.
pub(crate) fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or("Pending")
}

/// Whether the pod has come to its end: phase Succeeded or Failed.
pub(crate) fn is_finished(pod: &Pod) -> bool {
    matches!(phase(pod), "Succeeded" | "Failed")
}

/// Whether the pod counts towards its controller's replicas: not finished and not being deleted.
pub(crate) fn is_active(pod: &Pod) -> bool {
    !is_finished(pod) && pod.metadata.deletion_timestamp.is_none()
}

/// Whether the pod is being deleted and its containers may still run.
pub(crate) fn is_terminating(pod: &Pod) -> bool {
    !is_finished(pod) && pod.metadata.deletion_timestamp.is_some()
}

/// The condition of type `kind`.
pub(crate) fn condition<'a>(pod: &'a Pod, kind: &str) -> Option<&'a PodCondition> {
    pod.status.as_ref()?.conditions.as_ref()?.iter().find(|condition| condition.type_ == kind)
}

/// Whether the pod's Ready condition is true.
pub(crate) fn is_ready(pod: &Pod) -> bool {
    condition(pod, "Ready").is_some_and(|ready| ready.status == "True")
}

/// Since when the pod is ready; `None` while it is not, or when the condition has no time.
pub(crate) fn ready_since(pod: &Pod) -> Option<Timestamp> {
    let ready = condition(pod, "Ready").filter(|ready| ready.status == "True")?;
    ready.last_transition_time.as_ref().map(|Time(time)| *time)
}

/// How long ago the pod was created.
pub(crate) fn age(pod: &Pod, now: Timestamp) -> Duration {
    let created = pod.metadata.creation_timestamp.as_ref().map_or(now, |Time(time)| *time);
    Duration::try_from(now.duration_since(created)).unwrap_or(Duration::ZERO)
}

/// How long a pod is from being available, that is ready for `min_ready_seconds` without a break.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Availability {
    /// It is available.
    Now,
    /// It is ready and will be available after this time.
    After(Duration),
    /// It is not ready.
    Unknown,
}

/// When the pod is available under `min_ready_seconds`.
pub(crate) fn availability(pod: &Pod, min_ready_seconds: i32, now: Timestamp) -> Availability {
    if !is_ready(pod) {
        return Availability::Unknown;
    }
    let Ok(required @ 1..) = u64::try_from(min_ready_seconds) else { return Availability::Now };
    let Some(since) = ready_since(pod) else { return Availability::Unknown };
    let required = Duration::from_secs(required);
    let ready_for = Duration::try_from(now.duration_since(since)).unwrap_or(Duration::ZERO);
    match required.checked_sub(ready_for) {
        None | Some(Duration::ZERO) => Availability::Now,
        Some(left) => Availability::After(left),
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::PodStatus;

    use super::*;

    fn ready(since: &str) -> Pod {
        Pod {
            status: Some(PodStatus {
                phase: Some("Running".into()),
                conditions: Some(vec![PodCondition {
                    type_: "Ready".into(),
                    status: "True".into(),
                    last_transition_time: Some(Time(since.parse().expect("a valid timestamp"))),
                    ..PodCondition::default()
                }]),
                ..PodStatus::default()
            }),
            ..Pod::default()
        }
    }

    #[test]
    fn availability_takes_min_ready_seconds() {
        let pod = ready("2030-01-01T00:00:00Z");
        let at = |time: &str| time.parse::<Timestamp>().expect("a valid timestamp");
        assert_eq!(availability(&pod, 0, at("2030-01-01T00:00:00Z")), Availability::Now);
        assert_eq!(
            availability(&pod, 10, at("2030-01-01T00:00:04Z")),
            Availability::After(Duration::from_secs(6))
        );
        assert_eq!(availability(&pod, 10, at("2030-01-01T00:00:10Z")), Availability::Now);
        assert_eq!(availability(&Pod::default(), 0, at("2030-01-01T00:00:10Z")), Availability::Unknown);
    }

    #[test]
    fn finished_and_terminating_pods_are_not_active() {
        let mut pod = ready("2030-01-01T00:00:00Z");
        assert!(is_active(&pod));
        pod.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
        assert!(is_terminating(&pod) && !is_active(&pod));
        pod.status.as_mut().expect("a status").phase = Some("Succeeded".into());
        assert!(!is_terminating(&pod) && !is_active(&pod) && is_finished(&pod));
    }
}
