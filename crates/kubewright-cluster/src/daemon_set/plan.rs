use std::{collections::BTreeMap, sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::{DaemonSet, DaemonSetStatus},
        core::v1::{Node, Pod},
    },
    apimachinery::pkg::util::intstr::IntOrString,
};

use super::pods;
use crate::pod::{self, Availability};

/// What one reconciliation of a DaemonSet does.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan {
    /// The nodes to create a pod for.
    pub(super) create: Vec<String>,
    pub(super) delete: Vec<Arc<Pod>>,
    pub(super) status: DaemonSetStatus,
    /// When a pod becomes available by the mere passing of time.
    pub(super) check_after: Option<Duration>,
}

/// Decides about a DaemonSet with these `pods`, all of which are controlled by it.
pub(super) fn plan(set: &DaemonSet, nodes: &[Arc<Node>], all: &[Arc<Pod>], now: Timestamp) -> Plan {
    let revision = pods::revision(set);
    let mut by_node: BTreeMap<&str, Vec<&Arc<Pod>>> = BTreeMap::new();
    for pod in all {
        if let Some(node) = pods::node_of(pod) {
            by_node.entry(node).or_default().push(pod);
        }
    }
    let mut plan = Plan::default();
    let mut counts = Counts::default();
    // The pods of an old template on wanted nodes, with whether they are available.
    let mut old: Vec<(&Arc<Pod>, bool)> = Vec::new();
    for node in nodes {
        let name = node.metadata.name.as_deref().unwrap_or_default();
        let mut here = by_node.remove(name).unwrap_or_default();
        if !pods::fits(set, node) {
            counts.misscheduled += i32::from(!here.is_empty());
            plan.delete_all(here);
            continue;
        }
        counts.desired += 1;
        // The oldest stays; a pod that has ended makes room for another.
        here.sort_by_key(|pod| {
            let created = pod.metadata.creation_timestamp.as_ref().map(|time| time.0);
            (pod::is_finished(pod), created, pod.metadata.name.clone())
        });
        let keep = here.first().copied().filter(|pod| !pod::is_finished(pod));
        plan.delete_all(here.iter().skip(usize::from(keep.is_some())).copied());
        let Some(pod) = keep else {
            if here.is_empty() {
                plan.create.push(name.to_owned());
            }
            continue;
        };
        counts.current += 1;
        let ready = pod::is_ready(pod);
        let going = pod.metadata.deletion_timestamp.is_some();
        let available = match pod::availability(pod, set.spec.min_ready_seconds.unwrap_or(0), now) {
            Availability::Now => !going,
            Availability::After(left) => {
                plan.check_after = Some(plan.check_after.map_or(left, |earlier| earlier.min(left)));
                false
            }
            Availability::Unknown => false,
        };
        let updated = pods::is_of(pod, &revision);
        counts.ready += i32::from(ready);
        counts.available += i32::from(available);
        counts.updated += i32::from(updated);
        if !updated && !going {
            old.push((pod, available));
        }
    }
    // Pods of nodes that are gone.
    for pods in by_node.into_values() {
        plan.delete_all(pods);
    }
    if set.metadata.deletion_timestamp.is_some() {
        plan.create.clear();
        plan.delete.clear();
    } else if is_rolling(set) {
        // Pods that are not available go at once; others as long as enough stay.
        let mut budget = max_unavailable(set, counts.desired) - (counts.desired - counts.available);
        old.sort_by_key(|(pod, available)| (*available, pod.metadata.name.clone()));
        for (pod, available) in old {
            if available {
                if budget <= 0 {
                    break;
                }
                budget -= 1;
            }
            plan.delete.push(pod.clone());
        }
    }
    plan.status = counts.status(set);
    plan
}

impl Plan {
    fn delete_all<'a>(&mut self, pods: impl IntoIterator<Item = &'a Arc<Pod>>) {
        let stays = |pod: &&Arc<Pod>| pod.metadata.deletion_timestamp.is_none();
        self.delete.extend(pods.into_iter().filter(stays).cloned());
    }
}

#[derive(Default)]
struct Counts {
    desired: i32,
    current: i32,
    misscheduled: i32,
    ready: i32,
    available: i32,
    updated: i32,
}

impl Counts {
    fn status(&self, set: &DaemonSet) -> DaemonSetStatus {
        let nonzero = |count: i32| (count != 0).then_some(count);
        let before = set.status.clone().unwrap_or_default();
        DaemonSetStatus {
            observed_generation: set.metadata.generation,
            desired_number_scheduled: self.desired,
            current_number_scheduled: self.current,
            number_misscheduled: self.misscheduled,
            number_ready: self.ready,
            number_available: nonzero(self.available),
            number_unavailable: nonzero(self.desired - self.available),
            updated_number_scheduled: nonzero(self.updated),
            collision_count: before.collision_count,
            conditions: before.conditions,
        }
    }
}

