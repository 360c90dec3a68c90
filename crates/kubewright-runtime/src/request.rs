use std::fmt;

use kube::Resource;

/// The key of one object to reconcile: its namespace and its name.
///
/// A request says *which* object may differ from its desired state, not what happened to it. Several events
/// for one object become one request, and the reconciler reads the present state itself.
///
/// ```
/// use kubewright_runtime::Request;
///
/// let request = Request::namespaced("shop", "cart");
/// assert_eq!(request.to_string(), "shop/cart");
/// assert_eq!(Request::cluster("worker-1").to_string(), "worker-1");
/// assert_eq!(Request::from(("shop", "cart")), request);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Request {
    /// The namespace; `None` for a cluster-scoped object.
    pub namespace: Option<String>,
    /// The object's name.
    pub name: String,
}

impl Request {
    /// The key of an object in a namespace. An empty `namespace` means none, as in Kubernetes' own types.
    #[must_use]
    pub fn namespaced(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            namespace: Some(namespace.into()).filter(|namespace| !namespace.is_empty()),
            name: name.into(),
        }
    }

    /// The key of a cluster-scoped object.
    #[must_use]
    pub fn cluster(name: impl Into<String>) -> Self {
        Self { namespace: None, name: name.into() }
    }

    /// The key of `object`. An object without a name, as one that is yet to be created from a
    /// `generateName`, has an empty one here.
    #[must_use]
    pub fn of<K: Resource>(object: &K) -> Self {
        let meta = object.meta();
        Self { namespace: meta.namespace.clone(), name: meta.name.clone().unwrap_or_default() }
    }

    /// The namespace, or the empty string for a cluster-scoped object.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.namespace.as_deref().unwrap_or_default()
    }
}

/// `namespace/name`, or the name alone for a cluster-scoped object.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}/{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl<K: Resource> From<&K> for Request {
    fn from(object: &K) -> Self {
        Self::of(object)
    }
}

impl From<&Request> for Request {
    fn from(request: &Request) -> Self {
        request.clone()
    }
}

/// `(namespace, name)`.
impl From<(&str, &str)> for Request {
    fn from((namespace, name): (&str, &str)) -> Self {
        Self::namespaced(namespace, name)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Node};
    use kube::core::ObjectMeta;

    use super::*;

    #[test]
    fn the_key_of_an_object_is_its_namespace_and_name() {
        let mut config_map = ConfigMap::default();
        config_map.metadata.namespace = Some("shop".into());
        config_map.metadata.name = Some("cart".into());
        assert_eq!(Request::from(&config_map), Request::namespaced("shop", "cart"));

        let node = Node {
            metadata: ObjectMeta { name: Some("worker-1".into()), ..Default::default() },
            ..Default::default()
        };
        assert_eq!(Request::from(&node), Request::cluster("worker-1"));
    }

    #[test]
    fn an_empty_namespace_is_none() {
        assert_eq!(Request::namespaced("", "worker-1"), Request::cluster("worker-1"));
    }
}
