use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::Selector;
use kubewright_runtime::{
    Request, Result,
    client::{Client, Kind, Patch},
};
use serde_json::json;

use super::{Claim, claim, controller_reference};

/// Sorts out which of `candidates` belong to `owner`: adopts those that have no controller, releases those
/// that are not selected any more, and returns the owner's own.
///
/// # Errors
///
/// The first failure to adopt or release. One that a change in between explains is none: the event of that
/// change brings the owner back.
pub(crate) async fn claim_all<O: Kind, K: Kind>(
    client: &Client,
    owner: &O,
    selector: Option<&Selector>,
    candidates: Vec<Arc<K>>,
) -> Result<Vec<Arc<K>>> {
    let mut owned = Vec::new();
    let mut may_adopt = None;
    for candidate in candidates {
        match claim(owner.meta(), selector, candidate.meta()) {
            Claim::Keep => owned.push(candidate),
            Claim::Ignore => {}
            Claim::Release => {
                let uid = owner.meta().uid.as_deref();
                let kept = references(&*candidate).filter(|reference| Some(reference.uid.as_str()) != uid);
                set_references(client, &*candidate, kept.collect()).await?;
            }
            Claim::Adopt => {
                // The cache may not know yet that the owner is being deleted, or is another one of the same
                // name by now; then the object is not for it to take.
                let may_adopt = match may_adopt {
                    Some(may_adopt) => may_adopt,
                    None => *may_adopt.insert(is_alive(client, owner).await?),
                };
                if may_adopt {
                    let mut all: Vec<_> = references(&*candidate).collect();
                    all.push(controller_reference(owner));
                    owned.extend(set_references(client, &*candidate, all).await?.map(Arc::new));
                }
            }
        }
    }
    Ok(owned)
}

fn references<K: Kind>(object: &K) -> impl Iterator<Item = OwnerReference> {
    object.meta().owner_references.clone().into_iter().flatten()
}

async fn is_alive<O: Kind>(client: &Client, owner: &O) -> Result<bool> {
    let current = client.live().get::<O>(Request::of(owner)).await?;
    Ok(current.is_some_and(|current| {
        current.meta().uid == owner.meta().uid && current.meta().deletion_timestamp.is_none()
    }))
}

/// Writes the owner references of an object unless it changed or went in between.
async fn set_references<K: Kind>(
    client: &Client,
    object: &K,
    references: Vec<OwnerReference>,
) -> Result<Option<K>> {
    let patch = Patch::merge(json!({
        "metadata": {
            "uid": object.meta().uid,
            "resourceVersion": object.meta().resource_version,
            "ownerReferences": if references.is_empty() { None } else { Some(references) },
        }
    }));
    match client.patch::<K>(Request::of(object), patch).await {
        Ok(changed) => Ok(Some(changed)),
        Err(error) if error.is_not_found() || error.is_conflict() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
