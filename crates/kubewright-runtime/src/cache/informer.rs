use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kube::{Resource, core::ApiResource};
use tokio::sync::Notify;

use super::{
    decode::Undecodable,
    options::{Selection, Transform},
    status::{SyncTimeout, WatchState, WatchStatus},
    store::Store,
};
use crate::{Request, client::ClientError, event::Event};

/// The objects of one kind as the watch shows them, shared by all who watch the same. Clones are the same
/// informer.
///
/// Reads take what the store has, without asking the server; they are as old as the watch is late. Each
/// object is shared, never copied: take a clone of what is to be changed.
pub struct Informer<K> {
    pub(super) shared: Arc<Shared<K>>,
}

/// Keeps an event handler in its informer. Dropping it removes the handler: no call begins after that.
#[must_use = "dropping the registration removes the handler"]
pub struct HandlerRegistration {
    active: Arc<AtomicBool>,
}

pub(super) struct Shared<K> {
    pub(super) resource: ApiResource,
    pub(super) selection: Selection,
    pub(super) transform: Option<Transform<K>>,
    pub(super) on_undecodable: Option<UndecodableHook>,
    pub(super) keep_managed_fields: bool,
    pub(super) store: RwLock<Store<K>>,
    pub(super) watches: Vec<Arc<WatchState>>,
    /// Locked from before the store changes until the last handler has seen the change, so that handlers see
    /// changes in order and a late handler sees each object exactly once. Never locked with `store` held.
    handlers: Mutex<Vec<Handler<K>>>,
    /// Told after each change. It wakes those who wait in their order; a watch channel would pick at random,
    /// and two runs would differ.
    progress: Notify,
}

pub(super) type UndecodableHook = Arc<dyn Fn(&Undecodable) + Send + Sync>;

type HandleFn<K> = Box<dyn Fn(&Event<K>) + Send + Sync>;

struct Handler<K> {
    active: Arc<AtomicBool>,
    handle: HandleFn<K>,
}

/// The right to tell events to the handlers.
pub(super) struct Delivery<'a, K> {
    handlers: MutexGuard<'a, Vec<Handler<K>>>,
    resource: &'a ApiResource,
}

// === impl Informer ===

