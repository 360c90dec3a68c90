//! Which requests an event makes.
//!
//! An [`EventHandler`] turns one event into adds to the work queue. [`enqueue_object`] adds the object's own
//! key, [`enqueue_owner`] the key of the object that owns it, [`enqueue_mapped`] whatever a function says.
//! They look at the old and at the new object of an update, so that an object that changes hands wakes both.
//!
//! Start with the trait, below. The controller calls handlers with the events that its predicates let pass.

mod mapped;
mod object;
mod owner;

pub use mapped::{EnqueueMapped, enqueue_mapped};
pub use object::{EnqueueObject, enqueue_object};
pub use owner::{EnqueueOwner, enqueue_owner};

use crate::{
    Request,
    event::{Event, Object},
    queue::{LOW_PRIORITY, NORMAL_PRIORITY, Priority, WorkQueue},
};

/// The queue of a controller.
pub type RequestQueue = WorkQueue<Request>;

/// Turns events into requests.
///
/// Any `Fn(&Event<K>, &RequestQueue)` is one. A handler runs inside the informer, one event at a time, so it
/// must not block; it may read the cache, but not add another event handler to it. A panic in it is logged
/// and loses the event for this handler alone.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle events of `{K}`",
    note = "a closure needs the types of its arguments written out: `|event: &Event<{K}>, queue: &RequestQueue| ..`"
)]
pub trait EventHandler<K: ?Sized>: Send + Sync + 'static {
    /// Adds the requests that `event` calls for to `queue`.
    fn handle(&self, event: &Event<K>, queue: &RequestQueue);
}

impl<K: ?Sized, F> EventHandler<K> for F
where
    F: Fn(&Event<K>, &RequestQueue) + Send + Sync + 'static,
{
    fn handle(&self, event: &Event<K>, queue: &RequestQueue) {
        self(event, queue);
    }
}

/// The priority that the handlers of this module give to the requests of `event`: low for an object that was
/// there from the start and for an update that changed nothing, so that after a restart real changes do not
/// wait behind the whole list.
#[must_use]
pub fn priority_of<K: Object + ?Sized>(event: &Event<K>) -> Priority {
    match event {
        Event::Create { initial: true, .. } => LOW_PRIORITY,
        Event::Update { old, new } if old.metadata().resource_version == new.metadata().resource_version => {
            LOW_PRIORITY
        }
        _ => NORMAL_PRIORITY,
    }
}

