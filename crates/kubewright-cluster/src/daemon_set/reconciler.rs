use k8s_openapi::api::{
    apps::v1::DaemonSet,
    core::v1::{Node, Pod},
};
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::{DeleteOptions, ListOptions},
    controller::Controller,
    handler::enqueue_mapped,
    manager::Manager,
};

use super::{plan, pods};
use crate::{
    cluster::Settings,
    context::{self, Context, RetryConflicts},
    note::Note,
    ownership,
};

const NAME: &str = "daemonset-controller";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let sets = manager.cache().declare(InformerOptions::<DaemonSet>::new())?;
    let nodes = manager.cache().declare(InformerOptions::<Node>::new())?;
    let adopters =
        ownership::enqueue_adopters(sets.clone(), |set: &DaemonSet| ownership::selector(&set.spec.selector));
    let every = sets.clone();
    Controller::for_kind::<DaemonSet>(manager)
        .named(NAME)
        .owns::<Pod>()
        .watches::<Pod>(adopters)
        .watches::<Node>(enqueue_mapped(move |_: &Node| {
            every.list(None).iter().map(|set| Request::of(&**set)).collect::<Vec<_>>()
        }))
        .run(RetryConflicts(DaemonSetReconciler {
            context: Context::new(manager, settings, NAME),
            sets,
            nodes,
        }))
}

struct DaemonSetReconciler {
    context: Context,
    sets: Informer<DaemonSet>,
    nodes: Informer<Node>,
}

impl Reconciler for DaemonSetReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let client = &self.context.client;
        let Some(set) = self.sets.get(&request) else { return Ok(Action::done()) };
        let Some(selector) = ownership::selector(&set.spec.selector) else { return Ok(Action::done()) };
        // Without the pods of its own making in it, the list would have it make them again.
        let all = ListOptions::in_namespace(request.namespace());
        let all = client.read_your_writes().list::<Pod>(all).await?;
        let owned = ownership::claim_all(client, &*set, Some(&selector), all).await?;
        let plan = plan::plan(&set, &self.nodes.list(None), &owned, self.context.clock.now());

        for pod in &plan.delete {
            let options = DeleteOptions::background().uid(pod.uid().unwrap_or_default());
            client.delete::<Pod>(Request::of(&**pod), options).await?;
            let message = format!("Deleted pod: {}", pod.name_any());
            self.context.tell(&*set, &Note::normal("SuccessfulDelete", "Deleting", message));
        }
        for node in &plan.create {
            if !self.create(&set, node).await? {
                return Ok(Action::done());
            }
        }
        if set.status.as_ref() != Some(&plan.status) {
            let mut updated = (*set).clone();
            updated.status = Some(plan.status);
            self.context.write_status(&updated).await?;
        }
        Ok(plan.check_after.map_or(Action::done(), Action::requeue_after))
    }
}

impl DaemonSetReconciler {
    /// `false` means that the namespace is going, and nothing can be created in it.
    async fn create(&self, set: &DaemonSet, node: &str) -> Result<bool> {
        match self.context.client.create(&pods::new_pod(set, node)).await {
            Ok(created) => {
                let message = format!("Created pod: {}", created.name_any());
                self.context.tell(set, &Note::normal("SuccessfulCreate", "Creating", message));
                Ok(true)
            }
            Err(error) if context::has_cause(&error, "NamespaceTerminating") => Ok(false),
            Err(error) => {
                let message = format!("Error creating: {error}");
                self.context.tell(set, &Note::warning("FailedCreate", "Creating", message));
                Err(error.into())
            }
        }
    }
}
