use std::sync::{Arc, PoisonError, RwLockWriteGuard};

use kube::Resource;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{
    decode::{Undecodable, decode, identity_of, request_of, size_of},
    informer::Shared,
    status::WatchState,
    store::{Round, Store},
};
use crate::{Request, event::Event, metrics::WatchMetrics};

/// Where a reflector puts what it receives. This is the seam between the watch, which is the same for every
/// kind, and the store, which knows the type.
pub(super) trait Sink: Send {
    /// A list begins, perhaps in place of one that did not come to its end.
    fn begin(&mut self);
    /// An object of the list. It takes the place of what is stored at once.
    fn stage(&mut self, object: Value);
    /// The list is complete: what was not in it is gone.
    fn commit(&mut self);
    /// An object was created or changed.
    fn apply(&mut self, object: Value);
    /// An object was deleted; this is its last state.
    fn delete(&mut self, object: Value);
    /// Everything up to `version` has been given to the sink.
    fn reached(&mut self, version: &str);
}

/// The part of an informer that one watch fills: one namespace, or everything.
pub(super) struct Partition<K> {
    pub(super) shared: Arc<Shared<K>>,
    pub(super) state: Arc<WatchState>,
    pub(super) metrics: Arc<WatchMetrics>,
    pub(super) namespace: Option<String>,
    round: Round,
    /// When the list began, in the count of own writes.
    began: u64,
    objects: usize,
    bytes: usize,
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
        Self { shared, state, metrics, namespace, round: 0, began: 0, objects: 0, bytes: 0 }
    }

    /// Stores an object, or sets it aside, and tells the handlers.
    fn put(&mut self, request: &Request, object: Value, initial: bool) {
        let (object, size) = match self.decode(request, object) {
            Ok(decoded) => decoded,
            Err(undecodable) => return self.set_aside(&undecodable),
        };
        let shared = self.shared.clone();
        let mut delivery = shared.delivery();
        let old = self.store().insert(request, &object, size, self.round);
        if let Some((_, size)) = &old {
            self.forget(*size);
        }
        self.objects += 1;
        self.bytes += size as usize;
        let old = old.map(|(old, _)| old);
        self.shared.own_writes().applied(request, object.meta(), old.as_ref().map(|old| old.meta()));
        delivery.deliver(&difference(old, object, initial));
    }

    fn decode(&self, request: &Request, mut object: Value) -> Result<(Arc<K>, u32), Box<Undecodable>> {
        if !self.shared.keep_managed_fields
            && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        {
            metadata.remove("managedFields");
        }
        let resource = &self.shared.resource;
        let size = u32::try_from(size_of(&object)).unwrap_or(u32::MAX);
        let identity = identity_of(&object);
        let (uid, version) = (identity.uid.map(str::to_owned), identity.resource_version.map(str::to_owned));
        match decode(object, resource, self.shared.transform.as_deref()) {
            Ok(object) => Ok((Arc::new(object), size)),
            Err(error) => Err(Box::new(Undecodable {
                resource: resource.clone(),
                request: request.clone(),
                uid,
                resource_version: version,
                error,
            })),
        }
    }

    /// Whether the undecoded object is the same version as the stored one. Then the list has it.
    fn mark_unchanged(&self, request: &Request, object: &Value) -> bool {
        let mut store = self.store();
        let same = store.get(request).is_some_and(|stored| {
            let (identity, meta) = (identity_of(object), stored.meta());
            identity.resource_version.is_some()
                && identity.resource_version == meta.resource_version.as_deref()
                && identity.uid == meta.uid.as_deref()
        });
        if same {
            store.mark(request, self.round);
        }
        same
    }

    /// Remembers that an object does not fit, and reports it if that is news.
    fn set_aside(&self, undecodable: &Undecodable) {
        let old = self.store().set_aside(undecodable.clone(), self.round);
        let known = old.is_some_and(|old| {
            old.resource_version == undecodable.resource_version && old.uid == undecodable.uid
        });
        if known {
            return;
        }
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

    /// Takes an object out of the store and tells the handlers, with its last state if that is known.
    fn remove(&mut self, request: &Request, last: Option<Arc<K>>) {
        let shared = self.shared.clone();
        let mut delivery = shared.delivery();
        let Some((old, size)) = self.store().remove(request) else { return };
        self.forget(size);
        let version = last.as_ref().and_then(|last| last.meta().resource_version.as_deref());
        self.shared.own_writes().removed(request, old.meta().uid.as_deref(), version);
        // An object that never fitted was never announced, so its end is not announced either.
        let state_unknown = last.is_none();
        delivery.deliver(&[Event::Delete { object: last.unwrap_or(old), state_unknown }]);
    }

    fn forget(&mut self, size: u32) {
        self.objects -= 1;
        self.bytes -= size as usize;
    }

    /// Publishes the counts after a change.
    fn count(&self) {
        self.metrics.set_objects(self.objects);
        self.metrics.set_bytes(self.bytes);
        let store = self.shared.store.read().unwrap_or_else(PoisonError::into_inner);
        let here = |undecodable: &&Undecodable| is_here(self.namespace.as_deref(), &undecodable.request);
        self.state.set_undecodable(store.undecodable().filter(here).count());
    }

    fn store(&self) -> RwLockWriteGuard<'_, Store<K>> {
        self.shared.store.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Sink for Partition<K>
where
    K: Resource + DeserializeOwned + Send + Sync + 'static,
{
    fn begin(&mut self) {
        self.round = self.round.wrapping_add(1);
        self.began = self.shared.own_writes().list_begins();
    }

    fn stage(&mut self, object: Value) {
        let Some(request) = request_of(&object) else {
            tracing::warn!(kind = self.shared.resource.kind, "the server listed an object without a name");
            return;
        };
        // After a gap most objects are as they were: they need no decoding, and keep their memory.
        if !self.mark_unchanged(&request, &object) {
            let initial = !self.state.is_synced();
            self.put(&request, object, initial);
        }
    }

    fn commit(&mut self) {
        let missed = self.store().missed(self.namespace.as_deref(), self.round);
        for request in missed {
            self.remove(&request, None);
        }
        {
            let namespace = self.namespace.as_deref();
            let mut own_writes = self.shared.own_writes();
            let store = self.shared.store.read().unwrap_or_else(PoisonError::into_inner);
            let uid_of = |request: &Request| store.get(request)?.meta().uid.as_deref();
            own_writes.listed(self.began, |request| is_here(namespace, request), uid_of);
        }
        // Under the lock of the handlers, so that one that is added now is told of everything before.
        let delivery = self.shared.delivery();
        self.state.set_synced();
        drop(delivery);
        self.count();
    }

    fn apply(&mut self, object: Value) {
        let Some(request) = request_of(&object) else {
            tracing::warn!(kind = self.shared.resource.kind, "the server sent an object without a name");
            return;
        };
        self.put(&request, object, false);
        self.count();
    }

    fn delete(&mut self, object: Value) {
        let Some(request) = request_of(&object) else { return };
        let identity = identity_of(&object);
        // Of an object that was never stored, too: its end may be awaited.
        self.shared.own_writes().removed(&request, identity.uid, None);
        let last = self.decode(&request, object).ok().map(|(last, _)| last);
        self.remove(&request, last);
        self.count();
    }

    fn reached(&mut self, version: &str) {
        self.state.set_version(version);
        self.metrics.set_resource_version(version);
        self.shared.own_writes().reached(version, |request| is_here(self.namespace.as_deref(), request));
        self.shared.progressed();
    }
}

fn is_here(namespace: Option<&str>, request: &Request) -> bool {
    namespace.is_none_or(|namespace| request.namespace() == namespace)
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
