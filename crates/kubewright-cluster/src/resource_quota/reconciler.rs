use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod, ResourceQuota, Service};
use kube::{
    Api,
    api::ListParams,
    core::{DynamicObject, PartialObjectMeta},
};
use kubewright_quota::{Evaluator, ResourceList};
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::{Cache, CacheOptions, Informer, InformerOptions},
    controller::Controller,
    event::{Event, Object},
    handler::RequestQueue,
    manager::Manager,
    queue::NORMAL_PRIORITY,
    source,
};
use kubewright_world::Clock;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::usage::Limits;
use crate::{
    cluster::Settings,
    context::{Context, RetryConflicts},
    discovery::{self, Discovered, Resource},
    garbage_collector::{Monitors, OnEvent},
};

const NAME: &str = "resourcequota-controller";
/// How often a quota is counted without a cause.
const PERIOD: Duration = Duration::from_secs(5 * 60);

type Metadata = PartialObjectMeta<DynamicObject>;

pub(crate) fn run(manager: &Manager, settings: &Settings) -> Result<()> {
    let context = Context::new(manager, settings, NAME);
    let quotas = manager.cache().declare(InformerOptions::<ResourceQuota>::new())?;
    // A cache of its own: watches of resources that come and go say nothing of the cluster's readiness.
    let options = CacheOptions::default().clock(context.clock.clone()).random(settings.random.fork());
    let cache = Cache::new(context.client.kube().clone(), options);
    let (sender, receiver) = source::channel::<Metadata>();
    let on_event: OnEvent = Arc::new(move |_: &Resource, event: &Event<Metadata>| {
        if let Event::Delete { object, .. } = event {
            // If so many wait, the quotas of the namespace are about to be counted anyway.
            let _ = sender.try_send(object.clone());
        }
    });
    let monitors = Mutex::new(Monitors::new(cache.clone(), on_event));
    manager.add("resourcequota-monitor", move |stop: CancellationToken| async move {
        cache.start(&stop);
        stop.cancelled().await;
        Ok(())
    })?;
    let (counted, clock) = (quotas.clone(), context.clock.clone());
    Controller::for_kind::<ResourceQuota>(manager)
        .named(NAME)
        .with_predicate::<ResourceQuota>(is_declared_anew)
        .watches::<Pod>(replenish::<Pod>(&quotas, &clock, "pods"))
        .watches::<Service>(replenish::<Service>(&quotas, &clock, "services"))
        .watches::<PersistentVolumeClaim>(replenish::<PersistentVolumeClaim>(
            &quotas,
            &clock,
            "persistentvolumeclaims",
        ))
        .watches_channel(receiver, move |event: &Event<Metadata>, queue: &RequestQueue| {
            enqueue(&counted, event.object().metadata().namespace.as_deref(), queue);
        })
        .run(RetryConflicts(QuotaReconciler { context, quotas, monitors }))
}

/// Lets changes of the status pass without a count: they are counts.
fn is_declared_anew(event: &Event<ResourceQuota>) -> bool {
    match event {
        Event::Update { old, new } => old.spec != new.spec,
        _ => true,
    }
}

/// Counts the quotas of a namespace when one of its objects goes, or counts for something else.
fn replenish<K>(
    quotas: &Informer<ResourceQuota>,
    clock: &Clock,
    plural: &'static str,
) -> impl Fn(&Event<K>, &RequestQueue) + Send + Sync + 'static
where
    K: Object + Serialize,
{
    let (quotas, clock) = (quotas.clone(), clock.clone());
    move |event: &Event<K>, queue: &RequestQueue| {
        let namespace = event.object().metadata().namespace.as_deref();
        if quotas.list(namespace).is_empty() {
            return;
        }
        let is_counted_anew = match event {
            Event::Update { old, new } => counts_differently(&**old, &**new, plural, clock.now()),
            Event::Delete { .. } => true,
            Event::Create { .. } | Event::Generic { .. } => false,
        };
        if is_counted_anew {
            enqueue(&quotas, namespace, queue);
        }
    }
}

