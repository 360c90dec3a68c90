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
    /// does no harm (apply, deterministic names, the version that was read), or use
    /// [`read_your_writes`](Self::read_your_writes) or [`live`](Self::live).
    /// An informer with a selector does not have the objects that it leaves out.
    ///
    /// # Errors
    ///
    /// If no controller declared the kind, the informer does not watch the namespace, or the kind
    /// could not be listed yet.
    pub async fn get<K: Kind>(&self, key: impl Into<Request>) -> Result<Option<Arc<K>>> {
        let key = cached_key::<K>(key.into());
        Ok(self.informer::<K>(key.namespace.as_deref()).await?.get(&key))
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
        let namespace = cached_namespace::<K>(&options)?;
        select(&self.informer::<K>(namespace).await?, &options)
    }

    /// The informer that has the objects of this namespace, once it has them.
    pub(super) async fn informer<K: Kind>(&self, namespace: Option<&str>) -> Result<Informer<K>> {
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

/// The key under which the cache has an object.
pub(super) fn cached_key<K: Kind>(mut key: Request) -> Request {
    if Target::of::<K>().scope == Scope::Cluster {
        key.namespace = None;
    }
    key
}

/// The namespace of a cached list, if there can be such a list.
pub(super) fn cached_namespace<K: Kind>(options: &ListOptions) -> Result<Option<&str>> {
    let target = Target::of::<K>();
    let namespace = options.namespace.as_deref().filter(|_| target.scope != Scope::Cluster);
    if options.fields.is_empty() {
        return Ok(namespace);
    }
    let reason =
        "the cache has no field selectors: add an index to the informer, or list with `client.live()`";
    let operation = Box::new(target.on_all("list", namespace));
    Err(ClientError::BadObject { operation, reason: reason.to_owned() })
}

/// What `options` select of the objects of an informer.
pub(super) fn select<K: Kind>(informer: &Informer<K>, options: &ListOptions) -> Result<Vec<Arc<K>>> {
    let namespace = cached_namespace::<K>(options)?;
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
