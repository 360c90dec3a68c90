use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError},
};

use kube::Resource;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    decode::{Undecodable, decode, identity_of, request_of},
    informer::Shared,
    status::WatchState,
};
use crate::{Request, event::Event, metrics::WatchMetrics};

/// Where a reflector puts what it receives. This is the seam between the watch, which is the same for every
/// kind, and the store, which knows the type.
pub(super) trait Sink: Send {
    /// A list begins. What an unfinished list has staged is forgotten.
    fn begin(&mut self);
    /// An object of the list.
    fn stage(&mut self, object: Value);
    /// The list is complete: it replaces what is stored, and the difference becomes events.
    fn commit(&mut self);
    /// An object was created or changed.
    fn apply(&mut self, object: Value);
    /// An object was deleted; this is its last state.
    fn delete(&mut self, object: Value);
}

/// The part of an informer that one watch fills: one namespace, or everything.
pub(super) struct Partition<K> {
    pub(super) shared: Arc<Shared<K>>,
    pub(super) state: Arc<WatchState>,
    pub(super) metrics: Arc<WatchMetrics>,
    pub(super) namespace: Option<String>,
    staged: BTreeMap<Request, Staged<K>>,
    objects: usize,
}

enum Staged<K> {
    Object(Arc<K>),
    Undecodable(Box<Undecodable>),
}

impl<K> Partition<K>
where
    K: Resource + DeserializeOwned + Send + Sync + 'static,
{
    pub(super) fn new(
        shared: Arc<Shared<K>>,
        state: Arc<WatchState>,
        metrics: Arc<WatchMetrics>,
        namespace: Option<String>,
    ) -> Self {
        Self { shared, state, metrics, namespace, staged: BTreeMap::new(), objects: 0 }
    }

    fn decode(&self, request: &Request, mut object: Value) -> Result<Arc<K>, Box<Undecodable>> {
        if !self.shared.keep_managed_fields
            && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        {
            metadata.remove("managedFields");
        }
        let resource = &self.shared.resource;
        let identity = identity_of(&object);
        let (uid, version) = (identity.uid.map(str::to_owned), identity.resource_version.map(str::to_owned));
        decode(object, resource, self.shared.transform.as_deref()).map(Arc::new).map_err(|error| {
            Box::new(Undecodable {
                resource: resource.clone(),
                request: request.clone(),
                uid,
                resource_version: version,
                error,
            })
        })
    }

    /// The stored object, if the undecoded one is the same version of it.
    fn unchanged(&self, request: &Request, object: &Value) -> Option<Arc<K>> {
        let store = self.shared.store.read().unwrap_or_else(PoisonError::into_inner);
        let stored = store.get(request)?;
        let identity = identity_of(object);
        let meta = stored.meta();
        let same = identity.resource_version.is_some()
            && identity.resource_version == meta.resource_version.as_deref()
            && identity.uid == meta.uid.as_deref();
        same.then(|| stored.clone())
    }

    /// Remembers that an object does not fit. Returns whether that is news.
    fn set_aside(&self, undecodable: &Undecodable) -> bool {
        let mut store = self.shared.store.write().unwrap_or_else(PoisonError::into_inner);
        let old = store.set_aside.insert(undecodable.request.clone(), undecodable.clone());
        old.is_none_or(|old| {
            old.resource_version != undecodable.resource_version || old.uid != undecodable.uid
        })
    }

    fn report(&self, undecodable: &Undecodable) {
        let Undecodable { resource, request, error, .. } = undecodable;
        tracing::error!(
            kind = resource.kind,
            namespace = request.namespace(),
            name = request.name,
            error,
            "an object does not fit its Rust type and is left out of the cache"
        );
        self.metrics.undecodable();
        if let Some(hook) = &self.shared.on_undecodable {
            hook(undecodable);
        }
    }

    /// Publishes the counts after a change.
    fn count(&self) {
        self.metrics.set_objects(self.objects);
        let store = self.shared.store.read().unwrap_or_else(PoisonError::into_inner);
        let namespace = self.namespace.as_deref();
        let here = |request: &&Request| namespace.is_none_or(|namespace| request.namespace() == namespace);
        self.state.set_undecodable(store.set_aside.keys().filter(here).count());
    }
}

