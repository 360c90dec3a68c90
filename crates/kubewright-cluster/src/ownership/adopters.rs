use kube::core::{Selector, SelectorExt};
use kubewright_runtime::{
    Request, cache::Informer, client::Kind, handler::EnqueueMapped, handler::enqueue_mapped,
};

use super::controller_of;

/// Enqueues, for an object without a controller, the owners whose selector matches it: they may adopt it.
///
/// The event of an object that is controlled is for its controller alone.
pub(crate) fn enqueue_adopters<O: Kind, K: Kind>(
    owners: Informer<O>,
    selector_of: impl Fn(&O) -> Option<Selector> + Send + Sync + 'static,
) -> EnqueueMapped<K, impl Fn(&K) -> Vec<Request> + Send + Sync + 'static> {
    enqueue_mapped(move |object: &K| {
        let meta = object.meta();
        let Some(labels) = meta.labels.as_ref().filter(|_| controller_of(meta).is_none()) else {
            return Vec::new();
        };
        owners
            .list(meta.namespace.as_deref())
            .iter()
            .filter(|owner| selector_of(owner).is_some_and(|selector| selector.matches(labels)))
            .map(|owner| Request::of(&**owner))
            .collect()
    })
}
