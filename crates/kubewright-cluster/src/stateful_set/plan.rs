use std::{collections::BTreeMap, sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::{
    apps::v1::{StatefulSet, StatefulSetStatus},
    core::v1::{PersistentVolumeClaim, Pod},
};

use super::{
    identity,
    revision::{Revision, Revisions},
};
use crate::pod::{self, Availability};

/// What one reconciliation of a StatefulSet does.
#[derive(Debug, PartialEq)]
pub(super) struct Plan {
    pub(super) changes: Vec<Change>,
    /// The status as of now; its changes show in the events of the pods.
    pub(super) status: StatefulSetStatus,
    /// When a pod becomes available by the mere passing of time.
    pub(super) check_after: Option<Duration>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Change {
    Create { pod: Box<Pod>, claims: Vec<PersistentVolumeClaim> },
    Delete { pod: Arc<Pod> },
}

/// Decides about a StatefulSet with these `pods`, all of which are controlled by it.
pub(super) fn plan(set: &StatefulSet, revisions: &Revisions, pods: &[Arc<Pod>], now: Timestamp) -> Plan {
    let mut line = Line::new(set, revisions, pods, now);
    if set.metadata.deletion_timestamp.is_none() {
        line.advance();
    }
    line.report()
}

/// The pods of a set in line.
struct Line<'a> {
    set: &'a StatefulSet,
    revisions: &'a Revisions,
    start: i32,
    replicas: i32,
    pods: BTreeMap<i32, Arc<Pod>>,
    /// Whether one pod has to be ready before the next is touched.
    ordered: bool,
    now: Timestamp,
    changes: Vec<Change>,
    check_after: Option<Duration>,
}

impl<'a> Line<'a> {
    fn new(set: &'a StatefulSet, revisions: &'a Revisions, pods: &[Arc<Pod>], now: Timestamp) -> Self {
        let pods = pods.iter().filter_map(|pod| Some((identity::ordinal(set, pod)?, pod.clone()))).collect();
        Self {
            set,
            revisions,
            start: set.spec.ordinals.as_ref().and_then(|ordinals| ordinals.start).unwrap_or(0),
            replicas: set.spec.replicas.unwrap_or(1).max(0),
            pods,
            ordered: set.spec.pod_management_policy.as_deref() != Some("Parallel"),
            now,
            changes: Vec::new(),
            check_after: None,
        }
    }

    fn end(&self) -> i32 {
        self.start.saturating_add(self.replicas)
    }

    /// Fills the line from its front, shortens it from its back, then updates from its back: each only when
    /// the one before has nothing to do or to wait for.
    fn advance(&mut self) {
        if self.fill() && self.shorten() {
            self.update();
        }
    }

    /// Creates missing pods and replaces ended ones. Whether to go on.
    fn fill(&mut self) -> bool {
        for ordinal in self.start..self.end() {
            match self.pods.get(&ordinal).cloned() {
                None => {
                    let Revision { name, template } = self.revision_of(ordinal);
                    let pod = Box::new(identity::new_pod(self.set, ordinal, template, name));
                    let claims = identity::claims(self.set, ordinal);
                    self.changes.push(Change::Create { pod, claims });
                    if self.ordered {
                        return false;
                    }
                }
                Some(pod) if pod::is_finished(&pod) => {
                    if pod.metadata.deletion_timestamp.is_none() {
                        self.changes.push(Change::Delete { pod });
                    }
                    if self.ordered {
                        return false;
                    }
                }
                Some(pod) if self.ordered && !self.is_available(&pod) => return false,
                Some(_) => {}
            }
        }
        true
    }

    /// The revision for a new pod: during a rollout, the pods before the partition, or those it has not come
    /// to yet, stay at the current one.
    fn revision_of(&self, ordinal: i32) -> &'a Revision {
        let stays = match self.partition() {
            None => false,
            Some(Some(partition)) => ordinal < self.start + partition,
            Some(None) => ordinal < self.start + self.current_replicas(),
        };
        if stays { &self.revisions.current } else { &self.revisions.update }
    }

    /// The partition of a rolling update, which has one or not; `None` for another strategy.
    fn partition(&self) -> Option<Option<i32>> {
        let strategy = self.set.spec.update_strategy.as_ref();
        if strategy.and_then(|strategy| strategy.type_.as_deref()) == Some("OnDelete") {
            return None;
        }
        let partition = strategy
            .and_then(|strategy| strategy.rolling_update.as_ref())
            .and_then(|rolling| rolling.partition);
        // A partition of 0 is what defaulting makes of none.
        Some(partition.filter(|partition| *partition > 0))
    }

    /// The pods that are still at the current revision. The status may count one that was deleted since.
    fn current_replicas(&self) -> i32 {
        let reported = self.set.status.as_ref().and_then(|status| status.current_replicas).unwrap_or(0);
        reported.min(self.count(|pod| is_of(pod, &self.revisions.current) && !is_going(pod)))
    }

    /// Deletes pods behind the end, the last one first. Whether to go on.
    fn shorten(&mut self) -> bool {
        let condemned: Vec<_> = self
            .pods
            .iter()
            .filter(|(ordinal, _)| **ordinal < self.start || **ordinal >= self.end())
            .map(|(_, pod)| pod.clone())
            .rev()
            .collect();
        for pod in condemned {
            let going = is_going(&pod);
            if !going {
                self.changes.push(Change::Delete { pod });
            }
            if self.ordered {
                return false;
            }
        }
        true
    }

    /// Deletes the last pod of another revision, once all behind it are available.
    fn update(&mut self) {
        let Some(partition) = self.partition() else { return };
        let first = self.start + partition.unwrap_or(0);
        for ordinal in (first..self.end()).rev() {
            let Some(pod) = self.pods.get(&ordinal).cloned() else { return };
            if !is_of(&pod, &self.revisions.update) && !is_going(&pod) {
                self.changes.push(Change::Delete { pod });
                return;
            }
            if !self.is_available(&pod) {
                return;
            }
        }
    }

    fn is_available(&mut self, pod: &Pod) -> bool {
        if is_going(pod) || pod::phase(pod) != "Running" {
            return false;
        }
        match pod::availability(pod, self.set.spec.min_ready_seconds.unwrap_or(0), self.now) {
            Availability::Now => true,
            Availability::After(left) => {
                self.check_after = Some(self.check_after.map_or(left, |earlier| earlier.min(left)));
                false
            }
            Availability::Unknown => false,
        }
    }

    fn count(&self, is: impl Fn(&Pod) -> bool) -> i32 {
        i32::try_from(self.pods.values().filter(|pod| is(pod)).count()).unwrap_or(i32::MAX)
    }

    fn report(mut self) -> Plan {
        let Revisions { current, update } = self.revisions;
        let deleted: Vec<_> = self
            .changes
            .iter()
            .filter_map(|change| match change {
                Change::Delete { pod } => pod.metadata.uid.clone(),
                Change::Create { .. } => None,
            })
            .collect();
        let stays =
            |pod: &Pod| !is_going(pod) && pod.metadata.uid.as_ref().is_none_or(|uid| !deleted.contains(uid));
        let ready = self.count(|pod| pod::phase(pod) == "Running" && pod::is_ready(pod));
        let pods: Vec<_> = self.pods.values().cloned().collect();
        let available = pods.iter().filter(|pod| self.is_available(pod)).count();
        let replicas = self.count(|_| true);
        let updated = self.count(|pod| is_of(pod, update) && stays(pod));
        let in_current = self.count(|pod| is_of(pod, current) && stays(pod));
        // A rollout is complete once every pod is of the new revision and ready.
        let complete = self.partition().is_some() && updated == replicas && ready == replicas;
        let current = if complete { update } else { current };
        let before = self.set.status.clone().unwrap_or_default();
        let nonzero = |count: i32| (count != 0).then_some(count);
        Plan {
            changes: self.changes,
            status: StatefulSetStatus {
                observed_generation: self.set.metadata.generation,
                replicas,
                ready_replicas: nonzero(ready),
                available_replicas: Some(i32::try_from(available).unwrap_or(i32::MAX)),
                current_replicas: nonzero(if complete { updated } else { in_current }),
                updated_replicas: nonzero(updated),
                current_revision: Some(current.name.clone()),
                update_revision: Some(update.name.clone()),
                collision_count: Some(before.collision_count.unwrap_or(0)),
                conditions: before.conditions,
            },
            check_after: self.check_after,
        }
    }
}

