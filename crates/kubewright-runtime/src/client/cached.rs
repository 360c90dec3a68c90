use std::{sync::Arc, time::Duration};

use kube::core::SelectorExt;

use super::{Client, ClientError, Kind, ListOptions, Result, Target, kind::Scope};
use crate::{
    Request,
    cache::{Cache, Informer},
};

/// How long a read waits for the first list of a kind that is still under way.
const SYNC_WAIT: Duration = Duration::from_secs(10);

// === impl Client ===

impl Client {
    /// The object as the cache has it, or `None` if it has none of that name.
    ///
    /// The answer may lag behind the server, also behind a write of one's own: write so that a stale read
    /// does no harm (apply, deterministic names, the version that was read), or use [`live`](Self::live).
    /// An informer with a selector does not have the objects that it leaves out.
    ///
    /// # Errors
    ///
    /// If no controller declared the kind, the informer does not watch the namespace, or the kind
    /// could not be listed yet.
    pub async fn get<K: Kind>(&self, key: impl Into<Request>) -> Result<Option<Arc<K>>> {
        let mut key = key.into();
        if Target::of::<K>().scope == Scope::Cluster {
            key.namespace = None;
        }
        let informer = self.informer::<K>(key.namespace.as_deref()).await?;
        Ok(informer.get(&key))
    }

    /// The objects that `options` select from the cache, in the order of namespaces and names.
    ///
    /// All of them are of one moment. An [index](ListOptions::index) that was added to the informer makes a
    /// narrow list cheap.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get), and for an unknown index or a field selector.
    pub async fn list<K: Kind>(&self, options: ListOptions) -> Result<Vec<Arc<K>>> {
        let target = Target::of::<K>();
        let namespace = options.namespace.as_deref().filter(|_| target.scope != Scope::Cluster);
        if !options.fields.is_empty() {
            let reason = "the cache has no field selectors: add an index to the informer, or list with \
                          `client.live()`";
            let operation = Box::new(target.on_all("list", namespace));
            return Err(ClientError::BadObject { operation, reason: reason.to_owned() });
        }
        let informer = self.informer::<K>(namespace).await?;
        let mut objects = match &options.index {
            Some((index, value)) => informer.by_index(index, value)?,
            None => informer.list(namespace),
        };
        objects.retain(|object| {
            let meta = object.meta();
            (namespace.is_none() || meta.namespace.as_deref() == namespace)
                && (options.labels.selects_all()
                    || options.labels.matches(meta.labels.as_ref().unwrap_or(&Default::default())))
        });
        Ok(objects)
    }

    /// Waits until the cache has seen `written`, an object that a write returned, so that the reads after it show
    /// this version or a newer one: read your own writes, where the next step needs it.
    ///
    /// Mostly nothing needs to wait, because the write itself brings an event and another reconciliation.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// # use k8s_openapi::api::core::v1::ConfigMap;
    /// # use kubewright_runtime::{Result, client::Client};
    /// # async fn example(client: Client, config: ConfigMap) -> Result<()> {
    /// let written = client.apply(&config).await?;
    /// client.wait_for_cache(&written, Duration::from_secs(1)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ClientError::Stale`] if the cache has not seen it by then; otherwise as [`get`](Self::get).
    pub async fn wait_for_cache<K: Kind>(&self, written: &K, timeout: Duration) -> Result<()> {
        let target = Target::of::<K>();
        let mut key = Request::of(written);
        if target.scope == Scope::Cluster {
            key.namespace = None;
        }
        let version = written.meta().resource_version.clone().unwrap_or_default();
        let informer = self.informer::<K>(key.namespace.as_deref()).await?;
        let seen = informer.wait_until(|informer| has_seen(informer, &key, &version));
        // Asked once more at the end: a bookmark moves the cache on and wakes nobody.
        if tokio::time::timeout(timeout, seen).await.is_ok() || has_seen(&informer, &key, &version) {
            return Ok(());
        }
        let object = format!("{} \"{key}\" at version {version}", target.kind);
        Err(ClientError::Stale { object, waited: timeout })
    }

    /// The informer that has the objects of this namespace, once it has them.
    async fn informer<K: Kind>(&self, namespace: Option<&str>) -> Result<Informer<K>> {
        let kind = || K::kind(&()).into_owned();
        let informer = self.cache().and_then(Cache::informer::<K>);
        let Some(informer) = informer else {
            return Err(ClientError::NotCached { kind: kind() });
        };
        if namespace.is_some() && !informer.covers(namespace) {
            let namespace = namespace.unwrap_or_default().to_owned();
            return Err(ClientError::NotWatched { kind: kind(), namespace });
        }
        if !informer.has_synced() {
            let failure =
                |informer: &Informer<K>| informer.watches().into_iter().find_map(|watch| watch.last_error);
            let late = |cause| ClientError::NotSynced { kind: kind(), cause };
            if let Some(cause) = failure(&informer) {
                return Err(late(Some(cause)));
            }
            if informer.wait_for_sync_within(SYNC_WAIT).await.is_err() {
                return Err(late(failure(&informer)));
            }
        }
        Ok(informer)
    }
}

/// Whether the cache has an object at this version or a newer one, or has come past it and does not have the
/// object, because it was deleted since or a selector leaves it out.
///
/// Versions are compared as numbers, which Kubernetes allows since KEP-5504; a server whose versions are none is
/// served as far as equality goes.
fn has_seen<K: Kind>(informer: &Informer<K>, key: &Request, version: &str) -> bool {
    let reached = |seen: Option<&str>| match (seen.map(str::parse::<u64>), version.parse::<u64>()) {
        (Some(Ok(seen)), Ok(version)) => seen >= version,
        _ => seen == Some(version),
    };
    let object = informer.get(key);
    reached(object.as_ref().and_then(|object| object.meta().resource_version.as_deref()))
        || informer
            .watches()
            .iter()
            .filter(|watch| watch.namespace.is_none() || watch.namespace == key.namespace)
            .all(|watch| reached(watch.resource_version.as_deref()))
}
