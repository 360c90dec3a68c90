use std::{
    any::Any,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use kube::{Client, Resource, core::ApiResource};
use kubewright_world::{Clock, Random};
use serde::de::DeserializeOwned;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    backoff::WatchBackoff,
    decode::Undecodable,
    informer::{Informer, Observer, Shared, UndecodableHook},
    list_watch::ListWatch,
    options::{InformerOptions, Selection},
    reflector::Reflector,
    sink::Partition,
    status::{SyncTimeout, WatchState, WatchStatus},
};
use crate::{
    Error, Result,
    metrics::{Metrics, WatchLabels},
};

/// The shared informers of an operator. Clones are the same cache.
///
/// A kind is in the cache if someone declared it; a read of another kind finds no informer and starts none.
/// Watches begin with [`Cache::start`]; what is declared after that begins at once.
#[derive(Clone)]
pub struct Cache {
    inner: Arc<Inner>,
}

/// What a [`Cache`] is made of. The defaults are the machine's clock and entropy, all namespaces, and metrics
/// that nobody reads.
#[derive(Clone, Default)]
pub struct CacheOptions {
    clock: Clock,
    random: Random,
    metrics: Metrics,
    namespaces: Vec<String>,
    on_undecodable: Option<UndecodableHook>,
    keep_managed_fields: bool,
}

struct Inner {
    client: Client,
    options: CacheOptions,
    state: Mutex<State>,
    tasks: TaskTracker,
}

#[derive(Default)]
struct State {
    /// In the order of their declaration.
    declared: Vec<Declared>,
    /// Ends all watches. There from the start on.
    running: Option<CancellationToken>,
}

struct Declared {
    selection: Selection,
    /// An `Informer<K>` for the `K` of the selection.
    informer: Box<dyn Any + Send + Sync>,
    observer: Arc<dyn Observer>,
    watches: Vec<Arc<WatchState>>,
    stop: CancellationToken,
    /// Those that have not begun yet.
    reflectors: Vec<Reflector>,
}

// === impl CacheOptions ===

impl CacheOptions {
    /// Takes the time of a status from `clock`.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Draws jitter from `random`.
    #[must_use]
    pub fn random(mut self, random: Random) -> Self {
        self.random = random;
        self
    }

    /// Reports on watches to `metrics`.
    #[must_use]
    pub fn metrics(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// Watches these namespaces alone, unless an informer is declared for others. None means all.
    #[must_use]
    pub fn namespaces(mut self, namespaces: impl IntoIterator<Item = String>) -> Self {
        self.namespaces = namespaces.into_iter().collect();
        self
    }

    /// Calls `hook` with each object that does not fit its Rust type, once for each version of it. It is
    /// called from the task of the watch, so it must not block.
    #[must_use]
    pub fn on_undecodable(mut self, hook: impl Fn(&Undecodable) + Send + Sync + 'static) -> Self {
        self.on_undecodable = Some(Arc::new(hook));
        self
    }

    /// Keeps `metadata.managedFields` of objects. They are dropped unless asked for: operators do not read them,
    /// and they are often half of an object. An update that lacks them leaves them as they are on the server.
    #[must_use]
    pub fn keep_managed_fields(mut self) -> Self {
        self.keep_managed_fields = true;
        self
    }
}

impl fmt::Debug for CacheOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheOptions").field("namespaces", &self.namespaces).finish_non_exhaustive()
    }
}

// === impl Cache ===

impl Cache {
    /// An empty cache of the cluster behind `client`.
    #[must_use]
    pub fn new(client: Client, options: CacheOptions) -> Self {
        let inner = Inner { client, options, state: Mutex::default(), tasks: TaskTracker::new() };
        Self { inner: Arc::new(inner) }
    }