fn is_of(pod: &Pod, revision: &Revision) -> bool {
    identity::revision(pod) == Some(&*revision.name)
}

fn is_going(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::{
            apps::v1::{RollingUpdateStatefulSetStrategy, StatefulSetUpdateStrategy},
            core::v1::{PodCondition, PodStatus},
        },
        apimachinery::pkg::apis::meta::v1::Time,
    };

    use super::*;

    struct Model {
        set: StatefulSet,
        revisions: Revisions,
        pods: Vec<Arc<Pod>>,
        log: Vec<String>,
        serial: u64,
    }

    fn revision(name: &str) -> Revision {
        Revision { name: name.into(), template: Default::default() }
    }

    impl Model {
        fn new(replicas: i32) -> Self {
            let mut set = StatefulSet::default();
            set.metadata.name = Some("db".into());
            set.metadata.generation = Some(1);
            set.spec.replicas = Some(replicas);
            let revisions = Revisions { current: revision("db-1"), update: revision("db-1") };
            Self { set, revisions, pods: Vec::new(), log: Vec::new(), serial: 0 }
        }

        fn step(&mut self) -> bool {
            let plan = plan(&self.set, &self.revisions, &self.pods, Timestamp::UNIX_EPOCH);
            let changed = !plan.changes.is_empty() || self.set.status.as_ref() != Some(&plan.status);
            for change in plan.changes {
                match change {
                    Change::Create { pod, .. } => {
                        let mut pod = *pod;
                        self.serial += 1;
                        pod.metadata.uid = Some(self.serial.to_string());
                        self.log.push(format!("+{}", pod.metadata.name.clone().unwrap_or_default()));
                        self.pods.push(Arc::new(pod));
                    }
                    Change::Delete { pod } => {
                        self.log.push(format!("-{}", pod.metadata.name.clone().unwrap_or_default()));
                        self.pods.retain(|own| own.metadata.uid != pod.metadata.uid);
                    }
                }
            }
            if let Some(current) = &plan.status.current_revision {
                self.revisions.current.name.clone_from(current);
            }
            self.set.status = Some(plan.status);
            changed
        }

        fn make_ready(&mut self) {
            for pod in &mut self.pods {
                Arc::make_mut(pod).status = Some(PodStatus {
                    phase: Some("Running".into()),
                    conditions: Some(vec![PodCondition {
                        type_: "Ready".into(),
                        status: "True".into(),
                        last_transition_time: Some(Time(Timestamp::UNIX_EPOCH)),
                        ..PodCondition::default()
                    }]),
                    ..PodStatus::default()
                });
            }
        }

        fn settle(&mut self) -> Vec<String> {
            for _ in 0..100 {
                self.make_ready();
                if !self.step() {
                    return std::mem::take(&mut self.log);
                }
            }
            panic!("the set does not settle: {:?}", self.log);
        }
    }

    #[test]
    fn pods_come_in_order_and_go_in_reverse() {
        let mut model = Model::new(3);
        model.step();
        model.step();
        assert_eq!(model.log, ["+db-0"], "the first one is not ready yet");
        model.log.clear();
        assert_eq!(model.settle(), ["+db-1", "+db-2"]);
        let status = model.set.status.clone().expect("a status");
        assert_eq!((status.replicas, status.ready_replicas, status.updated_replicas), (3, Some(3), Some(3)));
        model.set.spec.replicas = Some(1);
        assert_eq!(model.settle(), ["-db-2", "-db-1"]);
    }

    #[test]
    fn parallel_pods_do_not_wait() {
        let mut model = Model::new(3);
        model.set.spec.pod_management_policy = Some("Parallel".into());
        model.step();
        assert_eq!(model.log, ["+db-0", "+db-1", "+db-2"]);
    }

    #[test]
    fn an_update_goes_from_the_back_and_completes() {
        let mut model = Model::new(3);
        model.settle();
        model.revisions.update = revision("db-2");
        assert_eq!(model.settle(), ["-db-2", "+db-2", "-db-1", "+db-1", "-db-0", "+db-0"]);
        let status = model.set.status.clone().expect("a status");
        assert_eq!(status.current_revision.as_deref(), Some("db-2"));
        assert_eq!((status.current_replicas, status.updated_replicas), (Some(3), Some(3)));
    }

    #[test]
    fn a_partition_holds_the_front_back() {
        let mut model = Model::new(3);
        model.set.spec.update_strategy = Some(StatefulSetUpdateStrategy {
            type_: Some("RollingUpdate".into()),
            rolling_update: Some(RollingUpdateStatefulSetStrategy {
                partition: Some(2),
                max_unavailable: None,
            }),
        });
        model.settle();
        model.revisions.update = revision("db-2");
        assert_eq!(model.settle(), ["-db-2", "+db-2"]);
        // A pod before the partition comes back as it was.
        model.pods.retain(|pod| pod.metadata.name.as_deref() != Some("db-0"));
        assert_eq!(model.settle(), ["+db-0"]);
        let of = |name: &str| {
            let pod =
                model.pods.iter().find(|pod| pod.metadata.name.as_deref() == Some(name)).expect("the pod");
            identity::revision(pod).map(str::to_owned)
        };
        assert_eq!((of("db-0"), of("db-2")), (Some("db-1".into()), Some("db-2".into())));
    }

    #[test]
    fn on_delete_waits_for_the_user() {
        let mut model = Model::new(2);
        model.set.spec.update_strategy =
            Some(StatefulSetUpdateStrategy { type_: Some("OnDelete".into()), rolling_update: None });
        model.settle();
        model.revisions.update = revision("db-2");
        assert_eq!(model.settle(), [""; 0]);
        model.pods.remove(1);
        assert_eq!(model.settle(), ["+db-1"]);
        assert_eq!(model.set.status.as_ref().and_then(|status| status.updated_replicas), Some(1));
    }
}
