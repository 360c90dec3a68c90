use super::{EventHandler, RequestQueue, priority_of};
use crate::event::{Event, Object};

/// Enqueues the key of the object itself. This is what a controller does with the kind it reconciles.
#[must_use]
pub fn enqueue_object() -> EnqueueObject {
    EnqueueObject
}

/// What [`enqueue_object`] returns.
#[derive(Clone, Copy, Debug, Default)]
pub struct EnqueueObject;

impl<K: Object + ?Sized> EventHandler<K> for EnqueueObject {
    fn handle(&self, event: &Event<K>, queue: &RequestQueue) {
        queue.add(event.object().request(), priority_of(event));
    }
}
