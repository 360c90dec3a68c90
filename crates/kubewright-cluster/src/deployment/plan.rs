use std::{cmp::Reverse, collections::BTreeSet, sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentStatus, ReplicaSet, ReplicaSetSpec},
        core::v1::Pod,
    },
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};

use super::{
    revision,
    scale::{proportion, size},
    status::{self, PROGRESSING, reason},
    strategy,
};
use crate::{
    ownership, pod,
    pod_template::{POD_TEMPLATE_HASH, template_hash, templates_equal},
};

/// What one reconciliation of a Deployment does.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan {
    /// The writes to ReplicaSets, in order.
    pub(super) changes: Vec<Change>,
    /// The revision to annotate the Deployment with, if it has another one.
    pub(super) revision: Option<i64>,
    /// The status after the changes.
    pub(super) status: DeploymentStatus,
    /// When to look again although nothing changed.
    pub(super) check_after: Option<Duration>,
}

/// One write to a ReplicaSet, with the sizes to tell in an event when it changes the number of pods.
#[derive(Debug, PartialEq)]
pub(super) enum Change {
    Create { replica_set: Box<ReplicaSet> },
    Update { replica_set: Box<ReplicaSet>, scaled_from: Option<i32> },
    Delete { replica_set: Arc<ReplicaSet> },
}

/// Decides about `deployment`, whose ReplicaSets are `replica_sets` and their pods `pods`.
///
/// All of them must be controlled by it; their order does not matter.
pub(super) fn plan(
    deployment: &Deployment,
    replica_sets: Vec<Arc<ReplicaSet>>,
    pods: &[Arc<Pod>],
    now: Timestamp,
) -> Plan {
    let mut rollout = Rollout::new(deployment, replica_sets, now);
    if deployment.metadata.deletion_timestamp.is_some() {
        rollout.sync_new();
        return rollout.report();
    }
    rollout.note_pause();
    let paused = deployment.spec.paused == Some(true);
    if paused || rollout.is_rescaled() {
        rollout.sync_new();
        rollout.scale();
        if paused {
            rollout.clean_up();
        }
        return rollout.report();
    }
    if strategy::is_rolling(deployment) {
        rollout.roll();
    } else {
        rollout.recreate(pods);
    }
    rollout.report_progress()
}

/// A rollout as far as it is planned.
struct Rollout<'a> {
    deployment: &'a Deployment,
    replicas: i32,
    /// The status with the conditions that were set on the way.
    status: DeploymentStatus,
    /// The ReplicaSet of the current template, as it is after the changes.
    new: Option<Arc<ReplicaSet>>,
    /// The others, oldest first, as they are after the changes.
    old: Vec<Arc<ReplicaSet>>,
    changes: Vec<Change>,
    revision: Option<i64>,
    now: Timestamp,
}

impl<'a> Rollout<'a> {
    fn new(deployment: &'a Deployment, mut replica_sets: Vec<Arc<ReplicaSet>>, now: Timestamp) -> Self {
        replica_sets.sort_by(|one, two| age(one).cmp(&age(two)));
        // With several of the same template the oldest is the new one, so that all versions of this
        // controller and all of its caches agree.
        let new = replica_sets.iter().position(|rs| {
            rs.spec.template.as_ref().is_some_and(|own| templates_equal(own, &deployment.spec.template))
        });
        let new = new.map(|index| replica_sets.remove(index));
        Self {
            deployment,
            replicas: strategy::replicas(deployment),
            status: deployment.status.clone().unwrap_or_default(),
            new,
            old: replica_sets,
            changes: Vec::new(),
            revision: None,
            now,
        }
    }

    fn all(&self) -> Vec<Arc<ReplicaSet>> {
        self.old.iter().chain(&self.new).cloned().collect()
    }

    fn active_old(&self) -> Vec<Arc<ReplicaSet>> {
        self.old.iter().filter(|rs| size(rs) > 0).cloned().collect()
    }

    fn set_progressing(&mut self, value: &str, reason: &str, message: String) {
        let condition = status::new_condition(PROGRESSING, value, reason, message, self.now);
        status::set_condition(&mut self.status, condition);
    }

    // === Steps ===

    /// Notes in the Progressing condition that the rollout was paused or resumed, so that the time it was
    /// paused does not count towards the deadline.
    fn note_pause(&mut self) {
        if status::progress_deadline(self.deployment).is_none() {
            return;
        }
        let current = status::condition(&self.status, PROGRESSING).and_then(|c| c.reason.as_deref());
        let was_paused = current == Some(reason::PAUSED);
        if current == Some(reason::TIMED_OUT) {
            return;
        }
        match (self.deployment.spec.paused == Some(true), was_paused) {
            (true, false) => {
                self.set_progressing("Unknown", reason::PAUSED, "Deployment is paused".into());
            }
            (false, true) => {
                self.set_progressing("Unknown", reason::RESUMED, "Deployment is resumed".into());
            }
            _ => {}
        }
    }

