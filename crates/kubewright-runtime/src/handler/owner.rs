use std::any::TypeId;

use k8s_openapi::{ClusterResourceScope, apimachinery::pkg::apis::meta::v1::OwnerReference};
use kube::{Resource, discovery::Scope};

use super::{EventHandler, RequestQueue, enqueue_each};
use crate::{
    Request,
    event::{Event, Object},
};

/// Enqueues the key of the object of kind `Owner` that owns the event's object as its controller.
///
/// The owner is recognised by group and kind; the version in an owner reference is the one that was current
/// when it was written, so it does not count.
#[must_use]
pub fn enqueue_owner<Owner>() -> EnqueueOwner
where
    Owner: Resource + 'static,
    Owner::DynamicType: Default,
{
    let dynamic_type = Owner::DynamicType::default();
    let scope = if TypeId::of::<Owner::Scope>() == TypeId::of::<ClusterResourceScope>() {
        Scope::Cluster
    } else {
        Scope::Namespaced
    };
    EnqueueOwner::new(Owner::group(&dynamic_type), Owner::kind(&dynamic_type), scope)
}

/// What [`enqueue_owner`] returns.
#[derive(Clone, Debug)]
pub struct EnqueueOwner {
    group: String,
    kind: String,
    scope: Scope,
    any_owner: bool,
}

impl EnqueueOwner {
    /// A handler for owners of a kind that has no Rust type.
    #[must_use]
    pub fn new(group: impl Into<String>, kind: impl Into<String>, scope: Scope) -> Self {
        Self { group: group.into(), kind: kind.into(), scope, any_owner: false }
    }

    /// Enqueues every owner of the kind, not only the one that is the controller.
    #[must_use]
    pub fn any_owner(mut self) -> Self {
        self.any_owner = true;
        self
    }

    fn matches(&self, owner: &OwnerReference) -> bool {
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        group == self.group && owner.kind == self.kind && (self.any_owner || owner.controller == Some(true))
    }

    fn owners(&self, object: &(impl Object + ?Sized)) -> Vec<Request> {
        let metadata = object.metadata();
        // An owner lives in the namespace of what it owns, or in none.
        let namespace = match self.scope {
            Scope::Namespaced => metadata.namespace.clone(),
            Scope::Cluster => None,
        };
        let owners = metadata.owner_references.iter().flatten().filter(|owner| self.matches(owner));
        owners.map(|owner| Request { namespace: namespace.clone(), name: owner.name.clone() }).collect()
    }
}

impl<K: Object + ?Sized> EventHandler<K> for EnqueueOwner {
    fn handle(&self, event: &Event<K>, queue: &RequestQueue) {
        enqueue_each(event, queue, |object| self.owners(object));
    }
}
