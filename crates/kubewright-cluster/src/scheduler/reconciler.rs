use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use k8s_openapi::{
    api::core::v1::{Binding, Node, ObjectReference, Pod, PodCondition},
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    controller::Controller,
    handler::enqueue_mapped,
    manager::Manager,
};

use super::placement;
use crate::{
    cluster::Settings,
    context::{Context, RetryConflicts},
    note::Note,
    pod,
};

const NAME: &str = "default-scheduler";
/// How long a pod that fits nowhere waits for pods to go; a change of a node tries again at once.
const RETRY: Duration = Duration::from_secs(10);

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let pods = manager.cache().declare(InformerOptions::<Pod>::new())?;
    let nodes = manager.cache().declare(InformerOptions::<Node>::new())?;
    let waiting = pods.clone();
    Controller::for_kind::<Pod>(manager)
        .named("scheduler")
        .watches(enqueue_mapped(move |_: &Node| {
            waiting
                .list(None)
                .iter()
                .filter(|pod| is_waiting(pod))
                .map(|pod| Request::of(&**pod))
                .collect::<Vec<_>>()
        }))
        .run(RetryConflicts(SchedulerReconciler {
            context: Context::new(manager, settings, NAME),
            pods,
            nodes,
            assumed: Mutex::default(),
        }))
}

struct SchedulerReconciler {
    context: Context,
    pods: Informer<Pod>,
    nodes: Informer<Node>,
    /// The nodes of pods that were bound and that the cache still shows without one, by uid.
    assumed: Mutex<BTreeMap<String, String>>,
}

impl Reconciler for SchedulerReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(pod) = self.pods.get(&request).filter(|pod| is_waiting(pod)) else {
            return Ok(Action::done());
        };
        let uid = pod.uid().unwrap_or_default();
        let pods = self.with_assumed(self.pods.list(None));
        if pods.iter().any(|known| known.metadata.uid == pod.metadata.uid && is_bound(known)) {
            return Ok(Action::done());
        }
        let gates = pod.spec.as_ref().and_then(|spec| spec.scheduling_gates.as_ref());
        if gates.is_some_and(|gates| !gates.is_empty()) {
            let message = "Scheduling is blocked due to non-empty scheduling gates";
            self.report(&pod, "SchedulingGated", message).await?;
            return Ok(Action::done());
        }
        match placement::place(&pod, &self.nodes.list(None), &pods) {
            Ok(node) => {
                if !self.bind(&pod, &node).await? {
                    return Ok(Action::done());
                }
                self.lock().insert(uid, node.clone());
                let message = format!(
                    "Successfully assigned {}/{} to {node}",
                    pod.namespace().unwrap_or_default(),
                    pod.name_any()
                );
                self.context.tell(&*pod, &Note::normal("Scheduled", "Binding", message));
                Ok(Action::done())
            }
            Err(message) => {
                if self.report(&pod, "Unschedulable", &message).await? {
                    self.context.tell(&*pod, &Note::warning("FailedScheduling", "Scheduling", message));
                }
                Ok(Action::requeue_after(RETRY))
            }
        }
    }
}

impl SchedulerReconciler {
    /// Binds the pod; `false` means that it is gone.
    async fn bind(&self, pod: &Pod, node: &str) -> Result<bool> {
        let mut binding = Binding {
            target: ObjectReference {
                kind: Some("Node".into()),
                name: Some(node.into()),
                ..ObjectReference::default()
            },
            ..Binding::default()
        };
        binding.metadata.name = pod.metadata.name.clone();
        binding.metadata.namespace = pod.metadata.namespace.clone();
        binding.metadata.uid = pod.metadata.uid.clone();
        let binder = self.context.client.subresource("binding");
        match binder.create::<Pod, serde_json::Value>(Request::of(pod), &binding).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Says in the pod's status why it is not scheduled; says whether that is news.
    async fn report(&self, pod: &Pod, reason: &str, message: &str) -> Result<bool> {
        let current = pod::condition(pod, "PodScheduled");
        let says_so = |condition: &PodCondition| {
            condition.status == "False"
                && condition.reason.as_deref() == Some(reason)
                && condition.message.as_deref() == Some(message)
        };
        if current.is_some_and(says_so) {
            return Ok(false);
        }
        let since = current
            .filter(|condition| condition.status == "False")
            .and_then(|condition| condition.last_transition_time.clone());
        let condition = PodCondition {
            type_: "PodScheduled".into(),
            status: "False".into(),
            reason: Some(reason.into()),
            message: Some(message.into()),
            last_transition_time: since.or_else(|| Some(Time(self.context.clock.now()))),
            observed_generation: pod.metadata.generation,
            ..PodCondition::default()
        };
        let mut updated = pod.clone();
        let status = updated.status.get_or_insert_default();
        status.phase.get_or_insert_with(|| "Pending".into());
        let conditions = status.conditions.get_or_insert_default();
        conditions.retain(|condition| condition.type_ != "PodScheduled");
        conditions.push(condition);
        self.context.write_status(&updated).await?;
        Ok(true)
    }

    /// The pods as they are after the bindings that the cache does not show yet.
    fn with_assumed(&self, mut pods: Vec<Arc<Pod>>) -> Vec<Arc<Pod>> {
        let mut assumed = self.lock();
        let mut still = BTreeMap::new();
        for pod in &mut pods {
            let Some(uid) = pod.metadata.uid.clone() else { continue };
            if let Some(node) = assumed.remove(&uid).filter(|_| !is_bound(pod)) {
                Arc::make_mut(pod).spec.get_or_insert_default().node_name = Some(node.clone());
                still.insert(uid, node);
            }
        }
        // What is left is of pods that are gone.
        *assumed = still;
        pods
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, String>> {
        self.assumed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_bound(pod: &Pod) -> bool {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).is_some_and(|node| !node.is_empty())
}

/// Whether the pod waits for this scheduler.
fn is_waiting(pod: &Pod) -> bool {
    let scheduler = pod.spec.as_ref().and_then(|spec| spec.scheduler_name.as_deref());
    scheduler.is_none_or(|name| name.is_empty() || name == NAME) && !is_bound(pod) && pod::is_active(pod)
}
