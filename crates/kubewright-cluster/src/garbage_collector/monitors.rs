use std::{collections::BTreeMap, sync::Arc, time::Duration};

use kube::{
    core::{ApiResource, DynamicObject, PartialObjectMeta},
    discovery::Scope,
};
use kubewright_runtime::{
    Result,
    cache::{Cache, HandlerRegistration, Informer, InformerOptions},
    event::{Event, Object},
};

use crate::discovery::{Discovered, Resource};

type Metadata = PartialObjectMeta<DynamicObject>;

/// What a monitor calls with each event of its resource.
pub(crate) type OnEvent = Arc<dyn Fn(&Resource, &Event<Metadata>) + Send + Sync>;

/// One metadata-only watch for each resource whose objects can be deleted.
pub(crate) struct Monitors {
    cache: Cache,
    on_event: OnEvent,
    running: BTreeMap<Resource, Monitor>,
}

struct Monitor {
    informer: Informer<Metadata>,
    /// Ends with the monitor.
    _registration: HandlerRegistration,
}

impl Monitors {
    pub(crate) fn new(cache: Cache, on_event: OnEvent) -> Self {
        Self { cache, on_event, running: BTreeMap::new() }
    }

    /// Follows discovery: begins to watch what is new, and ends the watches of what is gone. Gives back the
    /// resources that are gone.
    pub(crate) fn follow(&mut self, discovered: &Discovered) -> Result<Vec<Resource>> {
        for resource in discovered.resources.iter().filter(|resource| is_monitored(resource)) {
            if !self.running.contains_key(resource) {
                self.begin(resource.clone())?;
            }
        }
        if !discovered.failures.is_empty() {
            // What discovery did not show now may be there all the same.
            return Ok(Vec::new());
        }
        let gone: Vec<Resource> =
            self.running.keys().filter(|running| !discovered.resources.contains(running)).cloned().collect();
        for resource in &gone {
            if let Some(monitor) = self.running.remove(resource) {
                self.cache.remove(&monitor.informer);
            }
        }
        Ok(gone)
    }

    /// Waits until all watches have shown what there is; not longer than `patience`.
    pub(super) async fn synced(&self, patience: Duration) {
        if let Err(late) = self.cache.wait_for_sync(patience).await {
            tracing::warn!(error = %late, "garbage collection begins without some of its watches");
        }
    }

    fn begin(&mut self, resource: Resource) -> Result<()> {
        let kind: ApiResource = resource.api_resource();
        let scope = if resource.namespaced { Scope::Namespaced } else { Scope::Cluster };
        let informer = self.cache.declare(InformerOptions::<Metadata>::dynamic(&kind, scope))?;
        let (on_event, of) = (self.on_event.clone(), resource.clone());
        let registration = informer.add_handler(move |event| on_event(&of, event));
        self.running.insert(resource, Monitor { informer, _registration: registration });
        Ok(())
    }
}

/// Objects that cannot be listed, watched and deleted are out of reach. Events are left out because they are
/// many, own nothing and end by themselves.
fn is_monitored(resource: &Resource) -> bool {
    let is_event = resource.kind == "Event" && matches!(resource.group.as_str(), "" | "events.k8s.io");
    !is_event && ["list", "watch", "delete"].iter().all(|verb| resource.supports(verb))
}

/// The uid of an event's object.
pub(super) fn uid(event: &Event<Metadata>) -> Option<&str> {
    event.object().metadata().uid.as_deref()
}