    /// Whether the Deployment's size changed since its ReplicaSets were last scaled.
    fn is_rescaled(&self) -> bool {
        self.old
            .iter()
            .chain(&self.new)
            .filter(|rs| size(rs) > 0)
            .any(|rs| revision::desired_replicas(rs).is_some_and(|desired| desired != self.replicas))
    }

    /// Brings the new ReplicaSet, if there is one, to the latest revision.
    fn sync_new(&mut self) {
        let Some(new) = self.new.clone() else { return };
        let revision = self.next_revision();
        let min_ready_seconds = self.deployment.spec.min_ready_seconds;
        let mut updated = new.clone();
        let changed = {
            let updated = Arc::make_mut(&mut updated);
            let annotated = revision::record_revision(&mut updated.metadata, self.deployment, revision);
            let spec = &mut updated.spec;
            let ready = spec.min_ready_seconds.unwrap_or(0) != min_ready_seconds.unwrap_or(0);
            spec.min_ready_seconds = min_ready_seconds;
            annotated || ready
        };
        if changed {
            self.update(updated.clone(), None);
        }
        self.revision = Some(revision::revision(&updated.metadata));
        if status::progress_deadline(self.deployment).is_some()
            && status::condition(&self.status, PROGRESSING).is_none()
        {
            let message = format!("Found new replica set {:?}", name(&new));
            self.set_progressing("True", reason::FOUND, message);
        }
    }

    /// Makes sure that there is a ReplicaSet of the current template.
    fn ensure_new(&mut self) {
        if self.new.is_some() {
            return self.sync_new();
        }
        let spec = &self.deployment.spec;
        let hash = template_hash(&spec.template, self.status.collision_count);
        let mut template = spec.template.clone();
        let labels = template.metadata.get_or_insert_default().labels.get_or_insert_default();
        labels.insert(POD_TEMPLATE_HASH.into(), hash.clone());
        let labels = labels.clone();
        let mut selector = spec.selector.clone();
        selector.match_labels.get_or_insert_default().insert(POD_TEMPLATE_HASH.into(), hash.clone());

        let revision = self.next_revision();
        let mut metadata = ObjectMeta {
            name: Some(format!("{}-{hash}", self.deployment.metadata.name.as_deref().unwrap_or_default())),
            namespace: self.deployment.metadata.namespace.clone(),
            labels: Some(labels),
            owner_references: Some(vec![ownership::controller_reference(self.deployment)]),
            ..ObjectMeta::default()
        };
        revision::record_revision(&mut metadata, self.deployment, revision);
        revision::record_size(&mut metadata, self.deployment);
        let replicas = self.size_of_new(0);
        let new = ReplicaSet {
            metadata,
            spec: ReplicaSetSpec {
                replicas: Some(replicas),
                min_ready_seconds: spec.min_ready_seconds,
                selector,
                template: Some(template),
            },
            status: None,
        };
        if status::progress_deadline(self.deployment).is_some() {
            let message = format!("Created new replica set {:?}", name(&new));
            self.set_progressing("True", reason::CREATED, message);
        }
        self.changes.push(Change::Create { replica_set: Box::new(new.clone()) });
        self.new = Some(Arc::new(new));
        self.revision = Some(revision);
    }

    fn next_revision(&self) -> i64 {
        1 + self.old.iter().map(|rs| revision::revision(&rs.metadata)).max().unwrap_or(0)
    }

    /// The size the new ReplicaSet can grow to from `current`: all replicas at once when recreating, as far
    /// as the surge allows when rolling.
    fn size_of_new(&self, current: i32) -> i32 {
        if !strategy::is_rolling(self.deployment) {
            return self.replicas;
        }
        let pods: i32 = self.old.iter().chain(&self.new).map(|rs| size(rs)).sum();
        let room = self.replicas.saturating_add(strategy::max_surge(self.deployment)) - pods;
        if room <= 0 { current } else { current + room.min(self.replicas - current) }
    }

    /// One step of a rolling update: grow the new ReplicaSet, or else shrink the old ones, or else clean up.
    fn roll(&mut self) {
        self.ensure_new();
        if self.grow_new() || self.shrink_old() {
            return;
        }
        self.clean_up_if_complete();
    }

    /// One step of recreation: end all old pods, and only then start new ones.
    fn recreate(&mut self, pods: &[Arc<Pod>]) {
        self.sync_new();
        let active = self.active_old();
        if !active.is_empty() {
            for rs in active {
                self.resize(&rs, 0);
            }
            return;
        }
        if self.old_pods_run(pods) {
            return;
        }
        self.ensure_new();
        if let Some(new) = self.new.clone() {
            self.resize(&new, self.replicas);
        }
        self.clean_up_if_complete();
    }

