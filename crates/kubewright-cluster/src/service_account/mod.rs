//! What every namespace has: the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt`.
//!
//! Two controllers of one shape: a namespace is reconciled when it changes and when the object in it does.

mod default_account;
mod root_ca;

use k8s_openapi::api::core::v1::Namespace;
use kube::Resource;
use kubewright_runtime::Request;

pub(crate) use default_account::run as run_default_account;
pub(crate) use root_ca::run as run_root_ca;

/// The namespace of an object, as the request that reconciles it, if the object has `name`.
fn namespace_of<K: Resource>(object: &K, name: &str) -> Vec<Request> {
    let meta = object.meta();
    let named = meta.name.as_deref() == Some(name);
    meta.namespace.iter().filter(|_| named).map(|namespace| Request::cluster(namespace.clone())).collect()
}

/// Whether objects may be created in the namespace.
fn is_active(namespace: &Namespace) -> bool {
    let phase = namespace.status.as_ref().and_then(|status| status.phase.as_deref());
    namespace.metadata.deletion_timestamp.is_none() && phase != Some("Terminating")
}
