//! The pod garbage collector: deletes pods that no kubelet can end.
//!
//! A pod ends when its kubelet says so. One that was never bound has no kubelet, and the kubelet of a node
//! that is gone does not speak any more.

use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Pod};
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::DeleteOptions,
    controller::Controller,
    handler::enqueue_mapped,
    manager::Manager,
};

use crate::{
    cluster::Settings,
    context::{Context, RetryConflicts},
    pod,
};

const NAME: &str = "pod-garbage-collector-controller";
/// How long a node may be unknown before its pods are taken for lost: it may be about to register.
const QUARANTINE: Duration = Duration::from_secs(40);

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let pods = manager.cache().declare(InformerOptions::<Pod>::new())?;
    let nodes = manager.cache().declare(InformerOptions::<Node>::new())?;
    let bound = pods.clone();
    Controller::for_kind::<Pod>(manager)
        .named(NAME)
        .watches(enqueue_mapped(move |node: &Node| {
            let name = node.metadata.name.as_deref();
            bound
                .list(None)
                .iter()
                .filter(|pod| node_of(pod) == name)
                .map(|pod| Request::of(&**pod))
                .collect::<Vec<_>>()
        }))
        .run(RetryConflicts(PodGarbageCollector {
            context: Context::new(manager, settings, NAME),
            pods,
            nodes,
        }))
}

/// The node a pod is bound to.
fn node_of(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|node| !node.is_empty())
}

struct PodGarbageCollector {
    context: Context,
    pods: Informer<Pod>,
    nodes: Informer<Node>,
}

impl Reconciler for PodGarbageCollector {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(pod) = self.pods.get(&request) else { return Ok(Action::done()) };
        let is_lost = match node_of(&pod) {
            None => pod.metadata.deletion_timestamp.is_some(),
            Some(node) if self.nodes.get(&Request::cluster(node)).is_some() => false,
            Some(node) => {
                let live = self.context.client.live();
                let registered = live.get::<Node>(Request::cluster(node)).await?.is_some();
                if !registered && pod::age(&pod, self.context.clock.now()) < QUARANTINE {
                    return Ok(Action::requeue_after(QUARANTINE));
                }
                !registered
            }
        };
        if !is_lost {
            return Ok(Action::done());
        }
        let is_held = pod.metadata.finalizers.as_ref().is_some_and(|finalizers| !finalizers.is_empty());
        if is_held && pod.metadata.deletion_grace_period_seconds == Some(0) && pod::is_finished(&pod) {
            return Ok(Action::done());
        }
        if !pod::is_finished(&pod) {
            let mut failed = (*pod).clone();
            failed.status.get_or_insert_default().phase = Some("Failed".into());
            self.context.write_status(&failed).await?;
        }
        let options = DeleteOptions::default()
            .grace_period(Duration::ZERO)
            .uid(pod.metadata.uid.clone().unwrap_or_default());
        self.context.client.delete::<Pod>(&request, options).await?;
        Ok(Action::done())
    }
}
