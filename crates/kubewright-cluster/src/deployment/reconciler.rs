use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::{Deployment, DeploymentStatus, ReplicaSet},
    core::v1::Pod,
};
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::{ClientError, DeleteOptions},
    controller::Controller,
    handler::enqueue_mapped,
    manager::Manager,
};

use super::{
    plan::{self, Change, Plan},
    revision,
    scale::size,
    status::{self, PROGRESSING, reason},
    strategy,
};
use crate::{
    cluster::Settings,
    context::{self, Context, RetryConflicts},
    note::Note,
    ownership,
    pod_template::templates_equal,
};

const NAME: &str = "deployment-controller";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let deployments = manager.cache().declare(InformerOptions::<Deployment>::new())?;
    let replica_sets = manager.cache().declare(InformerOptions::<ReplicaSet>::new())?;
    let pods = manager.cache().declare(InformerOptions::<Pod>::new())?;
    let adopters = ownership::enqueue_adopters(deployments.clone(), |deployment: &Deployment| {
        ownership::selector(&deployment.spec.selector)
    });
    Controller::for_kind::<Deployment>(manager)
        .named(NAME)
        .owns::<ReplicaSet>()
        .watches::<ReplicaSet>(adopters)
        .watches(enqueue_mapped({
            let (deployments, replica_sets) = (deployments.clone(), replica_sets.clone());
            move |pod: &Pod| recreating(pod, &replica_sets, &deployments).into_iter().collect::<Vec<_>>()
        }))
        .run(RetryConflicts(DeploymentReconciler {
            context: Context::new(manager, settings, NAME),
            deployments,
            replica_sets,
            pods,
        }))
}

/// The Deployment of a pod, if it recreates its pods and therefore waits for each to go.
fn recreating(
    pod: &Pod,
    replica_sets: &Informer<ReplicaSet>,
    deployments: &Informer<Deployment>,
) -> Option<Request> {
    let owner = |meta: &kube::core::ObjectMeta, kind: &str| {
        let controller = ownership::controller_of(meta).filter(|controller| controller.kind == kind)?;
        Some(Request::namespaced(meta.namespace.clone().unwrap_or_default(), controller.name.clone()))
    };
    let replica_set = replica_sets.get(&owner(&pod.metadata, "ReplicaSet")?)?;
    let request = owner(&replica_set.metadata, "Deployment")?;
    deployments.get(&request).filter(|deployment| !strategy::is_rolling(deployment)).map(|_| request)
}

struct DeploymentReconciler {
    context: Context,
    deployments: Informer<Deployment>,
    replica_sets: Informer<ReplicaSet>,
    pods: Informer<Pod>,
}

impl Reconciler for DeploymentReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(deployment) = self.deployments.get(&request) else { return Ok(Action::done()) };
        let Some(selector) = ownership::selector(&deployment.spec.selector) else {
            let message = "This deployment is selecting all pods. A non-empty selector is required.";
            self.context.tell(&*deployment, &Note::warning("SelectingAll", "Syncing", message));
            return Ok(Action::done());
        };
        let namespace = Some(request.namespace());
        let replica_sets = self.replica_sets.list(namespace);
        let client = &self.context.client;
        let replica_sets = ownership::claim_all(client, &*deployment, Some(&selector), replica_sets).await?;
        // Only a recreation waits for single pods.
        let pods = if strategy::is_rolling(&deployment) { Vec::new() } else { self.pods.list(namespace) };

        let plan = plan::plan(&deployment, replica_sets, &pods, self.context.clock.now());
        let check_after = plan.check_after;
        self.carry_out(deployment, plan).await?;
        Ok(check_after.map_or(Action::done(), Action::requeue_after))
    }
}

