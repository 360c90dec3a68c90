use std::{fmt, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use kube::Resource;
use serde::de::DeserializeOwned;

use super::{Source, SourceGuard};
use crate::{
    Error, Result,
    cache::{Cache, Informer, InformerOptions},
    event::Event,
    handler::{EventHandler, RequestQueue},
    predicate::Predicate,
};

/// The events of an informer.
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use kubewright_runtime::{cache::InformerOptions, handler::enqueue_object, source::KindSource};
///
/// let secrets = KindSource::new(InformerOptions::<Secret>::new().namespace("shop"), enqueue_object());
/// # let _ = secrets;
/// ```
pub struct KindSource<K> {
    options: Option<InformerOptions<K>>,
    informer: Option<Informer<K>>,
    handler: Box<dyn EventHandler<K>>,
    predicates: Vec<Arc<dyn Predicate<K>>>,
}

impl<K> KindSource<K>
where
    K: Resource + DeserializeOwned + Send + Sync + 'static,
{
    /// Gives the events of the informer with these options to `handler`.
    #[must_use]
    pub fn new(options: InformerOptions<K>, handler: impl EventHandler<K>) -> Self {
        Self { options: Some(options), informer: None, handler: Box::new(handler), predicates: Vec::new() }
    }

    /// Gives the events of this informer to `handler`, as for one of another cluster.
    #[must_use]
    pub fn of_informer(informer: Informer<K>, handler: impl EventHandler<K>) -> Self {
        Self { options: None, informer: Some(informer), handler: Box::new(handler), predicates: Vec::new() }
    }

    /// Drops the events that `predicate` does not let pass. Of several predicates all must let an event pass.
    #[must_use]
    pub fn with_predicate(mut self, predicate: impl Predicate<K>) -> Self {
        self.add_predicate(Arc::new(predicate));
        self
    }

    pub(crate) fn add_predicate(&mut self, predicate: Arc<dyn Predicate<K>>) {
        self.predicates.push(predicate);
    }

    pub(crate) fn set_options(&mut self, options: InformerOptions<K>) {
        self.options = Some(options);
    }
}

impl<K> Source for KindSource<K>
where
    K: Resource + DeserializeOwned + Send + Sync + 'static,
{
    fn declare(&mut self, cache: &Cache) -> Result<()> {
        if let Some(options) = self.options.take() {
            self.informer = Some(cache.declare(options)?);
        }
        Ok(())
    }

    fn start(
        self: Box<Self>,
        queue: RequestQueue,
        sync_timeout: Duration,
    ) -> BoxFuture<'static, Result<SourceGuard>> {
        let Self { informer, handler, predicates, .. } = *self;
        async move {
            let informer =
                informer.ok_or_else(|| Error::setup("a source was started before it was declared"))?;
            let handle = Arc::new(move |event: &Event<K>| {
                if predicates.iter().all(|predicate| predicate.allows(event)) {
                    handler.handle(event, &queue);
                }
            });
            let handler = handle.clone();
            let registration = informer.add_handler(move |event| handler(event));
            informer.wait_for_sync_within(sync_timeout).await?;
            let replay = move || {
                for object in informer.list(None) {
                    handle(&Event::Create { object, initial: true });
                }
            };
            Ok(SourceGuard::new(registration).with_replay(replay))
        }
        .boxed()
    }
}

impl<K> fmt::Debug for KindSource<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KindSource").field("informer", &self.informer).finish_non_exhaustive()
    }
}