/// Adds the requests that `requests_of` finds for the object and the old object, each once.
fn enqueue_each<K: Object + ?Sized>(
    event: &Event<K>,
    queue: &RequestQueue,
    mut requests_of: impl FnMut(&K) -> Vec<Request>,
) {
    let mut requests = requests_of(event.object());
    if let Some(old) = event.old() {
        requests.extend(requests_of(old));
    }
    // Keeps the first of equal ones where it is: the order of a user's function is the order of the queue.
    let mut seen = std::collections::BTreeSet::new();
    requests.retain(|request| seen.insert(request.clone()));
    for request in requests {
        queue.add(request, priority_of(event));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::{
        api::{
            apps::v1::{Deployment, ReplicaSet},
            core::v1::{ConfigMap, Node, Pod},
        },
        apimachinery::pkg::apis::meta::v1::OwnerReference,
    };
    use kube::core::ObjectMeta;
    use kubewright_world::Random;

    use super::*;
    use crate::queue::RateLimiter;

    fn pod(owners: &[(&str, &str, &str, bool)]) -> Arc<Pod> {
        let owner = |&(api_version, kind, name, controller): &(&str, &str, &str, bool)| OwnerReference {
            api_version: api_version.into(),
            kind: kind.into(),
            name: name.into(),
            controller: controller.then_some(true),
            ..Default::default()
        };
        Arc::new(Pod {
            metadata: ObjectMeta {
                namespace: Some("shop".into()),
                name: Some("cart-1".into()),
                owner_references: Some(owners.iter().map(owner).collect()),
                ..Default::default()
            },
            ..Default::default()
        })
    }

    async fn requests<K>(handler: impl EventHandler<K>, event: Event<K>) -> Vec<(String, Priority)> {
        let queue = RequestQueue::new(RateLimiter::default(), Random::seeded(1));
        handler.handle(&event, &queue);
        queue.shut_down_with_drain();
        let mut requests = Vec::new();
        while let Some(work) = queue.get().await {
            requests.push((work.key().to_string(), work.priority()));
        }
        requests
    }

    fn created<K>(object: Arc<K>) -> Event<K> {
        Event::Create { object, initial: false }
    }

    #[tokio::test]
    async fn initial_objects_and_unchanged_updates_can_wait() {
        let one = pod(&[]);
        let initial = Event::Create { object: one.clone(), initial: true };
        assert_eq!(requests(enqueue_object(), initial).await, [("shop/cart-1".into(), LOW_PRIORITY)]);
        let same = Event::Update { old: one.clone(), new: one.clone() };
        assert_eq!(requests(enqueue_object(), same).await, [("shop/cart-1".into(), LOW_PRIORITY)]);
        let gone = Event::Delete { object: one, state_unknown: true };
        assert_eq!(requests(enqueue_object(), gone).await, [("shop/cart-1".into(), NORMAL_PRIORITY)]);
    }

    #[tokio::test]
    async fn the_controller_owner_matches_by_group_and_kind_in_any_version() {
        let owned = pod(&[("apps/v2", "ReplicaSet", "cart", true), ("apps/v1", "Deployment", "web", false)]);
        assert_eq!(
            requests(enqueue_owner::<ReplicaSet>(), created(owned.clone())).await,
            [("shop/cart".into(), 0)]
        );
        assert!(requests(enqueue_owner::<Deployment>(), created(owned.clone())).await.is_empty());
        assert_eq!(
            requests(enqueue_owner::<Deployment>().any_owner(), created(owned)).await,
            [("shop/web".into(), 0)]
        );
        let other_group = pod(&[("extensions/v1", "ReplicaSet", "cart", true)]);
        assert!(requests(enqueue_owner::<ReplicaSet>(), created(other_group)).await.is_empty());
    }

    #[tokio::test]
    async fn a_cluster_scoped_owner_has_no_namespace() {
        let owned = pod(&[("v1", "Node", "worker-1", true)]);
        assert_eq!(requests(enqueue_owner::<Node>(), created(owned)).await, [("worker-1".into(), 0)]);
    }

    #[tokio::test]
    async fn an_object_that_changes_hands_wakes_both_owners() {
        let old = pod(&[("apps/v1", "ReplicaSet", "old", true)]);
        let new = pod(&[("apps/v1", "ReplicaSet", "new", true)]);
        let names: Vec<_> = requests(enqueue_owner::<ReplicaSet>(), Event::Update { old, new }).await;
        // Both objects have the same resource version here, which is what makes the priority low.
        assert_eq!(names, [("shop/new".into(), LOW_PRIORITY), ("shop/old".into(), LOW_PRIORITY)]);
    }

    #[tokio::test]
    async fn a_map_function_is_asked_for_old_and_new_and_each_request_comes_once() {
        let map = enqueue_mapped(|config: &ConfigMap| {
            let names = config.data.clone().unwrap_or_default();
            names.into_values().map(|name| Request::namespaced("shop", name)).collect::<Vec<_>>()
        });
        let config = |names: &[&str]| {
            let data = names.iter().map(|&name| (name.to_owned(), name.to_owned())).collect();
            Arc::new(ConfigMap { data: Some(data), ..Default::default() })
        };
        let update = Event::Update { old: config(&["a", "b"]), new: config(&["b", "c"]) };
        let names: Vec<_> = requests(map, update).await.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["shop/b", "shop/c", "shop/a"]);
    }
}