fn is_rolling(set: &DaemonSet) -> bool {
    set.spec.update_strategy.as_ref().and_then(|strategy| strategy.type_.as_deref()) != Some("OnDelete")
}

/// How many nodes may be without an available pod during an update: 1 unless the set says, at least 1.
fn max_unavailable(set: &DaemonSet, desired: i32) -> i32 {
    let strategy = set.spec.update_strategy.as_ref();
    let value = strategy.and_then(|s| s.rolling_update.as_ref()).and_then(|r| r.max_unavailable.clone());
    let number = match value {
        None => 1,
        Some(IntOrString::Int(number)) => number,
        Some(IntOrString::String(text)) => {
            let percent = text.strip_suffix('%').and_then(|number| number.parse::<i64>().ok()).unwrap_or(0);
            let product = percent * i64::from(desired);
            i32::try_from(product / 100 + i64::from(product % 100 != 0)).unwrap_or(i32::MAX)
        }
    };
    number.max(1)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{
        api::core::v1::{Container, NodeSpec, PodCondition, PodSpec, PodStatus, Taint},
        apimachinery::pkg::apis::meta::v1::Time,
    };

    use super::*;

    fn set(image: &str) -> DaemonSet {
        let mut set = DaemonSet::default();
        set.metadata.name = Some("agent".into());
        set.spec.template.spec = Some(PodSpec {
            containers: vec![Container { image: Some(image.into()), ..Container::default() }],
            ..PodSpec::default()
        });
        set
    }

    fn node(name: &str) -> Arc<Node> {
        let mut node = Node::default();
        node.metadata.name = Some(name.into());
        Arc::new(node)
    }

    fn pod(set: &DaemonSet, node: &str, ready: bool) -> Arc<Pod> {
        let mut pod = pods::new_pod(set, node);
        pod.metadata.name = Some(format!("agent-{node}"));
        pod.status = Some(PodStatus {
            phase: Some("Running".into()),
            conditions: ready.then(|| {
                vec![PodCondition {
                    type_: "Ready".into(),
                    status: "True".into(),
                    last_transition_time: Some(Time(Timestamp::UNIX_EPOCH)),
                    ..PodCondition::default()
                }]
            }),
            ..PodStatus::default()
        });
        Arc::new(pod)
    }

    fn names(pods: &[Arc<Pod>]) -> Vec<&str> {
        pods.iter().filter_map(|pod| pod.metadata.name.as_deref()).collect()
    }

    #[test]
    fn every_fitting_node_has_one() {
        let set = set("a");
        let mut tainted = (*node("c")).clone();
        tainted.spec = Some(NodeSpec {
            taints: Some(vec![Taint { key: "gpu".into(), effect: "NoSchedule".into(), ..Taint::default() }]),
            ..NodeSpec::default()
        });
        let nodes = [node("a"), node("b"), Arc::new(tainted)];
        let pods = [pod(&set, "a", true), pod(&set, "c", true), pod(&set, "gone", true)];
        let plan = plan(&set, &nodes, &pods, Timestamp::UNIX_EPOCH);
        assert_eq!(plan.create, ["b"]);
        assert_eq!(names(&plan.delete), ["agent-c", "agent-gone"]);
        let status = plan.status;
        assert_eq!(
            (status.desired_number_scheduled, status.current_number_scheduled, status.number_misscheduled),
            (2, 1, 1)
        );
        assert_eq!((status.number_ready, status.number_unavailable), (1, Some(1)));
    }

    #[test]
    fn an_update_takes_broken_pods_and_then_one_at_a_time() {
        let (before, after) = (set("a"), set("b"));
        let nodes = ["a", "b", "c"].map(node);
        let healthy = ["a", "b", "c"].map(|node| pod(&before, node, true));
        let plan_of = |pods: &[Arc<Pod>]| plan(&after, &nodes, pods, Timestamp::UNIX_EPOCH);
        assert_eq!(names(&plan_of(&healthy).delete), ["agent-a"]);
        let half = [pod(&after, "a", false), healthy[1].clone(), healthy[2].clone()];
        assert_eq!(names(&plan_of(&half).delete), [""; 0], "the new pod is not available yet");
        let broken = [pod(&before, "a", false), healthy[1].clone(), healthy[2].clone()];
        assert_eq!(names(&plan_of(&broken).delete), ["agent-a"]);
    }
}
