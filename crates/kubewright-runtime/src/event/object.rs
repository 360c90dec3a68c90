use kube::{Resource, core::ObjectMeta};

use crate::Request;

/// A Kubernetes object of any kind, for code that looks at metadata alone.
///
/// Every [`kube::Resource`] is one. As `dyn Object` it stands for objects of kinds that differ.
pub trait Object: Send + Sync + 'static {
    /// The object's `metadata`.
    fn metadata(&self) -> &ObjectMeta;

    /// The object's key.
    fn request(&self) -> Request {
        let metadata = self.metadata();
        Request { namespace: metadata.namespace.clone(), name: metadata.name.clone().unwrap_or_default() }
    }
}

impl<K: Resource + Send + Sync + 'static> Object for K {
    fn metadata(&self) -> &ObjectMeta {
        self.meta()
    }
}