impl<K> Sink for Partition<K>
where
    K: Resource + DeserializeOwned + Send + Sync + 'static,
{
    fn begin(&mut self) {
        self.staged.clear();
    }

    fn stage(&mut self, object: Value) {
        let Some(request) = request_of(&object) else {
            tracing::warn!(kind = self.shared.resource.kind, "the server listed an object without a name");
            return;
        };
        // After a gap most objects are as they were: they need no decoding, and keep their memory.
        let staged = match self.unchanged(&request, &object) {
            Some(object) => Staged::Object(object),
            None => match self.decode(&request, object) {
                Ok(object) => Staged::Object(object),
                Err(undecodable) => Staged::Undecodable(undecodable),
            },
        };
        self.staged.insert(request, staged);
    }

    fn commit(&mut self) {
        let initial = !self.state.is_synced();
        let mut delivery = self.shared.delivery();
        let mut events = Vec::new();
        let mut reports = Vec::new();
        {
            let mut store = self.shared.store.write().unwrap_or_else(PoisonError::into_inner);
            let namespace = self.namespace.as_deref();
            let gone: Vec<Request> = store
                .list(namespace)
                .map(|(request, _)| request)
                .filter(|request| !self.staged.contains_key(*request))
                .cloned()
                .collect();
            store.set_aside.retain(|request, _| {
                namespace.is_some_and(|namespace| request.namespace() != namespace)
                    || matches!(self.staged.get(request), Some(Staged::Undecodable(_)))
            });
            for request in gone {
                if let Some(object) = store.remove(&request) {
                    events.push(Event::Delete { object, state_unknown: true });
                }
            }
            for (request, staged) in std::mem::take(&mut self.staged) {
                match staged {
                    Staged::Object(object) => {
                        let old = store.insert(&request, &object);
                        events.extend(difference(old, object, initial));
                    }
                    Staged::Undecodable(undecodable) => reports.push(undecodable),
                }
            }
            self.objects = match namespace {
                None => store.len(),
                Some(_) => store.list(namespace).count(),
            };
        }
        reports.retain(|undecodable| self.set_aside(undecodable));
        delivery.deliver(&events);
        self.state.set_synced();
        drop(delivery);
        reports.iter().for_each(|undecodable| self.report(undecodable));
        self.count();
        self.shared.progressed();
    }

    fn apply(&mut self, object: Value) {
        let Some(request) = request_of(&object) else {
            tracing::warn!(kind = self.shared.resource.kind, "the server sent an object without a name");
            return;
        };
        match self.decode(&request, object) {
            Ok(object) => {
                let mut delivery = self.shared.delivery();
                let old = {
                    let mut store = self.shared.store.write().unwrap_or_else(PoisonError::into_inner);
                    store.set_aside.remove(&request);
                    store.insert(&request, &object)
                };
                self.objects += usize::from(old.is_none());
                delivery.deliver(&difference(old, object, false));
            }
            Err(undecodable) => {
                if self.set_aside(&undecodable) {
                    self.report(&undecodable);
                }
            }
        }
        self.count();
        self.shared.progressed();
    }

    fn delete(&mut self, object: Value) {
        let Some(request) = request_of(&object) else { return };
        let last = self.decode(&request, object).ok();
        let mut delivery = self.shared.delivery();
        let old = {
            let mut store = self.shared.store.write().unwrap_or_else(PoisonError::into_inner);
            store.set_aside.remove(&request);
            store.remove(&request)
        };
        self.objects -= usize::from(old.is_some()).min(self.objects);
        // An object that never fitted was never announced, so its end is not announced either.
        if let Some(old) = old {
            let state_unknown = last.is_none();
            delivery.deliver(&[Event::Delete { object: last.unwrap_or(old), state_unknown }]);
        }
        drop(delivery);
        self.count();
        self.shared.progressed();
    }
}

/// The events between two states of what is under one key.
fn difference<K: Resource>(old: Option<Arc<K>>, new: Arc<K>, initial: bool) -> Vec<Event<K>> {
    let Some(old) = old else { return vec![Event::Create { object: new, initial }] };
    let (before, after) = (old.meta(), new.meta());
    if before.uid != after.uid {
        // Deleted and created again while nobody looked: two objects that share a name.
        return vec![
            Event::Delete { object: old, state_unknown: true },
            Event::Create { object: new, initial: false },
        ];
    }
    if before.resource_version.is_some() && before.resource_version == after.resource_version {
        return Vec::new();
    }
    vec![Event::Update { old, new }]
}
