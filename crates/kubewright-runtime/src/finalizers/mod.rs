//! Finalizers: names on an object that keep it from vanishing until its controller has cleaned up.
//!
//! A deleted object with finalizers gets a `deletionTimestamp` and stays until the list is empty. So a
//! reconciler that has something to clean up outside of the cluster
//!
//! 1. adds its finalizer before it creates anything there,
//! 2. cleans up when it sees a `deletionTimestamp`, and then removes the finalizer.
//!
//! Objects in the cluster need none of this: give them an
//! [owner reference](crate::owner_references), and the garbage collector deletes them.
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use k8s_openapi::api::core::v1::ConfigMap as Bucket;
//! # use kubewright_runtime::{Action, Result, client::Client};
//! # async fn delete_bucket(_: &Bucket) -> Result<()> { Ok(()) }
//! const FINALIZER: &str = "example.com/bucket";
//!
//! async fn reconcile(client: Client, bucket: Arc<Bucket>) -> Result<Action> {
//!     if bucket.metadata.deletion_timestamp.is_some() {
//!         delete_bucket(&bucket).await?;
//!         client.remove_finalizer(&*bucket, FINALIZER).await?;
//!         return Ok(Action::done());
//!     }
//!     client.add_finalizer(&*bucket, FINALIZER).await?;
//!     // create what the finalizer guards
//!     Ok(Action::done())
//! }
//! ```
//!
//! [`Finalizers`] does this for any number of them, each with its own function.

mod clean_up;

pub use clean_up::Finalizers;
use kube::Resource;
use serde_json::json;

use crate::{
    Request,
    client::{Client, Kind, Patch, Result},
};

/// Whether the object has the finalizer.
pub fn contains_finalizer<K: Resource>(object: &K, finalizer: &str) -> bool {
    object.meta().finalizers.iter().flatten().any(|present| present == finalizer)
}

/// Adds the finalizer to the object in memory, and returns whether it was missing.
pub fn add_finalizer<K: Resource>(object: &mut K, finalizer: &str) -> bool {
    if contains_finalizer(object, finalizer) {
        return false;
    }
    object.meta_mut().finalizers.get_or_insert_default().push(finalizer.to_owned());
    true
}

/// Removes the finalizer from the object in memory, and returns whether it was there.
pub fn remove_finalizer<K: Resource>(object: &mut K, finalizer: &str) -> bool {
    let Some(finalizers) = &mut object.meta_mut().finalizers else { return false };
    let before = finalizers.len();
    finalizers.retain(|present| present != finalizer);
    let removed = finalizers.len() != before;
    if finalizers.is_empty() {
        object.meta_mut().finalizers = None;
    }
    removed
}

impl Client {
    /// Adds the finalizer to the stored object, and returns it. If it is there already, nothing is sent.
    ///
    /// Only the list of finalizers is written, and only if the object is still at the version of `object`.
    ///
    /// # Errors
    ///
    /// A conflict if the object changed; the server also refuses new finalizers on an object that is being
    /// deleted.
    pub async fn add_finalizer<K: Kind>(&self, object: &K, finalizer: &str) -> Result<K> {
        let mut changed = object.clone();
        if !add_finalizer(&mut changed, finalizer) {
            return Ok(changed);
        }
        self.patch(object, finalizers_patch(&changed)).await
    }

    /// Removes the finalizer from the stored object, and returns it; `None` if the object is gone, as it is
    /// after the last finalizer of a deleted one. If it has no such finalizer, nothing is sent.
    ///
    /// # Errors
    ///
    /// A conflict if the object changed since it was read.
    pub async fn remove_finalizer<K: Kind>(&self, object: &K, finalizer: &str) -> Result<Option<K>> {
        let mut changed = object.clone();
        if !remove_finalizer(&mut changed, finalizer) {
            return Ok(Some(changed));
        }
        match self.patch(Request::of(object), finalizers_patch(&changed)).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A merge patch replaces the list whole, so it must carry the version that the list was read at: a
/// finalizer that somebody added meanwhile would be lost otherwise.
fn finalizers_patch<K: Resource>(object: &K) -> Patch {
    let meta = object.meta();
    Patch::merge(json!({
        "metadata": {"resourceVersion": meta.resource_version, "uid": meta.uid, "finalizers": meta.finalizers}
    }))
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::Value;

    use super::*;
    use crate::scripted::Scripted;

    fn stored(finalizers: &[&str]) -> Value {
        json!({"metadata": {"namespace": "shop", "name": "cart", "uid": "u", "resourceVersion": "7",
                            "finalizers": finalizers}})
    }

    fn typed(object: Value) -> ConfigMap {
        serde_json::from_value(object).expect("a config map")
    }

    #[tokio::test]
    async fn the_list_is_written_with_its_guards() {
        let server = Scripted::new().answer(200, stored(&["a", "b"]));
        let client = server.client();
        let added = client.add_finalizer(&typed(stored(&["a"])), "b").await.expect("added");
        assert!(contains_finalizer(&added, "b"));
        client.add_finalizer(&added, "b").await.expect("nothing to do");
        let asked = server.asked();
        assert_eq!(asked.len(), 1);
        assert_eq!(
            asked[0].body,
            json!({"metadata": {"resourceVersion": "7", "uid": "u", "finalizers": ["a", "b"]}})
        );
    }

    #[tokio::test]
    async fn the_last_finalizer_removes_the_list_and_maybe_the_object() {
        let server = Scripted::new().failure(404, "NotFound", "configmaps \"cart\" not found");
        let gone = server.client().remove_finalizer(&typed(stored(&["a"])), "a").await.expect("removed");
        assert!(gone.is_none());
        assert_eq!(server.asked()[0].body["metadata"]["finalizers"], Value::Null);
    }
}