impl<K: Resource + Send + Sync + 'static> Informer<K> {
    /// The object with this key.
    #[must_use]
    pub fn get(&self, request: &Request) -> Option<Arc<K>> {
        self.store().get(request).cloned()
    }

    /// The objects of a namespace, or all, in the order of their keys.
    #[must_use]
    pub fn list(&self, namespace: Option<&str>) -> Vec<Arc<K>> {
        self.store().list(namespace).map(|(_, object)| object.clone()).collect()
    }

    /// Adds an index, also to an informer that runs. `values` tells under which values an object is found; it
    /// must look at nothing but the object. An index of the same name is replaced.
    ///
    /// ```
    /// # use k8s_openapi::api::core::v1::Pod;
    /// # fn example(pods: kubewright_runtime::cache::Informer<Pod>) {
    /// pods.add_index("node", |pod| pod.spec.iter().filter_map(|spec| spec.node_name.clone()).collect());
    /// let on_worker = pods.by_index("node", "worker-1");
    /// # }
    /// ```
    pub fn add_index(
        &self,
        name: impl Into<String>,
        values: impl Fn(&K) -> Vec<String> + Send + Sync + 'static,
    ) {
        let mut store = self.shared.store.write().unwrap_or_else(PoisonError::into_inner);
        store.add_index(name.into(), Arc::new(values));
    }

    /// The objects under a value of an index, in the order of their keys.
    ///
    /// # Errors
    ///
    /// [`ClientError::NoSuchIndex`] if no such index was added.
    pub fn by_index(&self, index: &str, value: &str) -> Result<Vec<Arc<K>>, ClientError> {
        self.store().by_index(index, value).ok_or_else(|| ClientError::NoSuchIndex {
            kind: self.shared.resource.kind.clone(),
            index: index.to_owned(),
        })
    }

    /// The objects that do not fit the Rust type, in the order of their keys.
    #[must_use]
    pub fn undecodable(&self) -> Vec<Undecodable> {
        self.store().set_aside.values().cloned().collect()
    }

    /// Calls `handle` with each event from now on, after a [`Event::Create`] for each object that is there.
    ///
    /// Calls come one at a time, from the task of the watch, so `handle` must not block. It may read this and
    /// other informers, but not add a handler. A panic in it is logged, and ends neither the watch nor the
    /// handler.
    pub fn add_handler(&self, handle: impl Fn(&Event<K>) + Send + Sync + 'static) -> HandlerRegistration {
        let handler = Handler { active: Arc::new(AtomicBool::new(true)), handle: Box::new(handle) };
        let registration = HandlerRegistration { active: handler.active.clone() };
        let mut delivery = self.shared.delivery();
        let objects: Vec<_> = self.store().list(None).map(|(_, object)| object.clone()).collect();
        for object in objects {
            handler.call(&Event::Create { object, initial: true }, &self.shared.resource);
        }
        delivery.handlers.push(handler);
        registration
    }

    /// Whether the objects are known, and every handler has been told of them.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.shared.watches.iter().all(|watch| watch.is_synced())
    }

    /// Waits until [`Informer::has_synced`].
    pub async fn wait_for_sync(&self) {
        self.wait_until(Self::has_synced).await;
    }

    /// Waits until [`Informer::has_synced`], but not longer than `timeout`.
    ///
    /// # Errors
    ///
    /// [`SyncTimeout`], with the last error of each watch that is late.
    pub async fn wait_for_sync_within(&self, timeout: Duration) -> Result<(), SyncTimeout> {
        tokio::time::timeout(timeout, self.wait_for_sync()).await.map_err(|_| SyncTimeout {
            waited: timeout,
            watches: self.watches().into_iter().filter(|watch| !watch.synced).collect(),
        })
    }

    /// Waits until `condition` holds, which is asked now and after each change, as for an own write to arrive.
    pub async fn wait_until(&self, mut condition: impl FnMut(&Self) -> bool) {
        loop {
            // From before the condition is asked, so that a change in between is not missed.
            let progress = self.shared.progress.notified();
            if condition(self) {
                return;
            }
            progress.await;
        }
    }

    /// Whether an object with this key would be in the store: whether its namespace is watched. A selector may
    /// still leave it out.
    #[must_use]
    pub fn covers(&self, namespace: Option<&str>) -> bool {
        let watched = &self.shared.selection.namespaces;
        watched.is_empty()
            || namespace.is_some_and(|namespace| watched.iter().any(|watched| watched == namespace))
    }

    /// Whether a label or field selector leaves objects of the kind out.
    #[must_use]
    pub fn is_filtered(&self) -> bool {
        !self.shared.selection.is_unfiltered()
    }

    /// The status of each watch: one, or one for each namespace.
    #[must_use]
    pub fn watches(&self) -> Vec<WatchStatus> {
        self.shared.watches.iter().map(|watch| watch.status()).collect()
    }

    fn store(&self) -> RwLockReadGuard<'_, Store<K>> {
        self.shared.store.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K> Clone for Informer<K> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<K> fmt::Debug for Informer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer")
            .field("kind", &self.shared.resource.kind)
            .field("namespaces", &self.shared.selection.namespaces)
            .field("selector", &self.shared.selection.selector())
            .finish_non_exhaustive()
    }
}

// === impl Shared ===

impl<K> Shared<K> {
    pub(super) fn new(
        selection: Selection,
        transform: Option<Transform<K>>,
        on_undecodable: Option<UndecodableHook>,
        keep_managed_fields: bool,
        watches: Vec<Arc<WatchState>>,
    ) -> Self {
        Self {
            resource: selection.resource.clone(),
            selection,
            transform,
            on_undecodable,
            keep_managed_fields,
            store: RwLock::default(),
            watches,
            handlers: Mutex::default(),
            progress: Notify::new(),
        }
    }

    pub(super) fn delivery(&self) -> Delivery<'_, K> {
        let handlers = self.handlers.lock().unwrap_or_else(PoisonError::into_inner);
        Delivery { handlers, resource: &self.resource }
    }

    pub(super) fn progressed(&self) {
        self.progress.notify_waiters();
    }
}

// === impl Delivery ===

impl<K> Delivery<'_, K> {
    pub(super) fn deliver(&mut self, events: &[Event<K>]) {
        self.handlers.retain(|handler| handler.active.load(Ordering::Acquire));
        for event in events {
            for handler in self.handlers.iter() {
                handler.call(event, self.resource);
            }
        }
    }
}

impl<K> Handler<K> {
    fn call(&self, event: &Event<K>, resource: &ApiResource) {
        if self.active.load(Ordering::Acquire)
            && catch_unwind(AssertUnwindSafe(|| (self.handle)(event))).is_err()
        {
            tracing::error!(kind = resource.kind, "an event handler panicked; it misses this event");
        }
    }
}

// === impl HandlerRegistration ===

impl Drop for HandlerRegistration {
    fn drop(&mut self) {
        self.active.store(false, Ordering::Release);
    }
}

impl fmt::Debug for HandlerRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerRegistration").finish_non_exhaustive()
    }
}
