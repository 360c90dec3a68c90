use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use kube::{
    Resource,
    core::{ApiResource, Selector, SelectorExt},
};
use tokio::sync::Notify;

use super::{
    decode::Undecodable,
    options::{Selection, Transform},
    own_writes::{Change, Known, OwnWrites, Unseen, Written},
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
    pub(super) labels: Selector,
    pub(super) transform: Option<Transform<K>>,
    pub(super) on_undecodable: Option<UndecodableHook>,
    pub(super) keep_managed_fields: bool,
    pub(super) store: RwLock<Store<K>>,
    pub(super) watches: Vec<Arc<WatchState>>,
    /// Locked before `store` where both are.
    own_writes: Mutex<OwnWrites>,
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

/// What an informer does not show in time, and how its watch is doing.
#[derive(Debug)]
pub(crate) struct Behind {
    unseen: Vec<Unseen>,
    watch: Option<WatchStatus>,
}

/// An informer as those who write see it: whatever its type, it is told of their writes.
pub(crate) trait Observer: Send + Sync {
    /// A write of `key`, or of any object, is about to be sent. Returns what [`Self::end_write`] takes.
    fn begin_write(&self, key: Option<&Request>) -> u64;
    /// The write was answered with what it made of objects, or failed.
    fn end_write(&self, id: u64, written: &[Written]);
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
        self.store().undecodable().cloned().collect()
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

    /// Waits until `condition` holds, which is asked now, after each change, and when the server says that there
    /// was none.
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

    /// Waits until the informer shows what the clients of its cache have written by now of the objects that are
    /// `wanted`. Returns what it does not show after `timeout`.
    pub(crate) async fn catch_up(
        &self,
        wanted: impl Fn(&Request) -> bool,
        timeout: Duration,
    ) -> Result<(), Behind> {
        let mut unseen = self.shared.own_writes().unseen(wanted);
        let seen = self.wait_until(|informer| {
            unseen.retain(|unseen| !informer.shared.is_seen(unseen));
            unseen.is_empty()
        });
        if tokio::time::timeout(timeout, seen).await.is_ok() {
            return Ok(());
        }
        let watch = unseen.first().and_then(|unseen| self.shared.watch_of(&unseen.key));
        Err(Behind { unseen, watch: watch.map(|watch| watch.status()) })
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
        labels: Selector,
        transform: Option<Transform<K>>,
        on_undecodable: Option<UndecodableHook>,
        keep_managed_fields: bool,
        watches: Vec<Arc<WatchState>>,
    ) -> Self {
        Self {
            resource: selection.resource.clone(),
            selection,
            labels,
            transform,
            on_undecodable,
            keep_managed_fields,
            store: RwLock::default(),
            watches,
            own_writes: Mutex::default(),
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

    pub(super) fn own_writes(&self) -> MutexGuard<'_, OwnWrites> {
        self.own_writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The watch that sees objects with this key; none if their namespace is not watched.
    fn watch_of(&self, key: &Request) -> Option<&Arc<WatchState>> {
        self.watches.iter().find(|watch| watch.sees(key.namespace.as_deref()))
    }
}

impl<K: Resource> Shared<K> {
    /// Whether a write does not have to be waited for any more.
    fn is_seen(&self, unseen: &Unseen) -> bool {
        if !self.own_writes().awaits(unseen) {
            return true;
        }
        let Change::At(version) = &unseen.what else { return false };
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        let stored = store.get(&unseen.key).and_then(|object| object.meta().resource_version.as_deref());
        let position = self.watch_of(&unseen.key).and_then(|watch| watch.version());
        version.is_reached_by(stored) || version.is_reached_by(position.as_deref())
    }
}

impl<K: Resource + Send + Sync> Observer for Shared<K> {
    fn begin_write(&self, key: Option<&Request>) -> u64 {
        let mut own_writes = self.own_writes();
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        let stored = key.and_then(|key| store.get(key)).and_then(|object| object.meta().uid.clone());
        own_writes.begin(key.cloned(), stored)
    }

    fn end_write(&self, id: u64, written: &[Written]) {
        let mut own_writes = self.own_writes();
        let Some(write) = own_writes.end(id) else { return };
        let store = self.store.read().unwrap_or_else(PoisonError::into_inner);
        for written in written {
            let Some(watch) = self.watch_of(&written.key) else { continue };
            let position = watch.version();
            let known = Known {
                stored: store.get(&written.key).map(|object| object.meta()),
                position: position.as_deref(),
                filtered: !self.selection.is_unfiltered(),
                selected: self.labels.selects_all() || self.labels.matches(&written.labels),
            };
            own_writes.settle(&write, written, &known);
        }
    }
}

// === impl Behind ===

/// `"shop/cart" at resourceVersion 7: its watch has come to resourceVersion 5`
impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(Unseen { key, what }) = self.unseen.first() else { return f.write_str("nothing") };
        match what {
            Change::At(version) => {
                write!(f, "the write of \"{key}\" at resourceVersion {}", version.as_str())?;
            }
            Change::EndOf(uid) => write!(f, "the deletion of \"{key}\" with uid {uid}")?,
        }
        match self.unseen.len() - 1 {
            0 => {}
            1 => f.write_str(" and another write")?,
            more => write!(f, " and {more} other writes")?,
        }
        let Some(watch) = &self.watch else { return Ok(()) };
        match (&watch.last_error, &watch.resource_version) {
            (Some(error), _) => write!(f, "; its watch fails: {error}")?,
            (None, Some(version)) => write!(f, "; its watch has come to resourceVersion {version}")?,
            (None, None) => f.write_str("; its objects were not listed yet")?,
        }
        if !watch.selector.is_empty() {
            write!(f, ", and sees objects with {} alone: read others with `client.live()`", watch.selector)?;
        }
        Ok(())
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
