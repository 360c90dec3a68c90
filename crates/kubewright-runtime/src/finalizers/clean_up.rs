use std::{fmt, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::{add_finalizer, contains_finalizer, finalizers_patch};
use crate::{
    Result,
    client::{Client, Kind},
};

/// The finalizers of a kind, each with what is to be cleaned up before it goes.
///
/// ```no_run
/// # use std::sync::Arc;
/// # use k8s_openapi::api::core::v1::ConfigMap as Bucket;
/// # use kubewright_runtime::{Action, Request, Result, client::Client};
/// # async fn delete_bucket(_: &Bucket) -> Result<()> { Ok(()) }
/// # async fn delete_user(_: &Bucket) -> Result<()> { Ok(()) }
/// use kubewright_runtime::finalizers::Finalizers;
///
/// struct BucketReconciler {
///     client: Client,
///     finalizers: Finalizers<Bucket>,
/// }
///
/// fn reconciler(client: Client) -> BucketReconciler {
///     let finalizers = Finalizers::new(client.clone())
///         .with("example.com/bucket", |bucket: Arc<Bucket>| async move { delete_bucket(&bucket).await })
///         .with("example.com/user", |bucket: Arc<Bucket>| async move { delete_user(&bucket).await });
///     BucketReconciler { client, finalizers }
/// }
///
/// impl BucketReconciler {
///     async fn reconcile(&self, request: Request) -> Result<Action> {
///         let Some(bucket) = self.client.get::<Bucket>(&request).await? else { return Ok(Action::done()) };
///         let Some(bucket) = self.finalizers.finalize(&bucket).await? else { return Ok(Action::done()) };
///         // create what the finalizers guard
/// #       let _ = bucket;
///         Ok(Action::done())
///     }
/// }
/// ```
pub struct Finalizers<K> {
    client: Client,
    entries: Vec<(String, CleanUp<K>)>,
}

type CleanUp<K> = Box<dyn Fn(Arc<K>) -> BoxFuture<'static, Result<()>> + Send + Sync>;

impl<K: Kind> Finalizers<K> {
    /// None yet. Their list is written with `client`.
    #[must_use]
    pub fn new(client: Client) -> Self {
        Self { client, entries: Vec::new() }
    }

    /// Adds a finalizer. `clean_up` must be able to run again: the operator may be stopped between it and the
    /// removal of the finalizer.
    #[must_use]
    pub fn with<F, Fut>(mut self, finalizer: impl Into<String>, clean_up: F) -> Self
    where
        F: Fn(Arc<K>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<()>> + Send + 'static,
    {
        self.entries.push((finalizer.into(), Box::new(move |object| clean_up(object).boxed())));
        self
    }

    /// Adds to the stored object the finalizers that it lacks, and returns it; for one that is being deleted, cleans up
    /// and returns `None`: there is nothing else to do.
    ///
    /// It cleans up in the order in which the finalizers were added here, and removes each when its function has
    /// returned, so that what succeeded is not done again when a later one fails.
    ///
    /// # Errors
    ///
    /// What a function returns, and a conflict if the object changed since it was read. Return it: the request is
    /// tried again.
    pub async fn finalize(&self, object: &Arc<K>) -> Result<Option<Arc<K>>> {
        if object.meta().deletion_timestamp.is_none() {
            let mut changed = K::clone(object);
            // All of them: `any` would stop at the first.
            let added =
                self.entries.iter().filter(|(finalizer, _)| add_finalizer(&mut changed, finalizer)).count();
            if added == 0 {
                return Ok(Some(object.clone()));
            }
            let stored = self.client.patch(&**object, finalizers_patch(&changed)).await?;
            return Ok(Some(Arc::new(stored)));
        }
        let mut object = object.clone();
        for (finalizer, clean_up) in &self.entries {
            if !contains_finalizer(&*object, finalizer) {
                continue;
            }
            clean_up(object.clone()).await?;
            match self.client.remove_finalizer(&*object, finalizer).await? {
                Some(left) => object = Arc::new(left),
                None => break,
            }
        }
        Ok(None)
    }
}

impl<K> fmt::Debug for Finalizers<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.entries.iter().map(|(finalizer, _)| finalizer);
        f.debug_tuple("Finalizers").field(&names.collect::<Vec<_>>()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use k8s_openapi::api::core::v1::ConfigMap;
    use serde_json::{Value, json};

    use super::*;
    use crate::{Error, scripted::Scripted};

    fn stored(finalizers: &[&str], deleted: bool) -> Value {
        let time = deleted.then_some("2030-01-01T00:00:00Z");
        json!({"metadata": {"namespace": "shop", "name": "cart", "uid": "u", "resourceVersion": "7",
                            "finalizers": finalizers, "deletionTimestamp": time}})
    }

    fn typed(object: Value) -> Arc<ConfigMap> {
        Arc::new(serde_json::from_value(object).expect("a config map"))
    }

    /// Two finalizers; the function of the second fails the first time.
    fn finalizers(client: Client) -> (Finalizers<ConfigMap>, Arc<Mutex<Vec<&'static str>>>) {
        let log = Arc::new(Mutex::new(Vec::new()));
        let (first, second) = (log.clone(), log.clone());
        let finalizers = Finalizers::new(client)
            .with("b", move |_| {
                first.lock().expect("no panic").push("b");
                std::future::ready(Ok(()))
            })
            .with("a", move |_| {
                let mut log = second.lock().expect("no panic");
                log.push("a");
                let failed_before = log.iter().filter(|name| **name == "a").count() > 1;
                std::future::ready(if failed_before { Ok(()) } else { Err(Error::other("not yet")) })
            });
        (finalizers, log)
    }

    #[tokio::test]
    async fn all_missing_finalizers_are_added_at_once() {
        let server = Scripted::new().answer(200, stored(&["other", "a", "b"], false));
        let (finalizers, log) = finalizers(server.client());
        let object = finalizers.finalize(&typed(stored(&["other", "a"], false))).await.expect("added");
        let object = object.expect("it lives");
        assert_eq!(server.asked()[0].body["metadata"]["finalizers"], json!(["other", "a", "b"]));
        let same = finalizers.finalize(&object).await.expect("nothing to do").expect("it lives");
        assert!(Arc::ptr_eq(&same, &object));
        assert_eq!((server.asked().len(), log.lock().expect("no panic").len()), (1, 0));
    }

    #[tokio::test]
    async fn each_finalizer_goes_when_its_function_has_returned() {
        let server =
            Scripted::new().answer(200, stored(&["other", "a"], true)).answer(200, stored(&["other"], true));
        let (finalizers, log) = finalizers(server.client());
        let error =
            finalizers.finalize(&typed(stored(&["other", "a", "b"], true))).await.expect_err("not yet");
        assert_eq!(error.to_string(), "not yet");
        let done = finalizers.finalize(&typed(stored(&["other", "a"], true))).await.expect("cleaned up");
        assert!(done.is_none());
        assert_eq!(*log.lock().expect("no panic"), ["b", "a", "a"], "what succeeded is not done again");
        let lists: Vec<_> =
            server.asked().iter().map(|asked| asked.body["metadata"]["finalizers"].clone()).collect();
        assert_eq!(lists, [json!(["other", "a"]), json!(["other"])]);
    }
}
