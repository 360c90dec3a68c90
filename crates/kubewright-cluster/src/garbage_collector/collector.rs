use std::{
    collections::{BTreeSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use k8s_openapi::{
    api::core::v1::ObjectReference,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube::{
    Api,
    core::{DynamicObject, PartialObjectMeta},
};
use kubewright_runtime::{
    Error, Request, Result,
    cache::{Cache, CacheOptions},
    client::{DeleteOptions, Patch},
    event::{Event, Object},
    manager::Manager,
    queue::{NORMAL_PRIORITY, RateLimiter, WorkQueue},
};
use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{
    FOREGROUND, ORPHAN,
    decision::{self, Decision, Dependents, Owner, Propagation},
    graph::{Graph, Identity, Uid, Work},
    monitors::{Monitors, OnEvent, uid},
};
use crate::{
    cluster::Settings,
    context::Context,
    discovery::{self, Resource},
    note::Note,
};

const NAME: &str = "garbage-collector-controller";
/// How often discovery is asked without a change of the custom resource definitions.
const DISCOVERY_PERIOD: Duration = Duration::from_secs(30);
/// How long the first round waits for all watches to show their objects.
const SYNC_PATIENCE: Duration = Duration::from_secs(30);
/// How many absent owners are remembered.
const ABSENT: usize = 500;

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let context = Context::new(manager, settings, NAME);
    manager.add(NAME, move |stop: CancellationToken| async move { Collector::new(context).run(stop).await })
}

struct Collector {
    context: Context,
    shared: Arc<Shared>,
    resources: Vec<Resource>,
    absent: AbsentOwners,
}

/// What the watches share with the collector.
struct Shared {
    graph: Mutex<Graph>,
    queue: WorkQueue<Work>,
    /// Told when the custom resource definitions change.
    definitions_changed: Notify,
}

impl Collector {
    fn new(context: Context) -> Self {
        let queue = WorkQueue::new(RateLimiter::default(), context.settings.random.fork());
        let shared = Shared { graph: Mutex::default(), queue, definitions_changed: Notify::new() };
        Self { context, shared: Arc::new(shared), resources: Vec::new(), absent: AbsentOwners::default() }
    }

    /// One worker: what it does depends on the order of events alone, and deletion is the API server's work.
    async fn run(mut self, stop: CancellationToken) -> Result<()> {
        let options = CacheOptions::default()
            .clock(self.context.clock.clone())
            .random(self.context.settings.random.fork());
        // Its own cache: watches of resources that come and go say nothing of the cluster's readiness.
        let cache = Cache::new(self.context.client.kube().clone(), options);
        let mut monitors = Monitors::new(cache.clone(), self.shared.clone().on_event());
        cache.start(&stop);
        let work = async {
            self.follow_discovery(&mut monitors).await;
            monitors.synced(SYNC_PATIENCE).await;
            let mut period = tokio::time::interval(DISCOVERY_PERIOD);
            period.reset();
            loop {
                tokio::select! {
                    biased;
                    () = self.shared.definitions_changed.notified() => self.follow_discovery(&mut monitors).await,
                    Some(work) = self.shared.queue.get() => self.work(work.key()).await,
                    _ = period.tick() => self.follow_discovery(&mut monitors).await,
                }
            }
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = work => {}
        }
        cache.stopped().await;
        Ok(())
    }

    async fn follow_discovery(&mut self, monitors: &mut Monitors) {
        let discovered = match discovery::discover(self.context.client.kube()).await {
            Ok(discovered) => discovered,
            Err(error) => {
                tracing::warn!(%error, "the resources to collect garbage of are not known, discovery failed");
                return;
            }
        };
        for failure in &discovered.failures {
            tracing::warn!(failure, "discovery failed for a group version");
        }
        match monitors.follow(&discovered) {
            Ok(gone) => {
                for resource in gone {
                    self.shared.forget(&resource);
                }
            }
            Err(error) => tracing::warn!(%error, "a resource cannot be watched for garbage"),
        }
        self.resources = discovered.resources;
    }

    async fn work(&mut self, work: &Work) {
        let result = match work {
            Work::Collect(uid) => self.collect(uid).await,
            Work::Orphan(uid) => self.orphan(uid).await,
            Work::TellInvalidNamespace { dependent, owner } => {
                self.tell_invalid_namespace(dependent, owner);
                Ok(())
            }
        };
        match result {
            Ok(()) => self.shared.queue.forget(work),
            Err(error) => {
                tracing::debug!(?work, %error, "garbage collection is tried again");
                self.shared.queue.add_rate_limited(work.clone(), NORMAL_PRIORITY);
            }
        }
    }

    /// Deletes an object if it has lost its owners, or brings its foreground deletion forward.
    async fn collect(&mut self, uid: &str) -> Result<()> {
        let Some(node) = self.shared.graph().get(uid).filter(|node| node.observed).cloned() else {
            return Ok(());
        };
        if node.deleting && !node.deleting_dependents {
            return Ok(());
        }
        let Some(latest) = self.latest(&node.identity).await? else {
            let work = self.shared.graph().remove(uid);
            self.shared.enqueue(work);
            return Ok(());
        };
        if node.deleting_dependents {
            return self.finish_foreground(&node.identity, &latest).await;
        }

        let references = latest.owner_references.clone().unwrap_or_default();
        let mut owners = Vec::with_capacity(references.len());
        for reference in &references {
            let Some(owner) = self.owner(&node.identity, reference).await? else {
                // A cluster-scoped object cannot have a namespaced owner; whether that exists is undefined.
                return Ok(());
            };
            owners.push((reference, owner));
        }
        let dependents = {
            let graph = self.shared.graph();
            let mut dependents = Dependents::default();
            for dependent in graph.dependents(uid) {
                dependents.any = true;
                dependents.any_waiting |= dependent.deleting_dependents;
            }
            dependents
        };
        match decision::decide(&latest, &owners, dependents) {
            Decision::Keep => Ok(()),
            Decision::DropOwners(uids) => {
                let kept = references.into_iter().filter(|owner| !uids.contains(&owner.uid)).collect();
                self.write_owners(&node.identity, &latest, kept).await.map(drop)
            }
            Decision::Delete { propagation, unblock } => {
                let mut version = latest.resource_version.clone();
                if unblock {
                    let unblocked = references
                        .into_iter()
                        .map(|owner| OwnerReference { block_owner_deletion: Some(false), ..owner })
                        .collect();
                    version = self.write_owners(&node.identity, &latest, unblocked).await?;
                }
                self.delete(&node.identity, version, propagation).await
            }
        }
    }

    /// Lets an object that is deleted in the foreground go once nothing blocks it.
    async fn finish_foreground(&self, identity: &Identity, latest: &ObjectMeta) -> Result<()> {
        let blocking: Vec<(Uid, bool)> = {
            let graph = self.shared.graph();
            let blocking = graph.blocking_dependents(&identity.uid).into_iter();
            blocking.map(|node| (node.identity.uid.clone(), node.deleting_dependents)).collect()
        };
        if blocking.is_empty() {
            return self.remove_finalizer(identity, latest, FOREGROUND).await;
        }
        // One that waits for its own dependents is on its way.
        let stuck = blocking.into_iter().filter(|(_, deleting_dependents)| !deleting_dependents);
        self.shared.enqueue(stuck.map(|(uid, _)| Work::Collect(uid)).collect());
        Ok(())
    }

    /// Takes an object from the owners of its dependents, then lets it go.
    async fn orphan(&self, uid: &str) -> Result<()> {
        let Some(node) = self.shared.graph().get(uid).cloned() else { return Ok(()) };
        let dependents: Vec<Identity> =
            self.shared.graph().dependents(uid).map(|dependent| dependent.identity.clone()).collect();
        for dependent in dependents {
            if let Some(latest) = self.latest(&dependent).await? {
                let references = latest.owner_references.clone().unwrap_or_default();
                let kept: Vec<_> = references.iter().filter(|owner| owner.uid != uid).cloned().collect();
                if kept.len() < references.len() {
                    self.write_owners(&dependent, &latest, kept).await?;
                }
            }
        }
        match self.latest(&node.identity).await? {
            Some(latest) => self.remove_finalizer(&node.identity, &latest, ORPHAN).await,
            None => Ok(()),
        }
    }

    fn tell_invalid_namespace(&self, dependent: &Identity, owner: &Identity) {
        let message = format!(
            "ownerRef [{}/{}, namespace: {}, name: {}, uid: {}] does not exist in namespace {:?}",
            owner.api_version,
            owner.kind,
            owner.namespace.as_deref().unwrap_or_default(),
            owner.name,
            owner.uid,
            dependent.namespace.as_deref().unwrap_or_default()
        );
        let reference = ObjectReference {
            api_version: Some(dependent.api_version.clone()),
            kind: Some(dependent.kind.clone()),
            namespace: dependent.namespace.clone(),
            name: Some(dependent.name.clone()),
            uid: Some(dependent.uid.clone()),
            ..ObjectReference::default()
        };
        let note = Note::warning("OwnerRefInvalidNamespace", "GarbageCollecting", message);
        self.context.tell_reference(reference, &note);
    }

    // === The API server's word ===

    /// The object's metadata, if this very object exists.
    async fn latest(&self, identity: &Identity) -> Result<Option<ObjectMeta>> {
        let resource = self.resource(&identity.api_version, &identity.kind)?;
        let latest = self.read(&resource, identity.namespace.as_deref(), &identity.name).await?;
        Ok(latest.filter(|latest| latest.uid.as_deref() == Some(identity.uid.as_str())))
    }

    /// Whether an owner exists; `None` where the reference means nothing.
    async fn owner(&mut self, of: &Identity, reference: &OwnerReference) -> Result<Option<Owner>> {
        let resource = self.resource(&reference.api_version, &reference.kind)?;
        let namespace = of.namespace.as_deref().filter(|_| resource.namespaced);
        if resource.namespaced && namespace.is_none() {
            return Ok(None);
        }
        if self.absent.contains(namespace, &reference.uid) {
            return Ok(Some(Owner::Absent));
        }
        let found = self.read(&resource, namespace, &reference.name).await?;
        Ok(Some(match found.filter(|found| found.uid.as_deref() == Some(reference.uid.as_str())) {
            None => {
                self.absent.insert(namespace, &reference.uid);
                Owner::Absent
            }
            Some(found) if is_waiting(&found) => Owner::Waiting,
            Some(_) => Owner::Solid,
        }))
    }

    async fn read(
        &self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<ObjectMeta>> {
        let client = self.context.client.kube().clone();
        let kind = resource.api_resource();
        let api: Api<PartialObjectMeta<DynamicObject>> = match namespace.filter(|_| resource.namespaced) {
            Some(namespace) => Api::namespaced_with(client, namespace, &kind),
            None => Api::all_with(client, &kind),
        };
        Ok(api.get_opt(name).await?.map(|object| object.metadata))
    }

    /// The resource of a kind, at the given version or else any other one of the group.
    fn resource(&self, api_version: &str, kind: &str) -> Result<Resource> {
        let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
        let of_kind = || self.resources.iter().filter(|resource| resource.kind == kind);
        of_kind()
            .find(|resource| resource.api_version() == api_version)
            .or_else(|| of_kind().find(|resource| resource.group == group))
            .cloned()
            .ok_or_else(|| Error::other(format!("discovery shows no {kind} in {api_version}")))
    }

    // === Writes ===

    async fn write_owners(
        &self,
        identity: &Identity,
        latest: &ObjectMeta,
        owners: Vec<OwnerReference>,
    ) -> Result<Option<String>> {
        let owners = (!owners.is_empty()).then_some(owners);
        self.patch(identity, latest, json!({ "ownerReferences": owners })).await
    }

    async fn remove_finalizer(
        &self,
        identity: &Identity,
        latest: &ObjectMeta,
        finalizer: &str,
    ) -> Result<()> {
        let finalizers = latest.finalizers.clone().unwrap_or_default();
        if !finalizers.iter().any(|own| own == finalizer) {
            return Ok(());
        }
        let kept: Vec<_> = finalizers.into_iter().filter(|own| own != finalizer).collect();
        let kept = (!kept.is_empty()).then_some(kept);
        self.patch(identity, latest, json!({ "finalizers": kept })).await.map(drop)
    }

    /// Changes the metadata of an object that is still as it was read; gives its new version. One that is
    /// gone needs no change.
    async fn patch(
        &self,
        identity: &Identity,
        latest: &ObjectMeta,
        mut metadata: serde_json::Value,
    ) -> Result<Option<String>> {
        metadata["uid"] = json!(latest.uid);
        metadata["resourceVersion"] = json!(latest.resource_version);
        let resource = self.resource(&identity.api_version, &identity.kind)?;
        let objects = self.context.client.dynamic(&resource.api_resource());
        match objects.patch(key(identity), Patch::merge(json!({ "metadata": metadata }))).await {
            Ok(object) => Ok(object.metadata.resource_version),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn delete(
        &self,
        identity: &Identity,
        version: Option<String>,
        propagation: Propagation,
    ) -> Result<()> {
        let resource = self.resource(&identity.api_version, &identity.kind)?;
        let options = match propagation {
            Propagation::Background => DeleteOptions::background(),
            Propagation::Foreground => DeleteOptions::foreground(),
            Propagation::Orphan => DeleteOptions::orphan(),
        };
        let mut options = options.uid(&identity.uid);
        if let Some(version) = version {
            // What was decided holds for the object as it was read: it may have got another owner since.
            options = options.resource_version(version);
        }
        let objects = self.context.client.dynamic(&resource.api_resource());
        objects.delete(key(identity), options).await?;
        Ok(())
    }
}

impl Shared {
    fn on_event(self: Arc<Self>) -> OnEvent {
        Arc::new(move |resource: &Resource, event: &Event<PartialObjectMeta<DynamicObject>>| {
            let work = match event {
                Event::Delete { .. } => uid(event).map(|uid| self.graph().remove(uid)).unwrap_or_default(),
                _ => {
                    let meta = event.object().metadata();
                    self.graph().observe(&resource.api_version(), &resource.kind, meta)
                }
            };
            self.enqueue(work);
            if resource.group == "apiextensions.k8s.io" {
                self.definitions_changed.notify_one();
            }
        })
    }

    /// The objects of a resource that is no more are no more.
    fn forget(&self, resource: &Resource) {
        let mut work = Vec::new();
        {
            let mut graph = self.graph();
            for uid in graph.observed(&resource.api_version(), &resource.kind) {
                work.extend(graph.remove(&uid));
            }
        }
        self.enqueue(work);
    }

    fn enqueue(&self, work: Vec<Work>) {
        for work in work {
            self.queue.add(work, NORMAL_PRIORITY);
        }
    }

    fn graph(&self) -> MutexGuard<'_, Graph> {
        self.graph.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The owners that were found to be absent, up to a number. A uid never comes back, so they stay absent.
#[derive(Default)]
struct AbsentOwners {
    known: BTreeSet<(String, Uid)>,
    order: VecDeque<(String, Uid)>,
}

impl AbsentOwners {
    fn contains(&self, namespace: Option<&str>, uid: &str) -> bool {
        self.known.contains(&(namespace.unwrap_or_default().to_owned(), uid.to_owned()))
    }

    fn insert(&mut self, namespace: Option<&str>, uid: &str) {
        let entry = (namespace.unwrap_or_default().to_owned(), uid.to_owned());
        if self.known.insert(entry.clone()) {
            self.order.push_back(entry);
            if self.order.len() > ABSENT
                && let Some(oldest) = self.order.pop_front()
            {
                self.known.remove(&oldest);
            }
        }
    }
}

fn key(identity: &Identity) -> Request {
    Request { namespace: identity.namespace.clone(), name: identity.name.clone() }
}

fn is_waiting(meta: &ObjectMeta) -> bool {
    meta.deletion_timestamp.is_some() && meta.finalizers.iter().flatten().any(|own| own == FOREGROUND)
}
