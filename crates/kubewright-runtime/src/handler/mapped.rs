use std::{fmt, marker::PhantomData};

use super::{EventHandler, RequestQueue, enqueue_each};
use crate::{
    Request,
    event::{Event, Object},
};

/// Enqueues the requests that `map` finds for an object; for an update, those of the old and the new one.
///
/// ```
/// use k8s_openapi::api::core::v1::Secret;
/// use kubewright_runtime::{Request, handler::enqueue_mapped};
///
/// // Every cart uses the secret that is named after it. An `Option` or a `Vec` does as well.
/// let handler = enqueue_mapped(|secret: &Secret| [Request::of(secret)]);
/// # let _ = handler;
/// ```
pub fn enqueue_mapped<K, F, R>(map: F) -> EnqueueMapped<K, F>
where
    K: Object,
    F: Fn(&K) -> R + Send + Sync + 'static,
    R: IntoIterator<Item = Request>,
{
    EnqueueMapped { map, kind: PhantomData }
}

/// What [`enqueue_mapped`] returns.
pub struct EnqueueMapped<K, F> {
    map: F,
    kind: PhantomData<fn(&K)>,
}

impl<K, F, R> EventHandler<K> for EnqueueMapped<K, F>
where
    K: Object,
    F: Fn(&K) -> R + Send + Sync + 'static,
    R: IntoIterator<Item = Request>,
{
    fn handle(&self, event: &Event<K>, queue: &RequestQueue) {
        enqueue_each(event, queue, |object| (self.map)(object).into_iter().collect());
    }
}

impl<K, F> fmt::Debug for EnqueueMapped<K, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnqueueMapped").finish_non_exhaustive()
    }
}
