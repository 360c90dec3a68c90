//! Volumes, claims and classes of attributes get a finalizer, which a controller takes away when nobody uses them.

use serde_json::{Value, json};

use super::Attributes;
use crate::{admission::Operation, registry::metadata};

pub(super) fn admit(attributes: &Attributes<'_>, object: Option<&mut Value>) {
    let definition = &attributes.request.served.definition;
    let finalizer = match (definition.group.as_str(), definition.plural.as_str()) {
        ("", "persistentvolumes") => "kubernetes.io/pv-protection",
        ("", "persistentvolumeclaims") => "kubernetes.io/pvc-protection",
        ("storage.k8s.io", "volumeattributesclasses") => "kubernetes.io/vac-protection",
        _ => return,
    };
    let is_new = attributes.operation() == Operation::Create && attributes.request.subresource.is_empty();
    let Some(object) = object.filter(|_| is_new) else { return };
    let mut finalizers = metadata::finalizers(object);
    if !finalizers.contains(&finalizer) {
        finalizers.push(finalizer);
        let finalizers = json!(finalizers);
        metadata::set(object, "finalizers", Some(finalizers));
    }
}
