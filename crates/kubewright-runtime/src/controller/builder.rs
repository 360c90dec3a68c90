use std::{
    any::{Any, type_name},
    fmt,
    sync::Arc,
    time::Duration,
};

use kube::{Resource, core::ApiResource, discovery::Scope};
use kubewright_manifests::crd::CrdBuilder;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use super::{ControllerConfig, ControllerContext, ControllerHost, ControllerRunnable, worker::Worker};
use crate::{
    Error, Reconciler, Result,
    cache::{Cache, InformerOptions},
    crds::CustomKind,
    event::{Event, Object},
    handler::{EnqueueOwner, EventHandler, enqueue_object, enqueue_owner},
    predicate::Predicate,
    queue::RateLimiter,
    source::{ChannelSource, KindSource, Source},
};

/// Builds a controller and gives it to its manager.
///
/// ```no_run
/// use k8s_openapi::api::{apps::v1::{Deployment, ReplicaSet}, core::v1::ConfigMap};
/// use kubewright_runtime::{
///     Reconciler, Request, Result,
///     controller::{Controller, ControllerHost},
///     handler::enqueue_mapped,
///     predicate::generation_changed,
/// };
///
/// fn add(manager: &impl ControllerHost, reconciler: impl Reconciler) -> Result<()> {
///     Controller::for_kind::<Deployment>(manager)
///         .owns::<ReplicaSet>()
///         .watches::<ConfigMap>(enqueue_mapped(|config: &ConfigMap| vec![Request::of(config)]))
///         .with_event_filter(generation_changed())
///         .max_concurrent_reconciles(4)
///         .run(reconciler)
/// }
/// ```
#[must_use = "a controller does nothing until `run` is called"]
pub struct Controller<'a> {
    host: &'a dyn ControllerHost,
    context: ControllerContext,
    name: String,
    resource: ApiResource,
    owner: EnqueueOwner,
    watches: Vec<Box<dyn Watch>>,
    sources: Vec<Box<dyn Source>>,
    filters: Vec<Arc<dyn Predicate<dyn Object>>>,
    config: ControllerConfig,
    /// What was wrong with an earlier call; `run` returns it, so that the chain of calls stays a chain.
    mistake: Option<Error>,
}

/// A source that the builder made, whose type it has forgotten.
trait Watch: Send {
    fn kind(&self) -> &'static str;
    /// Takes an `Arc<dyn Predicate<K>>` of its own `K`.
    fn add_predicate(&mut self, predicate: &dyn Any) -> bool;
    /// Takes an `Option<InformerOptions<K>>` of its own `K`.
    fn set_options(&mut self, options: &mut dyn Any) -> bool;
    fn add_filter(&mut self, filter: Arc<dyn Predicate<dyn Object>>);
    fn declare(&mut self, cache: &Cache) -> Result<()>;
    fn into_source(self: Box<Self>) -> Box<dyn Source>;
}

// === impl Controller ===

impl<'a> Controller<'a> {
    /// A controller that reconciles objects of the operator's custom resource `K`: their creations, changes and
    /// deletions. Its name, in logs and metrics, is the kind in lower case.
    ///
    /// The definition of `K` becomes one of those that the operator prints (`my-operator crd`).
    pub fn new<K: CustomKind>(host: &'a impl ControllerHost) -> Self {
        host.register_crd(CrdBuilder::of::<K>());
        Self::for_kind::<K>(host)
    }

    /// Adds another version of the reconciled custom resource to its definition. The controller goes on reading and
    /// writing the version that it was made for; the API server converts.
    ///
    /// ```no_run
    /// use kubewright_runtime::{
    ///     Reconciler, Result,
    ///     controller::{Controller, ControllerHost},
    ///     crds::CustomKind,
    /// };
    ///
    /// fn add<Stable: CustomKind, Alpha: CustomKind>(
    ///     manager: &impl ControllerHost,
    ///     reconciler: impl Reconciler,
    /// ) -> Result<()> {
    ///     Controller::new::<Stable>(manager).serves::<Alpha>().run(reconciler)
    /// }
    /// ```
    pub fn serves<V: CustomKind>(mut self) -> Self {
        let (group, kind) = (V::group(&()), V::kind(&()));
        if (&*group, &*kind) == (&*self.resource.group, &*self.resource.kind) {
            self.host.register_crd(CrdBuilder::of::<V>());
        } else {
            self.mistake.get_or_insert_with(|| {
                Error::setup(format!(
                    "controller {:?}: `.serves::<{}>()` names {kind} of the group {group:?}, which is not a version of {}: \
                     make a controller for it",
                    self.name,
                    type_name::<V>(),
                    self.resource.kind
                ))
            });
        }
        self
    }