    /// Whether pods of old ReplicaSets may still run.
    fn old_pods_run(&self, pods: &[Arc<Pod>]) -> bool {
        let old: BTreeSet<&str> = self.old.iter().filter_map(|rs| rs.metadata.uid.as_deref()).collect();
        let reported = |rs: &Arc<ReplicaSet>| rs.status.as_ref().map_or(0, |status| status.replicas);
        self.old.iter().map(reported).sum::<i32>() > 0
            || pods.iter().any(|pod| {
                !pod::is_finished(pod)
                    && ownership::controller_of(&pod.metadata)
                        .is_some_and(|controller| old.contains(controller.uid.as_str()))
            })
    }

    fn grow_new(&mut self) -> bool {
        let Some(new) = self.new.clone() else { return false };
        let current = size(&new);
        let wanted = if current > self.replicas { self.replicas } else { self.size_of_new(current) };
        self.resize(&new, wanted)
    }

    /// Takes as many pods from the old ReplicaSets as availability allows.
    ///
    /// Pods of the new ReplicaSet that are not available yet do not count, so a template that never becomes
    /// available never takes more than `maxUnavailable` pods from the old ones.
    fn shrink_old(&mut self) -> bool {
        let min_available = self.replicas - strategy::max_unavailable(self.deployment);
        let pods: i32 = self.old.iter().chain(&self.new).map(|rs| size(rs)).sum();
        let new_unavailable = self.new.as_ref().map_or(0, |rs| size(rs) - remaining(rs));
        let budget = pods - min_available - new_unavailable;
        if budget <= 0 {
            return false;
        }

        // Unavailable pods of old ReplicaSets go first: taking them costs no availability.
        let mut taken = 0;
        for rs in self.active_old() {
            let broken = size(&rs) - remaining(&rs);
            let take = broken.min(budget - taken);
            if take > 0 {
                self.resize(&rs, size(&rs) - take);
                taken += take;
            }
        }

        let available: i32 = self.old.iter().chain(&self.new).map(|rs| remaining(rs)).sum();
        let mut spare = available - min_available;
        for rs in self.active_old() {
            if spare <= 0 {
                break;
            }
            let take = size(&rs).min(spare);
            self.resize(&rs, size(&rs) - take);
            spare -= take;
            taken += take;
        }
        taken > 0
    }

    /// Follows a change of the Deployment's size, outside of a rollout or during one.
    fn scale(&mut self) {
        let all = self.all();
        let active: Vec<_> = all.iter().filter(|rs| size(rs) > 0).cloned().collect();
        let only = match active.as_slice() {
            [] => self.new.clone().or_else(|| self.old.last().cloned()),
            [one] => Some(one.clone()),
            _ => None,
        };
        if let Some(only) = only {
            // Noting the size even where the number of pods is right already is what ends the scaling.
            self.set_size(&only, self.replicas);
            return;
        }
        if self.new.as_ref().is_some_and(|new| self.is_saturated(new)) {
            for rs in self.active_old() {
                self.resize(&rs, 0);
            }
            return;
        }
        if strategy::is_rolling(self.deployment) {
            self.scale_proportionally(active);
        }
    }

    fn is_saturated(&self, new: &ReplicaSet) -> bool {
        size(new) == self.replicas
            && revision::desired_replicas(new) == Some(self.replicas)
            && status::available(new) == self.replicas
    }

    /// Shares the pods to add or take among the active ReplicaSets by their size; the largest gets the rest.
    fn scale_proportionally(&mut self, mut active: Vec<Arc<ReplicaSet>>) {
        let allowed = if self.replicas > 0 {
            self.replicas.saturating_add(strategy::max_surge(self.deployment))
        } else {
            0
        };
        let to_add = allowed - active.iter().map(|rs| size(rs)).sum::<i32>();
        if to_add > 0 {
            active.sort_by(|one, two| (Reverse(size(one)), age(two)).cmp(&(Reverse(size(two)), age(one))));
        } else {
            active.sort_by(|one, two| (Reverse(size(one)), age(one)).cmp(&(Reverse(size(two)), age(two))));
        }
        let mut added = 0;
        let mut sizes: Vec<i32> = Vec::with_capacity(active.len());
        for rs in &active {
            let share = proportion(rs, self.deployment, to_add, added);
            added += share;
            sizes.push(size(rs) + share);
        }
        if let Some(first) = sizes.first_mut() {
            *first = (*first + to_add - added).max(0);
        }
        for (rs, size) in active.iter().zip(sizes) {
            self.set_size(rs, size);
        }
    }

