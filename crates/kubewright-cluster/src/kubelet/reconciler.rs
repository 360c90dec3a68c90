use std::{
    collections::BTreeMap,
    net::Ipv4Addr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Pod, PodStatus};
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::DeleteOptions,
    controller::Controller,
    manager::Manager,
};
use tokio_util::sync::CancellationToken;

use super::{
    address::AddressPool,
    lifecycle::{self, Addresses, Step},
    node::{self, HEARTBEAT, Identity},
};
use crate::{
    cluster::Settings,
    context::{Context, RetryConflicts},
    note::Note,
    pod,
};

const NAME: &str = "kubelet";
const NODE_IP: &str = "172.18.0.2";
const POD_NETWORK: Ipv4Addr = Ipv4Addr::new(10, 244, 0, 0);
const POD_CIDR: &str = "10.244.0.0/16";
const POD_NETWORK_SIZE: u32 = 1 << 16;

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let context = Context::new(manager, settings, NAME);
    let heart = context.clone();
    manager.add("kubelet-heartbeat", move |stop: CancellationToken| async move {
        keep_registered(&heart, &stop).await;
        Ok(())
    })?;
    let pods = manager.cache().declare(InformerOptions::<Pod>::new())?;
    let pool = Mutex::new(Leases::new());
    Controller::for_kind::<Pod>(manager).named(NAME).run(RetryConflicts(KubeletReconciler {
        context,
        pods,
        pool,
    }))
}

/// Registers the node and keeps its lease, until `stop`.
async fn keep_registered(context: &Context, stop: &CancellationToken) {
    let identity = Identity { name: &context.settings.node, ip: NODE_IP, pod_cidr: POD_CIDR };
    loop {
        let beat = node::beat(&context.client, &context.clock, identity);
        let result = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            result = beat => result,
        };
        // A beat that fails is made up for by the next one; before the first one there is no node at all.
        let pause = match result {
            Ok(()) => HEARTBEAT,
            Err(error) => {
                tracing::debug!(%error, "the node's heartbeat failed");
                Duration::from_secs(1)
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

struct KubeletReconciler {
    context: Context,
    pods: Informer<Pod>,
    pool: Mutex<Leases>,
}

/// The addresses in use, by pod.
struct Leases {
    pool: AddressPool,
    uids: BTreeMap<Request, String>,
}

impl Reconciler for KubeletReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let pod = self.pods.get(&request).filter(|pod| self.is_ours(pod));
        let Some(pod) = pod else {
            self.release(&request);
            return Ok(Action::done());
        };
        let address = self.address(&request, &pod);
        let now = self.context.clock.now();
        match lifecycle::next(&pod, Addresses { host: NODE_IP, pod: &address }, now) {
            Step::Finished => Ok(Action::done()),
            Step::Terminate { until } => Ok(again(now, until)),
            Step::Report { status, notes, change_at } => {
                self.report(&pod, *status, &notes).await?;
                Ok(change_at.map_or(Action::done(), |at| again(now, at)))
            }
            Step::Remove { status, notes } => {
                self.remove(&request, &pod, *status, &notes).await?;
                Ok(Action::done())
            }
        }
    }
}

impl KubeletReconciler {
    fn is_ours(&self, pod: &Pod) -> bool {
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
        node == Some(&*self.context.settings.node)
    }

    async fn report(&self, pod: &Arc<Pod>, status: PodStatus, notes: &[Note]) -> Result<()> {
        if pod.status.as_ref() != Some(&status) {
            let mut updated = (**pod).clone();
            updated.status = Some(status);
            self.context.write_status(&updated).await?;
        }
        // Told after the write: one that meets a conflict is made again, and would tell twice.
        for note in notes {
            self.context.tell(&**pod, note);
        }
        Ok(())
    }

    async fn remove(
        &self,
        request: &Request,
        pod: &Arc<Pod>,
        status: PodStatus,
        notes: &[Note],
    ) -> Result<()> {
        let is_held = pod.metadata.finalizers.as_ref().is_some_and(|finalizers| !finalizers.is_empty());
        if is_held {
            if pod::is_finished(pod) && pod.metadata.deletion_grace_period_seconds == Some(0) {
                return Ok(());
            }
            // The pod stays until its finalizers are removed, and their owners look at how it ended.
            self.report(pod, status, notes).await?;
        }
        let options = DeleteOptions::default()
            .grace_period(Duration::ZERO)
            .uid(pod.metadata.uid.clone().unwrap_or_default());
        self.context.client.delete::<Pod>(request, options).await?;
        if !is_held {
            for note in notes {
                self.context.tell(&**pod, note);
            }
        }
        Ok(())
    }

    fn address(&self, request: &Request, pod: &Pod) -> String {
        if pod.spec.as_ref().and_then(|spec| spec.host_network) == Some(true) {
            return NODE_IP.into();
        }
        let uid = pod.metadata.uid.clone().unwrap_or_default();
        let has =
            pod.status.as_ref().and_then(|status| status.pod_ip.as_ref()).and_then(|ip| ip.parse().ok());
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).address(request, uid, has).to_string()
    }

    fn release(&self, request: &Request) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).release(request);
    }
}

impl Leases {
    fn new() -> Self {
        Self { pool: AddressPool::new(POD_NETWORK, POD_NETWORK_SIZE), uids: BTreeMap::new() }
    }

    fn address(&mut self, request: &Request, uid: String, has: Option<Ipv4Addr>) -> Ipv4Addr {
        if self.uids.get(request).is_some_and(|known| *known != uid) {
            self.release(request);
        }
        let address = self.pool.address(&uid, has);
        self.uids.insert(request.clone(), uid);
        address
    }

    fn release(&mut self, request: &Request) {
        if let Some(uid) = self.uids.remove(request) {
            self.pool.release(&uid);
        }
    }
}

/// Looks again at `at`.
fn again(now: Timestamp, at: Timestamp) -> Action {
    let delay = Duration::try_from(at.duration_since(now)).unwrap_or(Duration::ZERO);
    // A delay of zero would mean never.
    Action::requeue_after(delay.max(Duration::from_millis(1)))
}
