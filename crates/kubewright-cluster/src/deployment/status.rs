use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{
    api::apps::v1::{Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet},
    apimachinery::pkg::apis::meta::v1::Time,
};

use super::{scale::size, strategy};

pub(super) const AVAILABLE: &str = "Available";
pub(super) const PROGRESSING: &str = "Progressing";
pub(super) const REPLICA_FAILURE: &str = "ReplicaFailure";

/// Reasons of the Progressing condition.
pub(super) mod reason {
    pub(in super::super) const CREATED: &str = "NewReplicaSetCreated";
    pub(in super::super) const FOUND: &str = "FoundNewReplicaSet";
    pub(in super::super) const UPDATED: &str = "ReplicaSetUpdated";
    pub(in super::super) const COMPLETE: &str = "NewReplicaSetAvailable";
    pub(in super::super) const TIMED_OUT: &str = "ProgressDeadlineExceeded";
    pub(in super::super) const CREATE_FAILED: &str = "ReplicaSetCreateError";
    pub(in super::super) const PAUSED: &str = "DeploymentPaused";
    pub(in super::super) const RESUMED: &str = "DeploymentResumed";
}

/// The seconds a rollout may take without progress, if it is watched at all: the largest number means never.
pub(super) fn progress_deadline(deployment: &Deployment) -> Option<Duration> {
    let seconds = deployment.spec.progress_deadline_seconds?;
    if seconds == i32::MAX {
        return None;
    }
    u64::try_from(seconds).ok().map(Duration::from_secs)
}

pub(super) fn condition<'a>(status: &'a DeploymentStatus, kind: &str) -> Option<&'a DeploymentCondition> {
    status.conditions.iter().flatten().find(|condition| condition.type_.as_deref() == Some(kind))
}

fn reason_of<'a>(status: &'a DeploymentStatus, kind: &str) -> Option<&'a str> {
    condition(status, kind)?.reason.as_deref()
}

pub(super) fn new_condition(
    kind: &str,
    status: &str,
    reason: &str,
    message: String,
    now: Timestamp,
) -> DeploymentCondition {
    DeploymentCondition {
        type_: Some(kind.into()),
        status: Some(status.into()),
        reason: Some(reason.into()),
        message: Some(message),
        last_update_time: Some(Time(now)),
        last_transition_time: Some(Time(now)),
    }
}

/// Sets a condition; one that has the same status and reason already stays as it is, with its times.
pub(super) fn set_condition(status: &mut DeploymentStatus, mut condition: DeploymentCondition) {
    let conditions = status.conditions.get_or_insert_default();
    let current = conditions.iter().find(|current| current.type_ == condition.type_);
    if let Some(current) = current.filter(|current| current.status == condition.status) {
        if current.reason == condition.reason {
            return;
        }
        condition.last_transition_time = current.last_transition_time.clone();
    }
    conditions.retain(|current| current.type_ != condition.type_);
    conditions.push(condition);
}

fn remove_condition(status: &mut DeploymentStatus, kind: &str) {
    if let Some(conditions) = status.conditions.as_mut() {
        conditions.retain(|condition| condition.type_.as_deref() != Some(kind));
    }
}

/// Counts replicas into the status and sets the Available condition; the other conditions are kept.
pub(super) fn count(
    working: &DeploymentStatus,
    deployment: &Deployment,
    new: Option<&ReplicaSet>,
    all: &[Arc<ReplicaSet>],
    now: Timestamp,
) -> DeploymentStatus {
    let sum = |field: fn(&ReplicaSet) -> i32| all.iter().map(|rs| field(rs)).sum::<i32>();
    let actual = |rs: &ReplicaSet| rs.status.as_ref().map_or(0, |status| status.replicas);
    let available = sum(available);
    let terminating = all
        .iter()
        .map(|rs| rs.status.as_ref().and_then(|status| status.terminating_replicas))
        .try_fold(0, |sum, count| Some(sum + count?));
    let mut status = DeploymentStatus {
        observed_generation: deployment.metadata.generation,
        replicas: nonzero(sum(actual)),
        updated_replicas: nonzero(new.map_or(0, actual)),
        ready_replicas: nonzero(sum(|rs| {
            rs.status.as_ref().and_then(|status| status.ready_replicas).unwrap_or(0)
        })),
        available_replicas: nonzero(available),
        unavailable_replicas: nonzero((sum(size) - available).max(0)),
        terminating_replicas: terminating,
        collision_count: working.collision_count,
        conditions: working.conditions.clone(),
    };
    let needed = strategy::replicas(deployment) - strategy::max_unavailable(deployment);
    let availability = if available >= needed {
        new_condition(
            AVAILABLE,
            "True",
            "MinimumReplicasAvailable",
            "Deployment has minimum availability.".into(),
            now,
        )
    } else {
        new_condition(
            AVAILABLE,
            "False",
            "MinimumReplicasUnavailable",
            "Deployment does not have minimum availability.".into(),
            now,
        )
    };
    set_condition(&mut status, availability);
    status
}

/// The available replicas a ReplicaSet reports.
pub(super) fn available(replica_set: &ReplicaSet) -> i32 {
    replica_set.status.as_ref().and_then(|status| status.available_replicas).unwrap_or(0)
}

