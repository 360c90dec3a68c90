//! Claims that name no storage class get the default one.

use std::{cmp::Reverse, sync::Arc};

use serde_json::Value;

use super::Attributes;
use crate::{
    admission::Operation,
    registry::{Registry, metadata},
    store::Object,
};

const CLASSES: &str = "storage.k8s.io/storageclasses";
const ANNOTATIONS: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
/// Where claims once named their class.
const OLD_CLASS: &str = "volume.beta.kubernetes.io/storage-class";

pub(super) fn admit(registry: &Registry, attributes: &Attributes<'_>, claim: Option<&mut Value>) {
    let is_new =
        attributes.is_of("", "persistentvolumeclaims", "") && attributes.operation() == Operation::Create;
    let Some(claim) = claim.filter(|_| is_new) else { return };
    let has_class = !claim["spec"]["storageClassName"].is_null()
        || metadata::get(claim, "annotations").is_some_and(|own| own.get(OLD_CLASS).is_some());
    if has_class {
        return;
    }
    if let Some(class) = newest(registry, CLASSES, &ANNOTATIONS) {
        let spec = metadata::child(metadata::as_map(claim), "spec");
        spec.insert("storageClassName".to_owned(), Value::from(metadata::name(class.value())));
    }
}

/// The newest of the objects that one of the annotations marks; of equally old ones, the first.
pub(super) fn newest(registry: &Registry, bucket: &str, annotations: &[&str]) -> Option<Arc<Object>> {
    let listing = registry.store.list(bucket);
    let is_marked = |object: &Value| {
        let own = metadata::get(object, "annotations");
        own.is_some_and(|own| {
            annotations.iter().any(|name| own.get(*name).is_some_and(|value| value == "true"))
        })
    };
    let marked = listing.range("", "").map(|(_, object)| object).filter(|object| is_marked(object.value()));
    marked
        .min_by_key(|object| Reverse(metadata::text(object.value(), "creationTimestamp").to_owned()))
        .cloned()
}
