//! Claims grow only if they are bound, and their class says that its volumes can grow.

use kubewright_quota::Quantity;
use serde_json::Value;

use super::Attributes;
use crate::{
    admission::Operation,
    registry::{Registry, metadata},
    status::Status,
};

pub(super) fn validate(
    registry: &Registry,
    attributes: &Attributes<'_>,
    claim: Option<&Value>,
) -> Result<(), Status> {
    let is_update =
        attributes.is_of("", "persistentvolumeclaims", "") && attributes.operation() == Operation::Update;
    let (Some(claim), Some(old)) = (claim.filter(|_| is_update), attributes.old) else { return Ok(()) };
    let size = |claim: &Value| Quantity::of(&claim["spec"]["resources"]["requests"]["storage"]);
    if size(claim) <= size(old) {
        return Ok(());
    }
    let refuse = |why| Err(attributes.forbidden(Some(claim), why));
    if old["status"]["phase"] != "Bound" {
        return refuse("Only bound persistent volume claims can be expanded");
    }
    let (class, old_class) = (class_of(claim), class_of(old));
    let grows = !class.is_empty()
        && class == old_class
        && registry
            .store
            .get("storage.k8s.io/storageclasses", class)
            .is_some_and(|class| class.value()["allowVolumeExpansion"] == true);
    if grows {
        return Ok(());
    }
    refuse(
        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support \
         resize",
    )
}

fn class_of(claim: &Value) -> &str {
    let annotations = metadata::get(claim, "annotations");
    let old = annotations.and_then(|own| own.get("volume.beta.kubernetes.io/storage-class"));
    old.unwrap_or(&claim["spec"]["storageClassName"]).as_str().unwrap_or_default()
}
