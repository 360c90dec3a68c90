use std::collections::BTreeMap;

use k8s_openapi::api::{
    core::v1::{PersistentVolume, PersistentVolumeClaim},
    storage::v1::StorageClass,
};
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::DeleteOptions,
    controller::Controller,
    handler::enqueue_mapped,
    manager::Manager,
};
use tokio_util::sync::CancellationToken;

use super::{
    DEFAULT_CLASS,
    binding::{self, Decision},
};
use crate::{
    cluster::Settings,
    context::{self, Context, RetryConflicts},
    note::Note,
};

const NAME: &str = "persistentvolume-binder-controller";

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let context = Context::new(manager, settings, NAME);
    let volumes = manager.cache().declare(InformerOptions::<PersistentVolume>::new())?;
    let claims = manager.cache().declare(InformerOptions::<PersistentVolumeClaim>::new())?;
    let maker = context.clone();
    manager.add("default-storage-class", move |_: CancellationToken| async move {
        create_default_class(&maker).await;
        Ok(())
    })?;
    let waiting = claims.clone();
    Controller::for_kind::<PersistentVolumeClaim>(manager)
        .named(NAME)
        .watches::<PersistentVolume>(enqueue_mapped(move |volume: &PersistentVolume| {
            match claim_of(volume) {
                Some(claim) => vec![claim],
                // A free volume is for any claim that waits.
                None => waiting
                    .list(None)
                    .iter()
                    .filter(|claim| claim.spec.as_ref().is_none_or(|spec| spec.volume_name.is_none()))
                    .map(|claim| Request::of(&**claim))
                    .collect(),
            }
        }))
        .run(RetryConflicts(ClaimReconciler {
            context: context.clone(),
            claims: claims.clone(),
            volumes: volumes.clone(),
        }))?;
    Controller::for_kind::<PersistentVolume>(manager)
        .named("persistentvolume-phase-controller")
        .watches::<PersistentVolumeClaim>(enqueue_mapped({
            let volumes = volumes.clone();
            move |claim: &PersistentVolumeClaim| {
                let key = Request::of(claim);
                let is_for = |volume: &PersistentVolume| claim_of(volume).as_ref() == Some(&key);
                volumes
                    .list(None)
                    .iter()
                    .filter(|volume| is_for(volume))
                    .map(|volume| Request::of(&**volume))
                    .collect::<Vec<_>>()
            }
        }))
        .run(RetryConflicts(VolumeReconciler { context, claims, volumes }))
}

/// The claim that a volume is for, as a request.
fn claim_of(volume: &PersistentVolume) -> Option<Request> {
    let reference = binding::claim_reference(volume)?;
    Some(Request::namespaced(reference.namespace.clone()?, reference.name.clone()?))
}

/// Makes the class that claims get unless they say; a cluster may have made its own.
async fn create_default_class(context: &Context) {
    let mut class = StorageClass {
        provisioner: "kubewright.dev/simulated".into(),
        reclaim_policy: Some("Delete".into()),
        volume_binding_mode: Some("Immediate".into()),
        ..StorageClass::default()
    };
    class.metadata.name = Some(DEFAULT_CLASS.into());
    class.metadata.annotations =
        Some(BTreeMap::from([("storageclass.kubernetes.io/is-default-class".into(), "true".into())]));
    match context.client.create(&class).await {
        Ok(_) => {}
        Err(error) if error.is_already_exists() => {}
        Err(error) => tracing::warn!(%error, "the default storage class cannot be created"),
    }
}

struct ClaimReconciler {
    context: Context,
    claims: Informer<PersistentVolumeClaim>,
    volumes: Informer<PersistentVolume>,
}

impl Reconciler for ClaimReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let client = &self.context.client;
        let claim = self.claims.get(&request).filter(|claim| claim.metadata.deletion_timestamp.is_none());
        let Some(claim) = claim else { return Ok(Action::done()) };
        match binding::decide(&claim, &self.volumes.list(None)) {
            Decision::Keep | Decision::Wait => {}
            Decision::Claim(volume) => drop(client.update(&*volume).await?),
            Decision::Provision(volume) => {
                let name = volume.name_any();
                client.create(&*volume).await?;
                let message = format!("Successfully provisioned volume {name}");
                self.context.tell(&*claim, &Note::normal("ProvisioningSucceeded", "Provisioning", message));
            }
            Decision::Bind(claim) => match client.update(&*claim).await {
                Ok(_) => {}
                Err(error) if error.is_not_found() => {}
                Err(error) if context::has_cause(&error, "NamespaceTerminating") => {}
                Err(error) => return Err(error.into()),
            },
            Decision::Report(claim) => self.context.write_status(&*claim).await?,
        }
        // Each step shows as an event, which brings the next one.
        Ok(Action::done())
    }
}

struct VolumeReconciler {
    context: Context,
    claims: Informer<PersistentVolumeClaim>,
    volumes: Informer<PersistentVolume>,
}

impl Reconciler for VolumeReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(volume) = self.volumes.get(&request) else { return Ok(Action::done()) };
        let mut claim = None;
        if let Some(key) = claim_of(&volume) {
            claim = self.claims.get(&key);
            if claim.is_none() {
                // What is deleted here holds data, so the word of a cache is not enough.
                claim = self.context.client.live().get(&key).await?.map(std::sync::Arc::new);
            }
        }
        if let Some(phase) = binding::phase(&volume, claim.as_deref()) {
            // It has to say that it is not in use before it can go.
            self.context.write_status(&binding::with_phase(&volume, phase)).await?;
            return Ok(Action::done());
        }
        let is_released =
            volume.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Released");
        let is_deleting = volume.metadata.deletion_timestamp.is_some();
        if is_released && !is_deleting && binding::is_deleted_with_claim(&volume) {
            let options = DeleteOptions::background().uid(volume.uid().unwrap_or_default());
            self.context.client.delete::<PersistentVolume>(&request, options).await?;
        }
        Ok(Action::done())
    }
}
