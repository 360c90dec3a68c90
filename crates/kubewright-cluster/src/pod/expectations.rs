use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use k8s_openapi::api::core::v1::Pod;
use kubewright_runtime::Request;
use tokio::time::Instant;

/// How long the cache may take to show a write before the API server is asked.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The writes that the cache has not shown yet, by the workload they are for.
///
/// The cache lags behind one's own writes. A controller that counted the pods in it right after it created
/// some would create them again; so it counts only once the cache shows the pods it created and not those
/// it deleted.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    pending: Mutex<BTreeMap<Request, Pending>>,
}

#[derive(Debug)]
struct Pending {
    created: BTreeSet<String>,
    deleted: BTreeSet<String>,
    since: Instant,
}

/// Whether the cache can be trusted about the pods of a workload.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Trust {
    /// It shows all that was written.
    Current,
    /// It does not, and an event will come when it does.
    Lagging,
    /// It has not for so long that the API server has to be asked: a pod that was created and deleted during
    /// a gap in the watch never shows.
    Lost,
}

impl Expectations {
    pub(crate) fn created(&self, key: &Request, uid: String) {
        self.entry(key, |pending| &mut pending.created, uid);
    }

    pub(crate) fn deleted(&self, key: &Request, uid: String) {
        self.entry(key, |pending| &mut pending.deleted, uid);
    }

    pub(crate) fn forget(&self, key: &Request) {
        self.lock().remove(key);
    }

    /// Compares the expectations of `key` with `pods`, all that the cache has in the namespace.
    pub(crate) fn compare(&self, key: &Request, pods: &[Arc<Pod>]) -> Trust {
        let mut all = self.lock();
        let Some(pending) = all.get_mut(key) else { return Trust::Current };
        if !pending.deleted.is_empty() || !pending.created.is_empty() {
            let shown: BTreeMap<&str, bool> = pods
                .iter()
                .filter_map(|pod| {
                    Some((pod.metadata.uid.as_deref()?, pod.metadata.deletion_timestamp.is_some()))
                })
                .collect();
            pending.created.retain(|uid| !shown.contains_key(uid.as_str()));
            pending.deleted.retain(|uid| shown.get(uid.as_str()) == Some(&false));
        }
        if pending.created.is_empty() && pending.deleted.is_empty() {
            all.remove(key);
            return Trust::Current;
        }
        if pending.since.elapsed() < PATIENCE { Trust::Lagging } else { Trust::Lost }
    }

    fn entry(&self, key: &Request, set: fn(&mut Pending) -> &mut BTreeSet<String>, uid: String) {
        let mut all = self.lock();
        let pending = all.entry(key.clone()).or_insert_with(|| Pending {
            created: BTreeSet::new(),
            deleted: BTreeSet::new(),
            since: Instant::now(),
        });
        pending.since = Instant::now();
        set(pending).insert(uid);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Request, Pending>> {
        // The sets are consistent after each single operation, whatever panicked between two.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

    use super::*;

    fn pod(uid: &str, deleting: bool) -> Arc<Pod> {
        let mut pod = Pod::default();
        pod.metadata.uid = Some(uid.into());
        pod.metadata.deletion_timestamp = deleting.then(|| Time(Default::default()));
        Arc::new(pod)
    }

    #[tokio::test(start_paused = true)]
    async fn the_cache_is_trusted_once_it_shows_the_writes() {
        let key = Request::namespaced("ns", "web");
        let expectations = Expectations::default();
        assert_eq!(expectations.compare(&key, &[]), Trust::Current);

        expectations.created(&key, "a".into());
        expectations.created(&key, "b".into());
        assert_eq!(expectations.compare(&key, &[pod("a", false)]), Trust::Lagging);
        // One that was shown does not have to stay.
        assert_eq!(expectations.compare(&key, &[pod("b", false)]), Trust::Current);

        expectations.deleted(&key, "b".into());
        assert_eq!(expectations.compare(&key, &[pod("b", false)]), Trust::Lagging);
        assert_eq!(expectations.compare(&key, &[pod("b", true)]), Trust::Current);
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends() {
        let key = Request::namespaced("ns", "web");
        let expectations = Expectations::default();
        expectations.created(&key, "a".into());
        tokio::time::advance(PATIENCE).await;
        assert_eq!(expectations.compare(&key, &[]), Trust::Lost);
        expectations.forget(&key);
        assert_eq!(expectations.compare(&key, &[]), Trust::Current);
    }
}
