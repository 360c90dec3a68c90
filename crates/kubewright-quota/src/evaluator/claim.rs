//! Claims of volumes.

use serde_json::Value;

use super::text;
use crate::{Quantity, ResourceList, scope::Requirement};

const CLAIMS: &str = "persistentvolumeclaims";
const STORAGE: &str = "requests.storage";
/// Between the name of a storage class and what is counted of it.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";

pub(super) fn counts(name: &str) -> bool {
    let name = name.split_once(OF_CLASS).map_or(name, |(_, name)| name);
    [CLAIMS, STORAGE].contains(&name)
}

pub(super) fn usage(claim: &Value) -> ResourceList {
    let mut usage = ResourceList::default();
    usage.set(CLAIMS, Quantity::count(1));
    if let Some(storage) = storage(claim) {
        usage.set(STORAGE, storage);
    }
    let annotation = text(&claim["metadata"]["annotations"], "volume.beta.kubernetes.io/storage-class");
    if let Some(class) = annotation.or_else(|| text(&claim["spec"], "storageClassName")) {
        let of_class: Vec<_> =
            usage.iter().map(|(name, amount)| (format!("{class}{OF_CLASS}{name}"), amount)).collect();
        for (name, amount) in of_class {
            usage.set(name, amount);
        }
    }
    usage
}

/// What is asked for, or more if more was allocated before.
fn storage(claim: &Value) -> Option<Quantity> {
    let asked = ResourceList::of(&claim["spec"]["resources"]["requests"]).get("storage")?;
    let allocated = ResourceList::of(&claim["status"]["allocatedResources"]).get("storage");
    Some(allocated.filter(|allocated| *allocated > asked).unwrap_or(asked).round_up())
}

pub(super) fn is_in_scope(requirement: &Requirement, claim: &Value) -> bool {
    if requirement.scope != "VolumeAttributesClass" {
        return false;
    }
    let status = &claim["status"];
    let classes: Vec<&str> = [
        text(&claim["spec"], "volumeAttributesClassName"),
        text(status, "currentVolumeAttributesClassName"),
        text(&status["modifyVolumeStatus"], "targetVolumeAttributesClassName"),
    ]
    .into_iter()
    .flatten()
    .collect();
    requirement.selects(&classes)
}
