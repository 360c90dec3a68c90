use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::{ControllerRevision, StatefulSet, StatefulSetStatus},
    core::v1::{PersistentVolumeClaim, Pod},
};
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::DeleteOptions,
    controller::Controller,
    manager::Manager,
};

use super::{
    identity,
    plan::{self, Change},
    revision::{self, Revisions},
};
use crate::{
    cluster::Settings,
    context::{self, Context, RetryConflicts},
    note::Note,
    ownership,
};

const NAME: &str = "statefulset-controller";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let sets = manager.cache().declare(InformerOptions::<StatefulSet>::new())?;
    let pods = manager.cache().declare(InformerOptions::<Pod>::new())?;
    let history = manager.cache().declare(InformerOptions::<ControllerRevision>::new())?;
    let claims = manager.cache().declare(InformerOptions::<PersistentVolumeClaim>::new())?;
    let adopters = ownership::enqueue_adopters(sets.clone(), |set: &StatefulSet| {
        ownership::selector(&set.spec.selector)
    });
    Controller::for_kind::<StatefulSet>(manager)
        .named(NAME)
        .owns::<Pod>()
        .owns::<ControllerRevision>()
        .watches::<Pod>(adopters)
        .run(RetryConflicts(StatefulSetReconciler {
            context: Context::new(manager, settings, NAME),
            sets,
            pods,
            history,
            claims,
        }))
}

struct StatefulSetReconciler {
    context: Context,
    sets: Informer<StatefulSet>,
    pods: Informer<Pod>,
    history: Informer<ControllerRevision>,
    claims: Informer<PersistentVolumeClaim>,
}

impl Reconciler for StatefulSetReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let client = &self.context.client;
        let Some(set) = self.sets.get(&request) else { return Ok(Action::done()) };
        let Some(selector) = ownership::selector(&set.spec.selector) else { return Ok(Action::done()) };
        // A pod of another name is not the set's, whatever its labels.
        let pods = self.pods.list(Some(request.namespace()));
        let pods = pods.into_iter().filter(|pod| identity::ordinal(&set, pod).is_some()).collect();
        let pods = ownership::claim_all(client, &*set, Some(&selector), pods).await?;

        let history: Vec<_> = self
            .history
            .list(Some(request.namespace()))
            .into_iter()
            .filter(|revision| ownership::is_controlled_by(&revision.metadata, set.metadata.uid.as_deref()))
            .collect();
        let (revisions, change) = revision::find(&set, &history);
        if set.metadata.deletion_timestamp.is_none() {
            match change {
                revision::Change::None => {}
                revision::Change::Create(revision) => drop(client.create(&*revision).await?),
                revision::Change::Renumber(revision) => drop(client.update(&*revision).await?),
            }
        }

        let plan = plan::plan(&set, &revisions, &pods, self.context.clock.now());
        for change in plan.changes {
            if !self.carry_out(&set, change).await? {
                return Ok(Action::done());
            }
        }
        self.write_status(&set, plan.status).await?;
        self.clean_up(&set, &history, &revisions, &pods).await?;
        Ok(plan.check_after.map_or(Action::done(), Action::requeue_after))
    }
}

impl StatefulSetReconciler {
    /// `false` means that the namespace is going, and nothing can be created in it.
    async fn carry_out(&self, set: &StatefulSet, change: Change) -> Result<bool> {
        let client = &self.context.client;
        match change {
            Change::Create { pod, claims } => {
                for claim in claims {
                    let key = Request::of(&claim);
                    if self.claims.get(&key).is_some() {
                        continue;
                    }
                    match client.create(&claim).await {
                        Ok(_) => {
                            let message = format!(
                                "create Claim {} Pod {} in StatefulSet {} success",
                                claim.name_any(),
                                pod.name_any(),
                                set.name_any()
                            );
                            self.context.tell(set, &Note::normal("SuccessfulCreate", "Creating", message));
                        }
                        Err(error) if error.is_already_exists() => {}
                        Err(error) if context::has_cause(&error, "NamespaceTerminating") => return Ok(false),
                        Err(error) => return Err(error.into()),
                    }
                }
                let (name, of) = (pod.name_any(), set.name_any());
                match client.create(&*pod).await {
                    Ok(_) => {
                        let message = format!("create Pod {name} in StatefulSet {of} successful");
                        self.context.tell(set, &Note::normal("SuccessfulCreate", "Creating", message));
                    }
                    Err(error) if context::has_cause(&error, "NamespaceTerminating") => return Ok(false),
                    // The cache does not show it yet.
                    Err(error) if error.is_already_exists() => return Err(error.into()),
                    Err(error) => {
                        let message = format!("create Pod {name} in StatefulSet {of} failed error: {error}");
                        self.context.tell(set, &Note::warning("FailedCreate", "Creating", message));
                        return Err(error.into());
                    }
                }
            }
            Change::Delete { pod } => {
                let options = DeleteOptions::background().uid(pod.uid().unwrap_or_default());
                client.delete::<Pod>(Request::of(&*pod), options).await?;
                let message =
                    format!("delete Pod {} in StatefulSet {} successful", pod.name_any(), set.name_any());
                self.context.tell(set, &Note::normal("SuccessfulDelete", "Deleting", message));
            }
        }
        Ok(true)
    }

    async fn write_status(&self, set: &StatefulSet, status: StatefulSetStatus) -> Result<()> {
        if set.status.as_ref() == Some(&status) {
            return Ok(());
        }
        let mut updated = set.clone();
        updated.status = Some(status);
        self.context.write_status(&updated).await
    }

    async fn clean_up(
        &self,
        set: &StatefulSet,
        history: &[Arc<ControllerRevision>],
        revisions: &Revisions,
        pods: &[Arc<Pod>],
    ) -> Result<()> {
        let mut in_use = vec![revisions.current.name.as_str(), revisions.update.name.as_str()];
        in_use.extend(pods.iter().filter_map(|pod| identity::revision(pod)));
        for revision in revision::surplus(set, history, &in_use) {
            let key = Request::of(&*revision);
            self.context.client.delete::<ControllerRevision>(key, DeleteOptions::background()).await?;
        }
        Ok(())
    }
}
