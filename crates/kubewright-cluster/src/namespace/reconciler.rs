use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Namespace, NamespaceStatus},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use kube::{
    Api,
    api::ListParams,
    core::{DynamicObject, PartialObjectMeta},
};
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    client::{DeleteOptions, ListOptions},
    controller::Controller,
    manager::Manager,
};

use super::conditions::Progress;
use crate::{
    cluster::Settings,
    context::{Context, RetryConflicts},
    discovery::{self, Discovered, Resource},
};

const NAME: &str = "namespace-controller";
/// The finalizer in a namespace's spec that this controller removes last.
const KUBERNETES: &str = "kubernetes";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let reconciler = NamespaceReconciler { context: Context::new(manager, settings, NAME) };
    Controller::for_kind::<Namespace>(manager).named(NAME).run(RetryConflicts(reconciler))
}

struct NamespaceReconciler {
    context: Context,
}

impl Reconciler for NamespaceReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let client = &self.context.client;
        // Read from the server: to finalize on the word of a stale cache would leave contents behind.
        let Some(mut namespace) = client.live().get::<Namespace>(&request).await? else {
            return Ok(Action::done());
        };
        let Some(Time(deleted)) = namespace.metadata.deletion_timestamp.clone() else {
            return Ok(Action::done());
        };
        let finalizers = namespace.spec.as_ref().and_then(|spec| spec.finalizers.clone()).unwrap_or_default();
        if !finalizers.iter().any(|finalizer| finalizer == KUBERNETES) {
            return Ok(Action::done());
        }
        if namespace.status.as_ref().and_then(|status| status.phase.as_deref()) != Some("Terminating") {
            namespace.status.get_or_insert_default().phase = Some("Terminating".into());
            namespace = client.status().update(&namespace).await?;
        }

        let progress = self.empty(&request.name).await?;
        let now = self.context.clock.now();
        let current = namespace.status.clone().unwrap_or_default();
        let conditions = progress.conditions(current.conditions.as_deref().unwrap_or_default(), now);
        let status = NamespaceStatus { conditions: Some(conditions), ..current };
        if namespace.status.as_ref() != Some(&status) {
            namespace.status = Some(status);
            namespace = client.status().update(&namespace).await?;
        }
        if !progress.is_complete() {
            return Ok(Action::requeue_after(patience(deleted, now)));
        }
        let kept = finalizers.into_iter().filter(|finalizer| finalizer != KUBERNETES).collect();
        namespace.spec.get_or_insert_default().finalizers = Some(kept);
        match client.subresource("finalize").update::<Namespace, Namespace>(&request, &namespace).await {
            Ok(_) => Ok(Action::done()),
            Err(error) if error.is_not_found() => Ok(Action::done()),
            Err(error) => Err(error.into()),
        }
    }
}

impl NamespaceReconciler {
    /// Deletes the contents of a namespace, and says what is left of them.
    ///
    /// A round that finds nothing is complete. One that deletes something is not, even if all of it went at
    /// once: the next round makes sure.
    async fn empty(&self, namespace: &str) -> Result<Progress> {
        let mut progress = Progress::default();
        let discovered = match discovery::discover(self.context.client.kube()).await {
            Ok(discovered) => discovered,
            Err(error) => Discovered { failures: vec![error.to_string()], ..Discovered::default() },
        };
        if !discovered.failures.is_empty() {
            progress.discovery_failure = Some(discovered.failures.join("; "));
        }
        let is_content = |resource: &&Resource| {
            resource.namespaced && resource.supports("list") && resource.supports("delete")
        };
        let (pods, others): (Vec<_>, Vec<_>) =
            discovered.resources.iter().filter(is_content).partition(|resource| is_pod(resource));
        // Pods first: while they run, what protects them, as network policies, has to stay.
        for resource in pods {
            self.delete_all(resource, namespace, &mut progress).await;
        }
        if progress.remaining.is_empty() {
            for resource in others {
                self.delete_all(resource, namespace, &mut progress).await;
            }
        }
        Ok(progress)
    }

    async fn delete_all(&self, resource: &Resource, namespace: &str, progress: &mut Progress) {
        match self.try_delete_all(resource, namespace).await {
            Ok(left) if left.is_empty() => {}
            Ok(left) => {
                for finalizer in left.iter().flat_map(|meta| meta.finalizers.iter().flatten()) {
                    *progress.finalizers.entry(finalizer.clone()).or_default() += 1;
                }
                progress.remaining.insert(resource.qualified_name(), left.len());
            }
            Err(error) => progress.failures.push(format!("{}: {error}", resource.qualified_name())),
        }
    }

    /// Deletes the objects of a resource and gives those that were there before, or that stay.
    async fn try_delete_all(&self, resource: &Resource, namespace: &str) -> Result<Vec<ObjectMeta>> {
        let kind = resource.api_resource();
        let client = self.context.client.kube().clone();
        let api = Api::<PartialObjectMeta<DynamicObject>>::namespaced_with(client, namespace, &kind);
        let list = async || match api.list(&ListParams::default()).await {
            Ok(list) => Ok(list.items.into_iter().map(|object| object.metadata).collect::<Vec<_>>()),
            // The resource went after discovery, and its objects with it.
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(Vec::new()),
            Err(error) => Err(error),
        };
        let before = list().await?;
        if before.iter().all(|object| object.deletion_timestamp.is_some()) {
            return Ok(before);
        }
        let objects = self.context.client.dynamic(&kind);
        if resource.supports("deletecollection") {
            objects.delete_all_of(ListOptions::in_namespace(namespace), DeleteOptions::background()).await?;
        } else {
            for object in &before {
                let key = Request::namespaced(namespace, object.name.clone().unwrap_or_default());
                objects.delete(key, DeleteOptions::background()).await?;
            }
        }
        let after = list().await?;
        Ok(if after.is_empty() { before } else { after })
    }
}

/// The time until the next round: the longer the deletion takes, the longer.
fn patience(deleted: Timestamp, now: Timestamp) -> Duration {
    let elapsed = Duration::try_from(now.duration_since(deleted)).unwrap_or(Duration::ZERO);
    (elapsed / 2).clamp(Duration::from_millis(100), Duration::from_secs(5))
}

fn is_pod(resource: &Resource) -> bool {
    resource.group.is_empty() && resource.plural == "pods"
}
