use std::{any::TypeId, borrow::Cow, fmt};

use kube::{
    Resource,
    core::{ApiResource, ClusterResourceScope, NamespaceResourceScope},
};
use serde::{Serialize, de::DeserializeOwned};

use super::Operation;
use crate::Request;

/// A Rust type for one kind: those of k8s-openapi, and what `#[derive(CustomResource)]` makes.
///
/// It is implemented for every type that fits. For kinds known only at run time see
/// [`Client::dynamic`](super::Client::dynamic).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the Rust type of a Kubernetes kind",
    note = "types of `k8s_openapi` and those that `#[derive(CustomResource)]` makes are; name the kind \
            (`Memcached`), not its spec (`MemcachedSpec`)",
    note = "for `DynamicObject` use `client.dynamic(api_resource)`"
)]
pub trait Kind:
    Resource<DynamicType = ()> + Clone + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

impl<K> Kind for K where
    K: Resource<DynamicType = ()> + Clone + fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

/// The resource that a Rust type or an [`ApiResource`] names, without type parameters.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) group: Cow<'static, str>,
    pub(crate) version: Cow<'static, str>,
    pub(crate) kind: Cow<'static, str>,
    pub(crate) plural: Cow<'static, str>,
    pub(crate) scope: Scope,
    /// Whether only the metadata of the objects is wanted.
    pub(crate) metadata_only: bool,
}

/// Whether objects of a kind live in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    Namespaced,
    Cluster,
    /// The type does not say: an object is namespaced if it has a namespace.
    Unknown,
}

// === impl Target ===

impl Target {
    pub(crate) fn of<K: Kind>() -> Self {
        Self {
            group: K::group(&()),
            version: K::version(&()),
            kind: K::kind(&()),
            plural: K::plural(&()),
            scope: Scope::of::<K::Scope>(),
            metadata_only: K::metadata_api(),
        }
    }

    pub(crate) fn dynamic(resource: &ApiResource) -> Self {
        Self {
            group: resource.group.clone().into(),
            version: resource.version.clone().into(),
            kind: resource.kind.clone().into(),
            plural: resource.plural.clone().into(),
            scope: Scope::Unknown,
            metadata_only: false,
        }
    }

    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.to_string()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    /// The path of the collection: `/apis/apps/v1/namespaces/shop/deployments`.
    pub(crate) fn path(&self, namespace: Option<&str>) -> String {
        let mut path = String::with_capacity(64);
        if self.group.is_empty() {
            path.push_str("/api/");
        } else {
            path.push_str("/apis/");
            path.push_str(&self.group);
            path.push('/');
        }
        path.push_str(&self.version);
        if let Some(namespace) = namespace.filter(|_| self.scope != Scope::Cluster) {
            path.push_str("/namespaces/");
            path.push_str(namespace);
        }
        path.push('/');
        path.push_str(&self.plural);
        path
    }

    /// What is attempted on an object, for errors.
    pub(crate) fn on(&self, verb: &'static str, key: &Request) -> Operation {
        let mut operation = self.on_all(verb, key.namespace.as_deref());
        operation.name = Some(key.name.clone());
        operation
    }

    /// What is attempted on a collection, for errors.
    pub(crate) fn on_all(&self, verb: &'static str, namespace: Option<&str>) -> Operation {
        Operation {
            verb,
            group: self.group.to_string(),
            resource: self.plural.to_string(),
            subresource: None,
            namespace: namespace.filter(|_| self.scope != Scope::Cluster).map(str::to_owned),
            name: None,
        }
    }
}

// === impl Scope ===

impl Scope {
    fn of<S: 'static>() -> Self {
        if TypeId::of::<S>() == TypeId::of::<NamespaceResourceScope>() {
            Self::Namespaced
        } else if TypeId::of::<S>() == TypeId::of::<ClusterResourceScope>() {
            Self::Cluster
        } else {
            Self::Unknown
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Node};
    use kube::core::PartialObjectMeta;

    use super::*;

    #[test]
    fn the_path_follows_the_group_and_the_scope() {
        assert_eq!(
            Target::of::<Deployment>().path(Some("shop")),
            "/apis/apps/v1/namespaces/shop/deployments"
        );
        assert_eq!(Target::of::<Deployment>().path(None), "/apis/apps/v1/deployments");
        assert_eq!(Target::of::<Node>().path(Some("ignored")), "/api/v1/nodes");
    }

    #[test]
    fn partial_metadata_is_read_as_such() {
        let target = Target::of::<PartialObjectMeta<Node>>();
        assert!(target.metadata_only);
        assert_eq!(target.scope, Scope::Cluster);
    }
}
