use std::{collections::BTreeSet, sync::Arc};

use k8s_openapi::api::{
    apps::v1::{ReplicaSet, ReplicaSetStatus},
    core::v1::Pod,
};
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::{ClientError, DeleteOptions, ListOptions},
    controller::Controller,
    manager::Manager,
};

use super::{
    decision::{self, Decision},
    status::{self, Failure},
};
use crate::{
    cluster::Settings,
    context::{self, Context, RetryConflicts},
    note::Note,
    ownership, pod,
};

const NAME: &str = "replicaset-controller";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let replica_sets = manager.cache().declare(InformerOptions::<ReplicaSet>::new())?;
    let adopters = ownership::enqueue_adopters(replica_sets.clone(), |rs: &ReplicaSet| {
        ownership::selector(&rs.spec.selector)
    });
    Controller::for_kind::<ReplicaSet>(manager).named(NAME).owns::<Pod>().watches::<Pod>(adopters).run(
        RetryConflicts(ReplicaSetReconciler { context: Context::new(manager, settings, NAME), replica_sets }),
    )
}

struct ReplicaSetReconciler {
    context: Context,
    replica_sets: Informer<ReplicaSet>,
}

impl Reconciler for ReplicaSetReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let client = &self.context.client;
        let Some(replica_set) = self.replica_sets.get(&request) else { return Ok(Action::done()) };
        // Without the pods of its own making in it, the list would have it make them again.
        let pods = ListOptions::in_namespace(request.namespace());
        let pods = client.read_your_writes().list::<Pod>(pods).await?;
        let related = self.related(&replica_set, &pods);
        let selector = ownership::selector(&replica_set.spec.selector);
        let owned = ownership::claim_all(client, &*replica_set, selector.as_ref(), pods).await?;

        let mut failure = None;
        if replica_set.metadata.deletion_timestamp.is_none() {
            let active = owned.iter().filter(|pod| pod::is_active(pod)).cloned().collect();
            let decision = decision::decide(&replica_set, active, &related, self.context.clock.now());
            failure = self.carry_out(&replica_set, decision).await;
        }

        let cause = failure.as_ref().map(|(failure, _)| failure);
        let report = status::report(&replica_set, &owned, cause, self.context.clock.now());
        self.write_status(&replica_set, report.status).await?;
        match failure {
            // In a namespace that is being deleted there is nothing to retry.
            Some((_, error)) if context::has_cause(&error, "NamespaceTerminating") => Ok(Action::done()),
            Some((_, error)) => Err(error.into()),
            None => Ok(report.check_after.map_or(Action::done(), Action::requeue_after)),
        }
    }
}

impl ReplicaSetReconciler {
    /// Creates or deletes pods, up to the first failure.
    async fn carry_out(
        &self,
        replica_set: &ReplicaSet,
        decision: Decision,
    ) -> Option<(Failure, ClientError)> {
        let tell = |note: Note| self.context.tell(replica_set, &note);
        match decision {
            Decision::Keep => {}
            Decision::Create(count) => {
                let pod = decision::new_pod(replica_set);
                for _ in 0..count {
                    match self.context.client.create(&pod).await {
                        Ok(created) => {
                            let message = format!("Created pod: {}", created.name_any());
                            tell(Note::normal("SuccessfulCreate", "Creating", message));
                        }
                        Err(error) => {
                            tell(Note::warning(
                                "FailedCreate",
                                "Creating",
                                format!("Error creating: {error}"),
                            ));
                            let failure = Failure { reason: "FailedCreate", message: error.to_string() };
                            return Some((failure, error));
                        }
                    }
                }
            }
            Decision::Delete(pods) => {
                for pod in pods {
                    let options = DeleteOptions::background().uid(pod.uid().unwrap_or_default());
                    match self.context.client.delete::<Pod>(Request::of(&*pod), options).await {
                        Ok(_) => {
                            let message = format!("Deleted pod: {}", pod.name_any());
                            tell(Note::normal("SuccessfulDelete", "Deleting", message));
                        }
                        // Another pod has the name by now: the one that was to go is gone.
                        Err(error) if error.is_conflict() => {}
                        Err(error) => {
                            tell(Note::warning(
                                "FailedDelete",
                                "Deleting",
                                format!("Error deleting: {error}"),
                            ));
                            let failure = Failure { reason: "FailedDelete", message: error.to_string() };
                            return Some((failure, error));
                        }
                    }
                }
            }
        }
        None
    }

    async fn write_status(&self, replica_set: &ReplicaSet, status: ReplicaSetStatus) -> Result<()> {
        if replica_set.status.as_ref() == Some(&status) {
            return Ok(());
        }
        let mut updated = replica_set.clone();
        updated.status = Some(status);
        self.context.write_status(&updated).await
    }

    /// The pods of all ReplicaSets that have the same controller as this one.
    fn related(&self, replica_set: &ReplicaSet, pods: &[Arc<Pod>]) -> Vec<Arc<Pod>> {
        let controller = |rs: &ReplicaSet| ownership::controller_of(&rs.metadata).map(|c| c.uid.clone());
        let own = controller(replica_set);
        let siblings: BTreeSet<String> = self
            .replica_sets
            .list(replica_set.metadata.namespace.as_deref())
            .iter()
            .filter(|sibling| {
                sibling.metadata.uid == replica_set.metadata.uid
                    || (own.is_some() && controller(sibling) == own)
            })
            .filter_map(|sibling| sibling.metadata.uid.clone())
            .collect();
        let is_related = |pod: &&Arc<Pod>| {
            ownership::controller_of(&pod.metadata)
                .is_some_and(|controller| siblings.contains(&controller.uid))
        };
        pods.iter().filter(is_related).cloned().collect()
    }
}
