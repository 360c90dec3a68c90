//! The operator of the example on kube-rs: the same watches, the same calls in the same order, the same objects.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::{
    api::{apps::v1::Deployment, core::v1::Pod},
    apimachinery::pkg::apis::meta::v1::{Condition, Time},
    jiff::Timestamp,
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{Patch, PatchParams},
    runtime::{
        Controller, WatchStreamExt, controller, controller::Action, events, events::Recorder, reflector,
        reflector::ObjectRef, reflector::Store, watcher,
    },
};
use serde_json::json;

use crate::{
    api::{Memcached, MemcachedStatus},
    deployment::{self, INSTANCE},
};

const FINALIZER: &str = "cache.example.com/finalizer";
const MANAGER: &str = "memcached-operator";

struct Context {
    client: Client,
    /// A store of its own: the controller watches pods, but keeps none.
    pods: Store<Pod>,
    events: Recorder,
    image: &'static str,
}

pub(crate) async fn run(client: Client, image: &'static str, workers: u16) {
    let (pods, writer) = reflector::store();
    let watched = watcher(Api::<Pod>::all(client.clone()), watcher::Config::default()).default_backoff();
    tokio::spawn(reflector(writer, watched).for_each(|_| std::future::ready(())));

    let events = Recorder::new(client.clone(), "memcached-controller".into());
    let context = Arc::new(Context { client: client.clone(), pods, events, image });
    Controller::new(Api::<Memcached>::all(client.clone()), watcher::Config::default())
        .owns(Api::<Deployment>::all(client.clone()), watcher::Config::default())
        .watches(Api::<Pod>::all(client), watcher::Config::default(), |pod| {
            let instance = pod.labels().get(INSTANCE)?;
            Some(ObjectRef::new(instance).within(&pod.namespace()?))
        })
        .with_config(controller::Config::default().concurrency(workers))
        .shutdown_on_signal()
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(1)), context)
        .for_each(|reconciled| {
            if let Err(error) = reconciled {
                tracing::warn!(%error, "reconciliation failed");
            }
            std::future::ready(())
        })
        .await;
}

async fn reconcile(memcached: Arc<Memcached>, context: Arc<Context>) -> Result<Action, kube::Error> {
    let namespace = memcached.namespace().unwrap_or_default();
    let api: Api<Memcached> = Api::namespaced(context.client.clone(), &namespace);
    if memcached.meta().deletion_timestamp.is_some() {
        return finalize(&api, &memcached, &context).await;
    }
    if !memcached.finalizers().iter().any(|present| present == FINALIZER) {
        let finalizers = [memcached.finalizers(), &[FINALIZER.to_owned()]].concat();
        write_finalizers(&api, &memcached, finalizers).await?;
    }
    let desired = deployment::desired(&memcached, context.image);
    let deployments: Api<Deployment> = Api::namespaced(context.client.clone(), &namespace);
    let parameters = PatchParams::apply(MANAGER).force();
    let deployment = deployments.patch(&memcached.name_any(), &parameters, &Patch::Apply(&desired)).await?;

    let mut status = memcached.status.clone().unwrap_or_default();
    status.nodes = nodes(&memcached, &context.pods);
    for condition in conditions(&memcached, &deployment) {
        set_condition(&mut status, condition);
    }
    if memcached.status.as_ref() != Some(&status) {
        let patch = Patch::Merge(json!({ "status": status }));
        api.patch_status(&memcached.name_any(), &parameters_of_merge(), &patch).await?;
    }
    Ok(Action::await_change())
}

/// Lets a deleted Memcached go.
async fn finalize(
    api: &Api<Memcached>,
    memcached: &Memcached,
    context: &Context,
) -> Result<Action, kube::Error> {
    if !memcached.finalizers().iter().any(|present| present == FINALIZER) {
        return Ok(Action::await_change());
    }
    let note = format!("Custom resource {} is being deleted", memcached.name_any());
    let event = events::Event {
        type_: events::EventType::Warning,
        reason: "Deleting".into(),
        note: Some(note),
        action: "Finalize".into(),
        secondary: None,
    };
    context.events.publish(&event, &memcached.object_ref(&())).await?;
    let others = memcached.finalizers().iter().filter(|present| *present != FINALIZER).cloned();
    write_finalizers(api, memcached, others.collect()).await?;
    Ok(Action::await_change())
}

async fn write_finalizers(
    api: &Api<Memcached>,
    memcached: &Memcached,
    finalizers: Vec<String>,
) -> Result<(), kube::Error> {
    let meta = memcached.meta();
    let patch = json!({
        "metadata": {"resourceVersion": meta.resource_version, "uid": meta.uid, "finalizers": finalizers}
    });
    api.patch(&memcached.name_any(), &parameters_of_merge(), &Patch::Merge(patch)).await.map(drop)
}

fn parameters_of_merge() -> PatchParams {
    PatchParams { field_manager: Some(MANAGER.to_owned()), ..Default::default() }
}

fn nodes(memcached: &Memcached, pods: &Store<Pod>) -> Vec<String> {
    let name = memcached.name_any();
    let pods = pods.state();
    let belong = pods
        .iter()
        .filter(|pod| pod.namespace() == memcached.namespace() && pod.labels().get(INSTANCE) == Some(&name));
    belong.map(|pod| pod.name_any()).collect()
}

/// What the state of `deployment` means for `memcached`.
fn conditions(memcached: &Memcached, deployment: &Deployment) -> [Condition; 3] {
    let wanted = memcached.spec.size;
    let status = deployment.status.clone().unwrap_or_default();
    let current = status.observed_generation == deployment.meta().generation;
    let available = status.available_replicas.unwrap_or_default();
    let problem = status.conditions.iter().flatten().find(|condition| {
        let is = |type_: &str, status: &str| {
            condition.type_.as_deref() == Some(type_) && condition.status.as_deref() == Some(status)
        };
        is("Progressing", "False") || is("ReplicaFailure", "True")
    });
    let is_available = current && available >= wanted;
    let is_complete =
        is_available && status.updated_replicas == Some(wanted) && status.replicas == Some(wanted);
    let condition = |type_: &str, is_true: bool, reason: &str, message: String| Condition {
        type_: type_.to_owned(),
        status: if is_true { "True" } else { "False" }.to_owned(),
        reason: reason.to_owned(),
        message,
        observed_generation: memcached.meta().generation,
        last_transition_time: Time(Timestamp::now()),
    };
    let count = format!("{available} of {wanted} instances are available");
    [
        match is_available {
            true => condition("Available", true, "InstancesAvailable", count),
            false => condition("Available", false, "InstancesUnavailable", count),
        },
        match is_complete {
            true => condition("Progressing", false, "RolledOut", "all instances run as specified".into()),
            false => {
                let message = "instances are being started or replaced".into();
                condition("Progressing", true, "RollingOut", message)
            }
        },
        match problem {
            None => condition("Degraded", false, "AsExpected", "the Deployment reports no problem".into()),
            Some(problem) => {
                let reason = problem.reason.as_deref().unwrap_or("DeploymentFailed");
                condition("Degraded", true, reason, problem.message.clone().unwrap_or_default())
            }
        },
    ]
}

/// Sets a condition; its time is kept where its status does not change.
fn set_condition(status: &mut MemcachedStatus, mut condition: Condition) {
    let same = |present: &&mut Condition| present.type_ == condition.type_;
    match status.conditions.iter_mut().find(same) {
        Some(present) => {
            if present.status == condition.status {
                condition.last_transition_time.clone_from(&present.last_transition_time);
            }
            *present = condition;
        }
        None => status.conditions.push(condition),
    }
}