    /// The informer for this kind and selection, which is added if nobody declared it before.
    ///
    /// If the cache runs, a new informer begins to watch at once, which needs the context of a tokio runtime.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if the options have a transform function, but the informer is there already: whoever
    /// declared it before relies on what it stores.
    pub fn declare<K>(&self, options: InformerOptions<K>) -> Result<Informer<K>>
    where
        K: Resource + DeserializeOwned + Send + Sync + 'static,
    {
        let selection = options.selection(&self.inner.options.namespaces);
        let mut state = self.lock();
        let known = state.declared.iter().find(|declared| declared.selection == selection);
        if let Some(informer) = known.and_then(|declared| declared.informer.downcast_ref::<Informer<K>>()) {
            return if options.transform.is_none() {
                Ok(informer.clone())
            } else {
                Err(Error::setup(format!(
                    "{} is declared with a transform function after it was declared without; declare it once, \
                     before the controllers that use it",
                    options.resource.kind
                )))
            };
        }
        let (informer, mut declared) = self.build(options, selection);
        if let Some(running) = state.running.clone() {
            self.begin(&mut declared, &running);
        }
        state.declared.push(declared);
        Ok(informer)
    }

    /// The informer for a kind, if it was declared: one that has all its objects, or else the first one without
    /// a selector, or else the first. `None` if the kind was not declared.
    #[must_use]
    pub fn informer<K>(&self) -> Option<Informer<K>>
    where
        K: Resource + Send + Sync + 'static,
        K::DynamicType: Default,
    {
        self.informer_of(&K::DynamicType::default())
    }

    /// [`Cache::informer`] for a kind that is known at run time only.
    #[must_use]
    pub fn informer_of<K>(&self, kind: &K::DynamicType) -> Option<Informer<K>>
    where
        K: Resource + Send + Sync + 'static,
    {
        let resource = ApiResource::erase::<K>(kind);
        let state = self.lock();
        let of_kind = state.declared.iter().filter_map(|declared| {
            let informer = declared.informer.downcast_ref::<Informer<K>>()?;
            (declared.selection.resource == resource).then_some((&declared.selection, informer))
        });
        // Of equal ones, `min_by_key` takes the first.
        let (_, informer) = of_kind
            .min_by_key(|(selection, _)| (!selection.is_unfiltered(), !selection.namespaces.is_empty()))?;
        Some(informer.clone())
    }

    /// The informers of a kind in any of its versions and representations, which are to be told of writes.
    pub(crate) fn observers(&self, group: &str, plural: &str) -> Vec<Arc<dyn Observer>> {
        let state = self.lock();
        let of_kind = state.declared.iter().filter(|declared| {
            let resource = &declared.selection.resource;
            resource.group == group && resource.plural == plural
        });
        of_kind.map(|declared| declared.observer.clone()).collect()
    }

