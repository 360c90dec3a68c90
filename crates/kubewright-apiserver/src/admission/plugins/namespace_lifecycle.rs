//! Nothing is created in a namespace that is not there or about to go, and some namespaces stay.

use serde_json::Value;

use super::Attributes;
use crate::{
    admission::Operation,
    registry::{Registry, metadata},
    status::{Cause, GroupResource, Status},
};

/// The namespaces that a cluster cannot be without.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

pub(super) fn admit(
    registry: &Registry,
    attributes: &Attributes<'_>,
    object: Option<&Value>,
) -> Result<(), Status> {
    if attributes.is_namespace() {
        let name = attributes.name(object);
        if attributes.operation() == Operation::Delete && IMMORTAL.contains(&name) {
            let namespaces = GroupResource::new("", "namespaces");
            return Err(Status::forbidden(&namespaces, name, "this namespace may not be deleted"));
        }
        return Ok(());
    }
    let namespace = attributes.request.namespace.as_str();
    if namespace.is_empty() || attributes.operation() != Operation::Create {
        return Ok(());
    }
    let Some(there) = registry.store.get("/namespaces", namespace) else {
        return Err(Status::not_found(&GroupResource::new("", "namespaces"), namespace));
    };
    if !metadata::is_deleting(there.value()) {
        return Ok(());
    }
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    Err(attributes.forbidden(object, &why).with_cause(Cause {
        reason: "NamespaceTerminating".to_owned(),
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    }))
}
