use std::{fmt, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::{Source, SourceGuard};
use crate::{
    Result,
    event::Event,
    handler::{EventHandler, RequestQueue},
    predicate::Predicate,
};

/// How many objects wait in a [`channel`] before its senders do.
pub const CHANNEL_CAPACITY: usize = 1024;

/// A channel for [`ChannelSource`], of controller-runtime's capacity. Any bounded channel will do.
#[must_use]
pub fn channel<K>() -> (mpsc::Sender<Arc<K>>, mpsc::Receiver<Arc<K>>) {
    mpsc::channel(CHANNEL_CAPACITY)
}

/// Objects that something outside the cluster concerns: a webhook of a registry, a poll of a cloud. Each
/// becomes an [`Event::Generic`].
///
/// ```
/// use std::sync::Arc;
///
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use kubewright_runtime::{handler::enqueue_object, source::{ChannelSource, channel}};
///
/// let (sender, receiver) = channel::<ConfigMap>();
/// let source = ChannelSource::new(receiver, enqueue_object());
/// # let _ = (sender, source);
/// ```
pub struct ChannelSource<K> {
    receiver: mpsc::Receiver<Arc<K>>,
    handler: Box<dyn EventHandler<K>>,
    predicates: Vec<Arc<dyn Predicate<K>>>,
}

impl<K: Send + Sync + 'static> ChannelSource<K> {
    /// Gives the objects that arrive to `handler`. The source ends when the last sender is dropped.
    #[must_use]
    pub fn new(receiver: mpsc::Receiver<Arc<K>>, handler: impl EventHandler<K>) -> Self {
        Self { receiver, handler: Box::new(handler), predicates: Vec::new() }
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
}

impl<K: Send + Sync + 'static> Source for ChannelSource<K> {
    fn start(self: Box<Self>, queue: RequestQueue, _: Duration) -> BoxFuture<'static, Result<SourceGuard>> {
        let Self { mut receiver, handler, predicates } = *self;
        async move {
            let task = tokio::spawn(async move {
                while let Some(object) = receiver.recv().await {
                    let event = Event::Generic { object };
                    if predicates.iter().all(|predicate| predicate.allows(&event)) {
                        handler.handle(&event, &queue);
                    }
                }
            });
            Ok(SourceGuard::new(AbortOnDropHandle::new(task)))
        }
        .boxed()
    }
}

impl<K> fmt::Debug for ChannelSource<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChannelSource").finish_non_exhaustive()
    }
}