    /// A controller of a kind whose definition is not the operator's: a built-in one, or a custom one that another
    /// operator installs.
    pub fn for_kind<K>(host: &'a impl ControllerHost) -> Self
    where
        K: Resource + DeserializeOwned + Send + Sync + 'static,
        K::DynamicType: Default,
    {
        let resource = ApiResource::erase::<K>(&K::DynamicType::default());
        let source = KindSource::new(InformerOptions::<K>::new(), enqueue_object());
        Self::build(host, resource, enqueue_owner::<K>(), Box::new(source))
    }

    /// A controller of a kind that is known at run time only: for `DynamicObject` and its metadata.
    pub fn dynamic<K>(host: &'a impl ControllerHost, kind: &K::DynamicType, scope: Scope) -> Self
    where
        K: Resource + DeserializeOwned + Send + Sync + 'static,
    {
        let resource = ApiResource::erase::<K>(kind);
        let owner = EnqueueOwner::new(&resource.group, &resource.kind, scope.clone());
        let source = KindSource::new(InformerOptions::<K>::dynamic(kind, scope), enqueue_object());
        Self::build(host, resource, owner, Box::new(source))
    }

    fn build(
        host: &'a dyn ControllerHost,
        resource: ApiResource,
        owner: EnqueueOwner,
        primary: Box<dyn Watch>,
    ) -> Self {
        let context = host.controller_context();
        let mut config = context.config.clone();
        config.max_concurrent_reconciles = config.concurrency_of(&resource.group, &resource.kind);
        Self {
            host,
            context,
            name: resource.kind.to_lowercase(),
            resource,
            owner,
            watches: vec![primary],
            sources: Vec::new(),
            filters: Vec::new(),
            config,
            mistake: None,
        }
    }

    /// Also reconciles the object that is the controller owner of an object of kind `C`, when that one changes.
    pub fn owns<C>(self) -> Self
    where
        C: Resource + DeserializeOwned + Send + Sync + 'static,
        C::DynamicType: Default,
    {
        let owner = self.owner.clone();
        self.watches::<C>(owner)
    }

    /// As [`Controller::owns`], for every owner of the reconciled kind, not the controller owner alone.
    pub fn owns_any<C>(self) -> Self
    where
        C: Resource + DeserializeOwned + Send + Sync + 'static,
        C::DynamicType: Default,
    {
        let owner = self.owner.clone().any_owner();
        self.watches::<C>(owner)
    }

    /// Also reconciles what `handler` makes of the events of objects of kind `W`.
    pub fn watches<W>(mut self, handler: impl EventHandler<W>) -> Self
    where
        W: Resource + DeserializeOwned + Send + Sync + 'static,
        W::DynamicType: Default,
    {
        self.watches.push(Box::new(KindSource::new(InformerOptions::<W>::new(), handler)));
        self
    }

    /// Also reconciles what `handler` makes of the objects that arrive at `receiver`, for causes outside the
    /// cluster. [`channel`](crate::source::channel) makes one of a fitting size.
    pub fn watches_channel<W>(
        mut self,
        receiver: mpsc::Receiver<Arc<W>>,
        handler: impl EventHandler<W>,
    ) -> Self
    where
        W: Object,
    {
        self.watches.push(Box::new(ChannelSource::new(receiver, handler)));
        self
    }

    /// Also takes requests from a source of one's own making. Event filters do not apply to it.
    pub fn source(mut self, source: impl Source) -> Self {
        self.sources.push(Box::new(source));
        self
    }

    /// Drops the events of all watches so far and to come that `filter` does not let pass. Of several filters
    /// all must let an event pass.
    ///
    /// A filter sees objects of every kind. Mind what it means for each: `generation_changed()` also drops the
    /// status changes of owned objects, which a reconciler often waits for; use
    /// [`Controller::with_predicate`] for a filter on one kind.
    pub fn with_event_filter(mut self, filter: impl Predicate<dyn Object>) -> Self {
        self.filters.push(Arc::new(filter));
        self
    }

    /// Drops the events of kind `K` that `predicate` does not let pass. Call it after the watch it is for; `K`
    /// may be the reconciled kind.
    pub fn with_predicate<K: Object>(mut self, predicate: impl Predicate<K>) -> Self {
        let predicate: Arc<dyn Predicate<K>> = Arc::new(predicate);
        let mut applied = false;
        for watch in &mut self.watches {
            applied |= watch.add_predicate(&predicate);
        }
        if !applied {
            self.not_watched::<K>("with_predicate");
        }
        self
    }

    /// Watches kind `K` with these options: a namespace, a selector, a transform function. Call it after the
    /// watch it is for; `K` may be the reconciled kind.
    pub fn with_informer<K: Object>(mut self, options: InformerOptions<K>) -> Self {
        let mut options = Some(options);
        let mut watches = self.watches.iter_mut();
        if !watches.any(|watch| watch.set_options(&mut options)) {
            self.not_watched::<K>("with_informer");
        }
        self
    }

    /// Sets the name in logs and metrics. Two controllers of a manager need different names.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets [`ControllerConfig::max_concurrent_reconciles`].
    pub fn max_concurrent_reconciles(mut self, number: usize) -> Self {
        self.config.max_concurrent_reconciles = number;
        self
    }

    /// Sets [`ControllerConfig::reconcile_timeout`].
    pub fn reconcile_timeout(mut self, timeout: Duration) -> Self {
        self.config.reconcile_timeout = Some(timeout);
        self
    }

    /// Sets [`ControllerConfig::cache_sync_timeout`].
    pub fn cache_sync_timeout(mut self, timeout: Duration) -> Self {
        self.config.cache_sync_timeout = timeout;
        self
    }

    /// Sets [`ControllerConfig::recover_panic`].
    pub fn recover_panic(mut self, recover: bool) -> Self {
        self.config.recover_panic = recover;
        self
    }

    /// Sets [`ControllerConfig::drain_timeout`].
    pub fn drain_timeout(mut self, timeout: Duration) -> Self {
        self.config.drain_timeout = timeout;
        self
    }

    /// Sets [`ControllerConfig::needs_leader_election`].
    pub fn needs_leader_election(mut self, needed: bool) -> Self {
        self.config.needs_leader_election = needed;
        self
    }

    /// Sets [`ControllerConfig::rate_limiter`].
    pub fn rate_limiter(mut self, limiter: RateLimiter) -> Self {
        self.config.rate_limiter = limiter;
        self
    }

    /// Finishes the controller and adds it to its manager, which runs it.
    ///
    /// # Errors
    ///
    /// [`Error::Setup`] if a call on the builder was wrong, if an informer is declared in two ways, or if the
    /// manager has a controller of this name.
    pub fn run(mut self, reconciler: impl Reconciler) -> Result<()> {
        if let Some(mistake) = self.mistake.take() {
            return Err(mistake);
        }
        let name = self.name;
        if name.is_empty() {
            return Err(Error::setup("a controller needs a name"));
        }
        if self.config.max_concurrent_reconciles == 0 {
            return Err(Error::setup(format!(
                "controller {name:?}: max_concurrent_reconciles must be at least 1"
            )));
        }
        let cache = &self.context.cache;
        let mut sources = Vec::with_capacity(self.watches.len() + self.sources.len());
        for mut watch in self.watches {
            for filter in &self.filters {
                watch.add_filter(filter.clone());
            }
            watch.declare(cache)?;
            sources.push(watch.into_source());
        }
        for mut source in self.sources {
            source.declare(cache)?;
            sources.push(source);
        }
        let worker = Worker::new(
            name.clone(),
            &self.resource,
            &self.config,
            Box::new(reconciler),
            self.context.metrics.controller(&name),
            self.context.random.fork(),
        );
        let runnable = ControllerRunnable::new(name, self.config, sources, worker, &self.context);
        self.host.add_controller(runnable)
    }

    fn not_watched<K>(&mut self, method: &str) {
        let kind = type_name::<K>();
        let watched: Vec<_> = self.watches.iter().map(|watch| watch.kind()).collect();
        self.mistake.get_or_insert_with(|| {
            Error::setup(format!(
                "controller {:?}: `.{method}::<{kind}>(..)` stands before any watch of that kind; watched so far: {}",
                self.name,
                watched.join(", ")
            ))
        });
    }
}

impl fmt::Debug for Controller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

// === impl Watch ===

/// A filter over every kind as a predicate of one kind.
fn filter_of<K: Object>(filter: Arc<dyn Predicate<dyn Object>>) -> Arc<dyn Predicate<K>> {
    Arc::new(move |event: &Event<K>| filter.allows(&event.erase()))
}

impl<K> Watch for KindSource<K>
where
    K: Resource + DeserializeOwned + Send + Sync + 'static,
{
    fn kind(&self) -> &'static str {
        type_name::<K>()
    }

    fn add_predicate(&mut self, predicate: &dyn Any) -> bool {
        let predicate = predicate.downcast_ref::<Arc<dyn Predicate<K>>>();
        predicate.map(|predicate| KindSource::add_predicate(self, predicate.clone())).is_some()
    }

    fn set_options(&mut self, options: &mut dyn Any) -> bool {
        let options = options.downcast_mut::<Option<InformerOptions<K>>>().and_then(Option::take);
        options.map(|options| KindSource::set_options(self, options)).is_some()
    }

    fn add_filter(&mut self, filter: Arc<dyn Predicate<dyn Object>>) {
        KindSource::add_predicate(self, filter_of(filter));
    }

    fn declare(&mut self, cache: &Cache) -> Result<()> {
        Source::declare(self, cache)
    }

    fn into_source(self: Box<Self>) -> Box<dyn Source> {
        self
    }
}

impl<K: Object> Watch for ChannelSource<K> {
    fn kind(&self) -> &'static str {
        type_name::<K>()
    }

    fn add_predicate(&mut self, predicate: &dyn Any) -> bool {
        let predicate = predicate.downcast_ref::<Arc<dyn Predicate<K>>>();
        predicate.map(|predicate| ChannelSource::add_predicate(self, predicate.clone())).is_some()
    }

    fn set_options(&mut self, _: &mut dyn Any) -> bool {
        false
    }

    fn add_filter(&mut self, filter: Arc<dyn Predicate<dyn Object>>) {
        ChannelSource::add_predicate(self, filter_of(filter));
    }

    fn declare(&mut self, cache: &Cache) -> Result<()> {
        Source::declare(self, cache)
    }

    fn into_source(self: Box<Self>) -> Box<dyn Source> {
        self
    }
}
