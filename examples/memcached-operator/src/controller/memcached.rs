//! Brings the Deployment of each Memcached about, and reports on it.

mod deployment;

use kubewright::{
    k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod},
    prelude::*,
};
use serde_json::json;

use crate::api::v1alpha1::{Memcached, MemcachedStatus};

/// Keeps a Memcached until this operator has cleaned up after it.
const FINALIZER: &str = "cache.example.com/finalizer";

/// The label that names the Memcached to which an object belongs.
const INSTANCE: &str = "app.kubernetes.io/instance";

/// The image that the instances run: `MEMCACHED_IMAGE`, which config/manager/manager.yaml sets, or the one with
/// which the project was made.
pub fn image() -> String {
    std::env::var("MEMCACHED_IMAGE").unwrap_or_else(|_| "memcached:1.4.36-alpine".to_owned())
}

/// Registers the controller with `manager`; the instances run `image`.
pub fn register(manager: &Manager, image: impl Into<String>) -> Result<()> {
    Controller::new::<Memcached>(manager)
        .owns::<Deployment>()
        .watches::<Pod>(enqueue_mapped(|pod: &Pod| {
            let instance = pod.labels().get(INSTANCE)?;
            Some(Request::namespaced(pod.namespace()?, instance))
        }))
        .run(MemcachedReconciler::new(manager, image))
}

/// Reconciles one Memcached.
#[derive(Debug)]
pub struct MemcachedReconciler {
    client: Client,
    events: Recorder,
    clock: Clock,
    image: String,
}

impl MemcachedReconciler {
    /// A reconciler that writes with the manager's client.
    pub fn new(manager: &Manager, image: impl Into<String>) -> Self {
        Self {
            client: manager.client(),
            events: manager.recorder("memcached-controller"),
            clock: manager.clock().clone(),
            image: image.into(),
        }
    }
}

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=patch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/finalizers,verbs=update
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
impl Reconciler for MemcachedReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(memcached) = self.client.get::<Memcached>(&request).await? else {
            // Deleted. What it owned is garbage collected.
            return Ok(Action::done());
        };
        if memcached.meta().deletion_timestamp.is_some() {
            return self.finalize(&memcached).await;
        }
        self.client.add_finalizer(&*memcached, FINALIZER).await?;

        let mut desired = deployment::desired(&memcached, &self.image);
        set_controller_reference(&*memcached, &mut desired)?;
        // Server-side apply: whatever else changed these fields is undone, other fields are left alone, and
        // nothing is written where nothing differs.
        let deployment = self.client.apply(&desired).await?;
        self.report(&memcached, &deployment).await?;
        // The watches tell when the Deployment or its pods change.
        Ok(Action::done())
    }
}

impl MemcachedReconciler {
    /// Lets a deleted Memcached go. There is nothing outside the cluster to clean up; an operator that has
    /// such things removes them here, and must be able to do so twice.
    async fn finalize(&self, memcached: &Memcached) -> Result<Action> {
        if contains_finalizer(memcached, FINALIZER) {
            let note = format!("Custom resource {} is being deleted", Request::of(memcached));
            self.events.warning(memcached, "Deleting", "Finalize", note);
            self.client.remove_finalizer(memcached, FINALIZER).await?;
        }
        Ok(Action::done())
    }

    /// Writes the status, if it differs from what is there.
    async fn report(&self, memcached: &Memcached, deployment: &Deployment) -> Result<()> {
        let instances = ListOptions::in_namespace(Request::of(memcached).namespace())
            .label(INSTANCE, memcached.name_any());
        let pods = self.client.list::<Pod>(instances).await?;
        let mut status: MemcachedStatus = memcached.status.clone().unwrap_or_default();
        status.nodes = pods.iter().map(|pod| pod.name_any()).collect();
        for condition in conditions(memcached, deployment) {
            let condition = condition.observed(memcached.meta().generation);
            set_condition(&mut status.conditions, condition, self.clock.now());
        }
        if memcached.status.as_ref() != Some(&status) {
            let patch = Patch::merge(json!({ "status": status }));
            self.client.status().patch::<Memcached>(memcached, patch).await?;
        }
        Ok(())
    }
}

/// What the state of `deployment` means for `memcached`.
fn conditions(memcached: &Memcached, deployment: &Deployment) -> [NewCondition; 3] {
    let wanted = memcached.spec.size;
    let status = deployment.status.clone().unwrap_or_default();
    let current = status.observed_generation == deployment.meta().generation;
    let available = status.available_replicas.unwrap_or_default();
    let updated = status.updated_replicas.unwrap_or_default();
    let replicas = status.replicas.unwrap_or_default();
    let problem = status.conditions.iter().flatten().find(|condition| {
        let is = |type_: &str, status: &str| {
            condition.type_.as_deref() == Some(type_) && condition.status.as_deref() == Some(status)
        };
        is("Progressing", "False") || is("ReplicaFailure", "True")
    });

    let count = format!("{available} of {wanted} instances are available");
    let is_available = current && available >= wanted;
    let is_complete = is_available && updated == wanted && replicas == wanted;
    [
        if is_available {
            NewCondition::new_true("Available", "InstancesAvailable", &count)
        } else {
            NewCondition::new_false("Available", "InstancesUnavailable", &count)
        },
        if is_complete {
            NewCondition::new_false("Progressing", "RolledOut", "all instances run as specified")
        } else {
            NewCondition::new_true("Progressing", "RollingOut", "instances are being started or replaced")
        },
        match problem {
            None => NewCondition::new_false("Degraded", "AsExpected", "the Deployment reports no problem"),
            Some(problem) => {
                let reason = problem.reason.as_deref().unwrap_or("DeploymentFailed");
                NewCondition::new_true("Degraded", reason, problem.message.clone().unwrap_or_default())
            }
        },
    ]
}
