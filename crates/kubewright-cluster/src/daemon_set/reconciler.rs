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
    pod::{Expectations, PATIENCE, Trust},
};

const NAME: &str = "daemonset-controller";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let sets = manager.cache().declare(InformerOptions::<DaemonSet>::new())?;
    let pods = manager.cache().declare(InformerOptions::<Pod>::new())?;
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
            pods,
            nodes,
            expectations: Expectations::default(),
        }))
}

struct DaemonSetReconciler {
    context: Context,
    sets: Informer<DaemonSet>,
    pods: Informer<Pod>,
    nodes: Informer<Node>,
    expectations: Expectations,
}

impl Reconciler for DaemonSetReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let client = &self.context.client;
        let Some(set) = self.sets.get(&request) else {
            self.expectations.forget(&request);
            return Ok(Action::done());
        };
        let Some(selector) = ownership::selector(&set.spec.selector) else { return Ok(Action::done()) };
        let mut all = self.pods.list(Some(request.namespace()));
        let mut trust = self.expectations.compare(&request, &all);
        if trust == Trust::Lost {
            let options = ListOptions::in_namespace(request.namespace());
            all = client.live().list::<Pod>(options).await?.into_iter().map(std::sync::Arc::new).collect();
            self.expectations.forget(&request);
            trust = Trust::Current;
        }
        let owned = ownership::claim_all(client, &*set, Some(&selector), all).await?;
        let plan = plan::plan(&set, &self.nodes.list(None), &owned, self.context.clock.now());

        if trust == Trust::Current {
            for pod in &plan.delete {
                let uid = pod.uid().unwrap_or_default();
                let options = DeleteOptions::background().uid(&uid);
                client.delete::<Pod>(Request::of(&**pod), options).await?;
                self.expectations.deleted(&request, uid);
                let message = format!("Deleted pod: {}", pod.name_any());
                self.context.tell(&*set, &Note::normal("SuccessfulDelete", "Deleting", message));
            }
            for node in &plan.create {
                if !self.create(&request, &set, node).await? {
                    return Ok(Action::done());
                }
            }
        }
        if set.status.as_ref() != Some(&plan.status) {
            let mut updated = (*set).clone();
            updated.status = Some(plan.status);
            self.context.write_status(&updated).await?;
        }
        Ok(match plan.check_after {
            Some(delay) => Action::requeue_after(delay),
            None if trust == Trust::Lagging => Action::requeue_after(PATIENCE),
            None => Action::done(),
        })
    }
}

impl DaemonSetReconciler {
    /// `false` means that the namespace is going, and nothing can be created in it.
    async fn create(&self, request: &Request, set: &DaemonSet, node: &str) -> Result<bool> {
        match self.context.client.create(&pods::new_pod(set, node)).await {
            Ok(created) => {
                self.expectations.created(request, created.uid().unwrap_or_default());
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