/// Judges the rollout: sets the Progressing and ReplicaFailure conditions of `status`, which has its counts.
///
/// `working` is the status before the counts changed; the difference is the progress.
pub(super) fn judge(
    status: &mut DeploymentStatus,
    working: &DeploymentStatus,
    deployment: &Deployment,
    new: Option<&ReplicaSet>,
    all: &[Arc<ReplicaSet>],
    now: Timestamp,
) {
    let subject = match new {
        Some(new) => format!("ReplicaSet {:?}", new.metadata.name.as_deref().unwrap_or_default()),
        None => format!("Deployment {:?}", deployment.metadata.name.as_deref().unwrap_or_default()),
    };
    match progress_deadline(deployment) {
        None => remove_condition(status, PROGRESSING),
        // A rollout that has completed is not judged again until a new one begins: replicas that come and go
        // later are no rollout.
        Some(_)
            if status.replicas == status.updated_replicas
                && reason_of(working, PROGRESSING) == Some(reason::COMPLETE) => {}
        Some(deadline) => {
            let verdict = |value, reason, text: &str| {
                new_condition(PROGRESSING, value, reason, format!("{subject} {text}"), now)
            };
            if is_complete(deployment, status) {
                set_condition(status, verdict("True", reason::COMPLETE, "has successfully progressed."));
            } else if has_progressed(working, status) {
                let mut progressing = verdict("True", reason::UPDATED, "is progressing.");
                // The deadline counts from the last update, so progress renews the condition even where
                // status and reason stay.
                if let Some(current) = condition(working, PROGRESSING) {
                    if current.status.as_deref() == Some("True") {
                        progressing.last_transition_time = current.last_transition_time.clone();
                    }
                    remove_condition(status, PROGRESSING);
                }
                set_condition(status, progressing);
            } else if has_timed_out(status, deadline, now) {
                set_condition(status, verdict("False", reason::TIMED_OUT, "has timed out progressing."));
            }
        }
    }
    match replica_failure(new, all) {
        Some(failure) => set_condition(status, failure),
        None => remove_condition(status, REPLICA_FAILURE),
    }
}

/// Whether all replicas are of the new template and available, and the status is of the latest spec.
pub(super) fn is_complete(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    let wanted = nonzero(strategy::replicas(deployment));
    status.updated_replicas == wanted
        && status.replicas == wanted
        && status.available_replicas == wanted
        && status.observed_generation >= deployment.metadata.generation
}

fn has_progressed(before: &DeploymentStatus, after: &DeploymentStatus) -> bool {
    let count = |field: Option<i32>| field.unwrap_or(0);
    let old = |status: &DeploymentStatus| count(status.replicas) - count(status.updated_replicas);
    count(after.updated_replicas) > count(before.updated_replicas)
        || old(after) < old(before)
        || count(after.ready_replicas) > count(before.ready_replicas)
        || count(after.available_replicas) > count(before.available_replicas)
}

fn has_timed_out(status: &DeploymentStatus, deadline: Duration, now: Timestamp) -> bool {
    let Some(progressing) = condition(status, PROGRESSING) else { return false };
    match progressing.reason.as_deref() {
        Some(reason::COMPLETE) => false,
        Some(reason::TIMED_OUT) => true,
        _ => {
            let Some(Time(updated)) = progressing.last_update_time else { return false };
            Duration::try_from(now.duration_since(updated)).is_ok_and(|elapsed| elapsed > deadline)
        }
    }
}

/// When a rollout without progress has to be judged again.
pub(super) fn check_after(
    deployment: &Deployment,
    status: &DeploymentStatus,
    now: Timestamp,
) -> Option<Duration> {
    let deadline = progress_deadline(deployment)?;
    let progressing = condition(status, PROGRESSING)?;
    if is_complete(deployment, status) || progressing.reason.as_deref() == Some(reason::TIMED_OUT) {
        return None;
    }
    let Time(updated) = progressing.last_update_time.as_ref()?;
    let elapsed = Duration::try_from(now.duration_since(*updated)).unwrap_or(Duration::ZERO);
    // Conditions keep whole seconds, so a check right at the deadline could come too early.
    Some(deadline.saturating_sub(elapsed) + Duration::from_secs(1))
}

/// The failure a ReplicaSet reports, the new one's first.
fn replica_failure(new: Option<&ReplicaSet>, all: &[Arc<ReplicaSet>]) -> Option<DeploymentCondition> {
    let failure = |rs: &ReplicaSet| {
        let conditions = rs.status.as_ref()?.conditions.as_ref()?;
        let failure =
            conditions.iter().find(|condition| condition.type_.as_deref() == Some(REPLICA_FAILURE))?;
        Some(DeploymentCondition {
            type_: failure.type_.clone(),
            status: failure.status.clone(),
            reason: failure.reason.clone(),
            message: failure.message.clone(),
            last_update_time: failure.last_transition_time.clone(),
            last_transition_time: failure.last_transition_time.clone(),
        })
    };
    new.and_then(failure).or_else(|| all.iter().find_map(|rs| failure(rs)))
}

/// Counts of 0 are left out of a status, as Kubernetes does.
pub(super) fn nonzero(count: i32) -> Option<i32> {
    (count != 0).then_some(count)
}