fn counts_differently<K: Serialize>(old: &K, new: &K, plural: &str, now: Timestamp) -> bool {
    let Some(evaluator) = Evaluator::of("", plural) else { return false };
    let json = |object: &K| serde_json::to_value(object).unwrap_or_default();
    let (old, new) = (json(old), json(new));
    evaluator.usage(&old, now) != evaluator.usage(&new, now)
        || (plural == "pods" && evaluator.is_changed_by_update("", &old, &new))
}

fn enqueue(quotas: &Informer<ResourceQuota>, namespace: Option<&str>, queue: &RequestQueue) {
    for quota in quotas.list(namespace) {
        queue.add(Request::of(&*quota), NORMAL_PRIORITY);
    }
}

struct QuotaReconciler {
    context: Context,
    quotas: Informer<ResourceQuota>,
    /// Of the resources that quotas count by number.
    monitors: Mutex<Monitors>,
}

impl Reconciler for QuotaReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let client = &self.context.client;
        // Read from the server: a charge that came after it is noticed as a conflict.
        let Some(mut quota) = client.live().get::<ResourceQuota>(&request).await? else {
            return Ok(Action::done());
        };
        let limits = Limits::of(&quota);
        let namespace = request.namespace.as_deref().unwrap_or_default();
        let mut counted = ResourceList::default();
        for resource in self.resources(&limits).await? {
            let Some(evaluator) = Evaluator::of(&resource.group, &resource.plural) else { continue };
            if limits.concern(&evaluator) {
                let objects = self.objects(&resource, namespace).await?;
                counted.add(&limits.count(&evaluator, objects, self.context.clock.now()));
            }
        }
        if let Some(status) = limits.status(&quota, &counted) {
            quota.status = Some(status);
            self.context.write_status(&quota).await?;
        }
        Ok(Action::requeue_after(PERIOD))
    }
}

impl QuotaReconciler {
    /// The resources whose objects may count, which are watched from now on.
    async fn resources(&self, limits: &Limits) -> Result<Vec<Resource>> {
        let core = ["pods", "services", "persistentvolumeclaims"];
        let mut resources: Vec<Resource> =
            [("Pod", core[0]), ("Service", core[1]), ("PersistentVolumeClaim", core[2])]
                .map(|(kind, plural)| Resource::core(kind, plural))
                .into();
        let mut wanted = limits.counted();
        wanted.retain(|(group, plural)| !(group.is_empty() && core.contains(&plural.as_str())));
        if wanted.is_empty() {
            return Ok(resources);
        }
        let found = discovery::discover(self.context.client.kube()).await?;
        let of_others: Vec<_> =
            self.quotas.list(None).iter().flat_map(|quota| Limits::of(quota).counted()).collect();
        let all = Discovered {
            resources: found
                .resources
                .into_iter()
                .filter(|resource| is_one_of(resource, of_others.iter().chain(&wanted)))
                .collect(),
            failures: found.failures,
        };
        self.monitors.lock().await.follow(&all)?;
        resources.extend(all.resources.into_iter().filter(|resource| is_one_of(resource, wanted.iter())));
        Ok(resources)
    }

    /// The objects of a namespace, as far as counting them needs them.
    async fn objects(&self, resource: &Resource, namespace: &str) -> Result<Vec<Value>> {
        let (client, kind) = (self.context.client.kube().clone(), resource.api_resource());
        let is_whole = matches!(
            resource.plural.as_str(),
            "pods" | "services" | "persistentvolumeclaims" | "resourceclaims"
        );
        let params = ListParams::default();
        let api = Api::<DynamicObject>::namespaced_with(client, namespace, &kind);
        let listed: Result<Vec<Value>, kube::Error> = if is_whole {
            api.list(&params).await.map(|list| list.items.iter().map(json).collect())
        } else {
            api.list_metadata(&params).await.map(|list| list.items.iter().map(json).collect())
        };
        match listed {
            Ok(objects) => Ok(objects),
            // The resource went after discovery, and its objects with it.
            Err(kube::Error::Api(status)) if status.is_not_found() => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Whether the objects of a resource have namespaces and are named, by group and plural.
fn is_one_of<'a>(resource: &Resource, mut names: impl Iterator<Item = &'a (String, String)>) -> bool {
    resource.namespaced && names.any(|(group, plural)| *group == resource.group && *plural == resource.plural)
}

fn json(object: &impl Serialize) -> Value {
    serde_json::to_value(object).unwrap_or_default()
}
