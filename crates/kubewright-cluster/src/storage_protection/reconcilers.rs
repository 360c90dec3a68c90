use std::future::Future;

use k8s_openapi::api::{
    core::v1::{PersistentVolume, PersistentVolumeClaim, Pod},
    storage::v1::VolumeAttributesClass,
};
use kube::ResourceExt;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Informer, InformerOptions},
    client::{Kind, ListOptions},
    controller::Controller,
    handler::enqueue_mapped,
    manager::Manager,
};

use super::finalizer::{self, Step};
use crate::{
    cluster::Settings,
    context::{Context, RetryConflicts},
};

const CLAIMS: &str = "persistentvolumeclaim-protection-controller";
const VOLUMES: &str = "persistentvolume-protection-controller";
const ATTRIBUTES_CLASSES: &str = "volumeattributesclass-protection-controller";

/// Claims go when no pod on a node has them as a volume.
pub(crate) fn run_claims(manager: &Manager, settings: &Settings) -> Result<()> {
    let objects = manager.cache().declare(InformerOptions::<PersistentVolumeClaim>::new())?;
    let pods = manager.cache().declare(InformerOptions::<Pod>::new())?;
    let context = Context::new(manager, settings, CLAIMS);
    Controller::for_kind::<PersistentVolumeClaim>(manager)
        .named(CLAIMS)
        .watches(enqueue_mapped(|pod: &Pod| {
            let namespace = pod.namespace().unwrap_or_default();
            let claims = claims_of(pod).map(|name| Request::namespaced(namespace.clone(), name));
            claims.collect::<Vec<_>>()
        }))
        .run(RetryConflicts(Protection { context, objects, rule: ClaimRule { pods } }))
}

/// Volumes go when no claim is bound to them.
pub(crate) fn run_volumes(manager: &Manager, settings: &Settings) -> Result<()> {
    let objects = manager.cache().declare(InformerOptions::<PersistentVolume>::new())?;
    let context = Context::new(manager, settings, VOLUMES);
    Controller::for_kind::<PersistentVolume>(manager).named(VOLUMES).run(RetryConflicts(Protection {
        context,
        objects,
        rule: VolumeRule,
    }))
}

/// Classes of attributes go when no claim and no volume has them.
pub(crate) fn run_attributes_classes(manager: &Manager, settings: &Settings) -> Result<()> {
    let objects = manager.cache().declare(InformerOptions::<VolumeAttributesClass>::new())?;
    let claims = manager.cache().declare(InformerOptions::<PersistentVolumeClaim>::new())?;
    let volumes = manager.cache().declare(InformerOptions::<PersistentVolume>::new())?;
    let context = Context::new(manager, settings, ATTRIBUTES_CLASSES);
    let cluster = |names: Vec<String>| names.into_iter().map(Request::cluster).collect::<Vec<_>>();
    Controller::for_kind::<VolumeAttributesClass>(manager)
        .named(ATTRIBUTES_CLASSES)
        .watches(enqueue_mapped(move |claim: &PersistentVolumeClaim| cluster(classes_of_claim(claim))))
        .watches(enqueue_mapped(move |volume: &PersistentVolume| cluster(class_of_volume(volume))))
        .run(RetryConflicts(Protection { context, objects, rule: ClassRule { claims, volumes } }))
}

/// Says whether an object is in use.
trait Rule<K>: Send + Sync + 'static {
    const FINALIZER: &'static str;

    fn is_used(&self, context: &Context, object: &K) -> impl Future<Output = Result<bool>> + Send;
}

struct Protection<K, R> {
    context: Context,
    objects: Informer<K>,
    rule: R,
}

impl<K: Kind, R: Rule<K>> Reconciler for Protection<K, R> {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(object) = self.objects.get(&request) else { return Ok(Action::done()) };
        let step = finalizer::step(&*object, R::FINALIZER);
        let is_due = match step {
            Step::Add => true,
            Step::RemoveIfUnused => !self.rule.is_used(&self.context, &object).await?,
            Step::Nothing => false,
        };
        if is_due {
            finalizer::write(&self.context, &*object, R::FINALIZER, step == Step::Add).await?;
        }
        Ok(Action::done())
    }
}

struct ClaimRule {
    pods: Informer<Pod>,
}

impl Rule<PersistentVolumeClaim> for ClaimRule {
    const FINALIZER: &'static str = "kubernetes.io/pvc-protection";

    async fn is_used(&self, context: &Context, claim: &PersistentVolumeClaim) -> Result<bool> {
        let (namespace, name) = (claim.namespace().unwrap_or_default(), claim.name_any());
        if self.pods.list(Some(&namespace)).iter().any(|pod| uses(pod, &name)) {
            return Ok(true);
        }
        // What is deleted here holds data, so the word of a cache is not enough.
        let pods = context.client.live().list::<Pod>(ListOptions::in_namespace(namespace)).await?;
        Ok(pods.iter().any(|pod| uses(pod, &name)))
    }
}

/// Whether a pod on a node has the claim as a volume. A pod that is on no node does not get there with a claim that goes.
fn uses(pod: &Pod, claim: &str) -> bool {
    let is_on_node =
        pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).is_some_and(|node| !node.is_empty());
    is_on_node && claims_of(pod).any(|name| name == claim)
}

/// The names of the claims of a pod, those included that are made for it.
fn claims_of(pod: &Pod) -> impl Iterator<Item = String> {
    let volumes = pod.spec.iter().flat_map(|spec| spec.volumes.iter().flatten());
    volumes.filter_map(|volume| match (&volume.persistent_volume_claim, &volume.ephemeral) {
        (Some(source), _) => Some(source.claim_name.clone()),
        (None, Some(_)) => Some(format!("{}-{}", pod.name_any(), volume.name)),
        (None, None) => None,
    })
}

struct VolumeRule;

impl Rule<PersistentVolume> for VolumeRule {
    const FINALIZER: &'static str = "kubernetes.io/pv-protection";

    async fn is_used(&self, _: &Context, volume: &PersistentVolume) -> Result<bool> {
        Ok(volume.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Bound"))
    }
}

struct ClassRule {
    claims: Informer<PersistentVolumeClaim>,
    volumes: Informer<PersistentVolume>,
}

impl Rule<VolumeAttributesClass> for ClassRule {
    const FINALIZER: &'static str = "kubernetes.io/vac-protection";

    async fn is_used(&self, _: &Context, class: &VolumeAttributesClass) -> Result<bool> {
        let name = class.name_any();
        let is_named = |names: Vec<String>| names.contains(&name);
        Ok(self.claims.list(None).iter().any(|claim| is_named(classes_of_claim(claim)))
            || self.volumes.list(None).iter().any(|volume| is_named(class_of_volume(volume))))
    }
}

fn classes_of_claim(claim: &PersistentVolumeClaim) -> Vec<String> {
    let wanted = claim.spec.as_ref().and_then(|spec| spec.volume_attributes_class_name.clone());
    let status = claim.status.as_ref();
    let current = status.and_then(|status| status.current_volume_attributes_class_name.clone());
    let next = status
        .and_then(|status| status.modify_volume_status.as_ref())
        .and_then(|modify| modify.target_volume_attributes_class_name.clone());
    wanted.into_iter().chain(current).chain(next).collect()
}

fn class_of_volume(volume: &PersistentVolume) -> Vec<String> {
    let spec = volume.spec.as_ref();
    spec.and_then(|spec| spec.volume_attributes_class_name.clone()).into_iter().collect()
}