    /// Ends the watches of an informer and takes it out of the cache. Its handlers get no more events; whoever
    /// still holds it reads what it had at the end.
    pub fn remove<K: Resource + 'static>(&self, informer: &Informer<K>) {
        let mut state = self.lock();
        state.declared.retain(|declared| {
            let same = declared.selection == informer.shared.selection;
            if same {
                declared.stop.cancel();
            }
            !same
        });
    }

    /// Begins to watch, until `stop`. A second call does nothing. Needs the context of a tokio runtime.
    pub fn start(&self, stop: &CancellationToken) {
        let mut state = self.lock();
        if state.running.is_none() {
            state.running = Some(stop.clone());
            for declared in &mut state.declared {
                self.begin(declared, stop);
            }
        }
    }

    /// Waits until all watches have ended after the stop.
    pub async fn stopped(&self) {
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }

    /// Whether every informer knows its objects.
    #[must_use]
    pub fn has_synced(&self) -> bool {
        self.lock().declared.iter().flat_map(|declared| &declared.watches).all(|watch| watch.is_synced())
    }

    /// Waits until every informer that is declared now knows its objects, but not longer than `timeout`.
    ///
    /// # Errors
    ///
    /// [`SyncTimeout`], with the last error of each watch that is late.
    pub async fn wait_for_sync(&self, timeout: Duration) -> Result<(), SyncTimeout> {
        let watches: Vec<_> = {
            let state = self.lock();
            state.declared.iter().flat_map(|declared| declared.watches.clone()).collect()
        };
        let all = async {
            for watch in &watches {
                watch.synced().await;
            }
        };
        tokio::time::timeout(timeout, all).await.map_err(|_| {
            let late = watches.iter().map(|watch| watch.status()).filter(|watch| !watch.synced);
            SyncTimeout { waited: timeout, watches: late.collect() }
        })
    }

    /// The status of every watch, in the order of the declarations.
    #[must_use]
    pub fn watches(&self) -> Vec<WatchStatus> {
        let state = self.lock();
        state.declared.iter().flat_map(|declared| &declared.watches).map(|watch| watch.status()).collect()
    }

    fn build<K>(&self, options: InformerOptions<K>, selection: Selection) -> (Informer<K>, Declared)
    where
        K: Resource + DeserializeOwned + Send + Sync + 'static,
    {
        let CacheOptions { clock, random, metrics, on_undecodable, keep_managed_fields, .. } =
            &self.inner.options;
        let namespaces: Vec<Option<String>> = if selection.namespaces.is_empty() {
            vec![None]
        } else {
            selection.namespaces.iter().cloned().map(Some).collect()
        };
        let resource = &selection.resource;
        let state_of = |namespace: &Option<String>| {
            Arc::new(WatchState::new(
                clock.clone(),
                resource.clone(),
                namespace.clone(),
                selection.selector(),
            ))
        };
        let watches: Vec<_> = namespaces.iter().map(state_of).collect();
        let shared = Arc::new(Shared::new(
            selection.clone(),
            options.labels,
            options.transform,
            on_undecodable.clone(),
            *keep_managed_fields,
            watches.clone(),
        ));
        let reflectors = namespaces.into_iter().zip(&watches).map(|(namespace, state)| {
            let random = random.fork();
            let metrics = Arc::new(metrics.watch(WatchLabels {
                group: resource.group.clone(),
                version: resource.version.clone(),
                kind: resource.kind.clone(),
                namespace: namespace.clone().unwrap_or_default(),
                selector: selection.selector(),
            }));
            let list_watch = ListWatch {
                client: self.inner.client.clone(),
                resource: resource.clone(),
                namespace: namespace.clone(),
                labels: selection.labels.clone(),
                fields: selection.fields.clone(),
                metadata_only: options.metadata_only,
                // Spread, so that watches that began together do not all end together. Some load balancers cut
                // connections after four minutes without traffic; bookmarks come every minute.
                timeout_seconds: 240 + u32::try_from(random.below(60)).unwrap_or_default(),
            };
            let sink = Partition::new(shared.clone(), state.clone(), metrics.clone(), namespace);
            Reflector::new(list_watch, Box::new(sink), state.clone(), metrics, WatchBackoff::new(random))
                .with_lists(options.page_size, options.streaming_lists)
        });
        let reflectors = reflectors.collect();
        let informer = Informer { shared };
        let declared = Declared {
            selection,
            informer: Box::new(informer.clone()),
            observer: informer.shared.clone(),
            watches,
            stop: CancellationToken::new(),
            reflectors,
        };
        (informer, declared)
    }

    fn begin(&self, declared: &mut Declared, stop: &CancellationToken) {
        for reflector in declared.reflectors.drain(..) {
            let (all, own) = (stop.clone(), declared.stop.clone());
            self.inner.tasks.spawn(async move {
                tokio::select! {
                    biased;
                    () = all.cancelled() => {}
                    () = reflector.run(own) => {}
                }
            });
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: Vec<_> =
            self.lock().declared.iter().map(|declared| declared.selection.resource.kind.clone()).collect();
        f.debug_struct("Cache").field("kinds", &kinds).finish_non_exhaustive()
    }
}