    fn clean_up_if_complete(&mut self) {
        if status::is_complete(self.deployment, &self.status) {
            self.clean_up();
        }
    }

    /// Deletes old ReplicaSets beyond `revisionHistoryLimit`, those of the oldest revisions.
    fn clean_up(&mut self) {
        let limit = self.deployment.spec.revision_history_limit;
        let Some(limit) =
            limit.filter(|limit| *limit != i32::MAX).and_then(|limit| usize::try_from(limit).ok())
        else {
            return;
        };
        let mut kept: Vec<_> =
            self.old.iter().filter(|rs| rs.metadata.deletion_timestamp.is_none()).cloned().collect();
        kept.sort_by_key(|rs| revision::revision(&rs.metadata));
        for rs in kept.iter().take(kept.len().saturating_sub(limit)) {
            let status = rs.status.clone().unwrap_or_default();
            if status.replicas == 0 && size(rs) == 0 && rs.metadata.generation <= status.observed_generation {
                self.changes.push(Change::Delete { replica_set: rs.clone() });
            }
        }
    }

    // === Changes ===

    /// Scales a ReplicaSet if it has another size.
    fn resize(&mut self, replica_set: &Arc<ReplicaSet>, to: i32) -> bool {
        size(replica_set) != to && self.set_size(replica_set, to)
    }

    /// Scales a ReplicaSet and notes the Deployment's size on it; says whether its size changed.
    fn set_size(&mut self, replica_set: &Arc<ReplicaSet>, to: i32) -> bool {
        let from = size(replica_set);
        let mut updated = replica_set.clone();
        let noted = {
            let updated = Arc::make_mut(&mut updated);
            updated.spec.replicas = Some(to);
            revision::record_size(&mut updated.metadata, self.deployment)
        };
        if noted || from != to {
            self.update(updated, (from != to).then_some(from));
        }
        from != to
    }

    /// Adds an update to the changes; one ReplicaSet is written once, with all that changed.
    fn update(&mut self, updated: Arc<ReplicaSet>, scaled_from: Option<i32>) {
        let earlier = self.changes.iter_mut().find_map(|change| match change {
            Change::Create { replica_set } if name(replica_set) == name(&updated) => {
                Some((replica_set, None))
            }
            Change::Update { replica_set, scaled_from } if name(replica_set) == name(&updated) => {
                Some((replica_set, Some(scaled_from)))
            }
            _ => None,
        });
        match earlier {
            Some((replica_set, from)) => {
                **replica_set = (*updated).clone();
                if let Some(from) = from {
                    *from = from.or(scaled_from);
                }
            }
            None => {
                self.changes.push(Change::Update { replica_set: Box::new((*updated).clone()), scaled_from });
            }
        }
        match &mut self.new {
            Some(new) if name(new) == name(&updated) => *new = updated,
            _ => {
                if let Some(old) = self.old.iter_mut().find(|old| name(old) == name(&updated)) {
                    *old = updated;
                }
            }
        }
    }

    // === Results ===

    /// The plan with counts in its status.
    fn report(self) -> Plan {
        let status = status::count(&self.status, self.deployment, self.new.as_deref(), &self.all(), self.now);
        self.finish(status, None)
    }

    /// The plan with counts and a verdict on the rollout in its status.
    fn report_progress(self) -> Plan {
        let all = self.all();
        let new = self.new.as_deref();
        let mut status = status::count(&self.status, self.deployment, new, &all, self.now);
        status::judge(&mut status, &self.status, self.deployment, new, &all, self.now);
        let check_after = status::check_after(self.deployment, &status, self.now);
        self.finish(status, check_after)
    }

    fn finish(self, status: DeploymentStatus, check_after: Option<Duration>) -> Plan {
        let current = revision::revision(&self.deployment.metadata);
        Plan {
            changes: self.changes,
            revision: self.revision.filter(|revision| *revision != current),
            status,
            check_after,
        }
    }
}

/// The available pods that a ReplicaSet has once it is at its size.
///
/// Its status may still count pods that it was told to delete. To rely on those a second time, as
/// kube-controller-manager does, would take more pods than `maxUnavailable` allows.
fn remaining(replica_set: &ReplicaSet) -> i32 {
    status::available(replica_set).min(size(replica_set))
}

pub(super) fn name(replica_set: &ReplicaSet) -> &str {
    replica_set.metadata.name.as_deref().unwrap_or_default()
}

/// Sorts by age, oldest first; names break ties, so the order is total.
fn age(replica_set: &ReplicaSet) -> (Option<Timestamp>, &str) {
    let created = replica_set.metadata.creation_timestamp.as_ref().map(|Time(time)| *time);
    (created, name(replica_set))
}