impl DeploymentReconciler {
    async fn carry_out(&self, deployment: Arc<Deployment>, mut plan: Plan) -> Result<()> {
        for change in std::mem::take(&mut plan.changes) {
            match self.change(&deployment, change).await? {
                Outcome::Done => {}
                Outcome::Failed(status, error) => {
                    self.write_status(&deployment, *status).await?;
                    return Err(error.into());
                }
                Outcome::Collided => {
                    let mut status = deployment.status.clone().unwrap_or_default();
                    status.collision_count = Some(status.collision_count.unwrap_or(0) + 1);
                    return self.write_status(&deployment, status).await;
                }
            }
        }
        let mut deployment = deployment;
        if let Some(revision) = plan.revision {
            // A write of the status takes the annotation along. One of the Deployment itself would count as a
            // change of what is desired, and raise its generation.
            let deployment = Arc::make_mut(&mut deployment);
            let annotations = deployment.metadata.annotations.get_or_insert_default();
            annotations.insert(revision::REVISION.into(), revision.to_string());
            deployment.status = None;
        }
        self.write_status(&deployment, plan.status).await
    }

    async fn change(&self, deployment: &Deployment, change: Change) -> Result<Outcome> {
        let client = &self.context.client;
        match change {
            Change::Create { replica_set } => match client.create(&*replica_set).await {
                Ok(created) => self.tell_scaled(deployment, &created, 0),
                Err(error) if error.is_already_exists() => {
                    let key = Request::of(&*replica_set);
                    let existing = client.live().get::<ReplicaSet>(key).await?;
                    let is_ours = existing.is_some_and(|existing| {
                        ownership::is_controlled_by(&existing.metadata, deployment.metadata.uid.as_deref())
                            && existing
                                .spec
                                .template
                                .as_ref()
                                .is_some_and(|own| templates_equal(own, &deployment.spec.template))
                    });
                    // Ours means that the cache does not show it yet. Any other one has a name that this
                    // template cannot use: the next hash differs.
                    return if is_ours { Err(error.into()) } else { Ok(Outcome::Collided) };
                }
                Err(error) if context::has_cause(&error, "NamespaceTerminating") => {}
                Err(error) => return Ok(self.failed_to_create(deployment, &replica_set, error)),
            },
            Change::Update { replica_set, scaled_from } => {
                client.update(&*replica_set).await?;
                if let Some(from) = scaled_from {
                    self.tell_scaled(deployment, &replica_set, from);
                }
            }
            Change::Delete { replica_set } => {
                let options = DeleteOptions::background().uid(replica_set.uid().unwrap_or_default());
                client.delete::<ReplicaSet>(Request::of(&*replica_set), options).await?;
            }
        }
        Ok(Outcome::Done)
    }

    fn tell_scaled(&self, deployment: &Deployment, replica_set: &ReplicaSet, from: i32) {
        let to = size(replica_set);
        if from == to {
            return;
        }
        let direction = if to > from { "up" } else { "down" };
        let message =
            format!("Scaled {direction} replica set {} from {from} to {to}", replica_set.name_any());
        self.context.tell(deployment, &Note::normal("ScalingReplicaSet", "Scaling", message));
    }

    fn failed_to_create(
        &self,
        deployment: &Deployment,
        replica_set: &ReplicaSet,
        error: ClientError,
    ) -> Outcome {
        let message = format!("Failed to create new replica set {:?}: {error}", replica_set.name_any());
        self.context.tell(deployment, &Note::warning(reason::CREATE_FAILED, "Creating", message.clone()));
        let mut status = deployment.status.clone().unwrap_or_default();
        if status::progress_deadline(deployment).is_some() {
            let now = self.context.clock.now();
            let condition = status::new_condition(PROGRESSING, "False", reason::CREATE_FAILED, message, now);
            status::set_condition(&mut status, condition);
        }
        Outcome::Failed(Box::new(status), error)
    }

    async fn write_status(&self, deployment: &Deployment, status: DeploymentStatus) -> Result<()> {
        if deployment.status.as_ref() == Some(&status) {
            return Ok(());
        }
        let mut updated = deployment.clone();
        updated.status = Some(status);
        self.context.write_status(&updated).await
    }
}

enum Outcome {
    Done,
    /// The new ReplicaSet cannot be created: write this status and try again.
    Failed(Box<DeploymentStatus>, ClientError),
    /// The new ReplicaSet's name is taken.
    Collided,
}
