//! Ingresses that name no class get the default one.

use serde_json::Value;

use super::{Attributes, default_storage_class::newest};
use crate::{
    admission::Operation,
    registry::{Registry, metadata},
};

const CLASSES: &str = "networking.k8s.io/ingressclasses";
const ANNOTATION: &str = "ingressclass.kubernetes.io/is-default-class";
/// Where ingresses once named their class.
const OLD_CLASS: &str = "kubernetes.io/ingress.class";

pub(super) fn admit(registry: &Registry, attributes: &Attributes<'_>, ingress: Option<&mut Value>) {
    let is_new =
        attributes.is_of("networking.k8s.io", "ingresses", "") && attributes.operation() == Operation::Create;
    let Some(ingress) = ingress.filter(|_| is_new) else { return };
    let has_class = !ingress["spec"]["ingressClassName"].is_null()
        || metadata::get(ingress, "annotations").is_some_and(|own| own.get(OLD_CLASS).is_some());
    if has_class {
        return;
    }
    if let Some(class) = newest(registry, CLASSES, &[ANNOTATION]) {
        let spec = metadata::child(metadata::as_map(ingress), "spec");
        spec.insert("ingressClassName".to_owned(), Value::from(metadata::name(class.value())));
    }
}
