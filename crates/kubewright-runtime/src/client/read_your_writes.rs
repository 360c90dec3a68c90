use std::{sync::Arc, time::Duration};

use super::{
    Client, ClientError, Kind, ListOptions, Result,
    cached::{cached_key, cached_namespace, select},
};
use crate::{Request, cache::Informer};

/// Reads from the cache, once it shows what was written. Made by [`Client::read_your_writes`].
///
/// A read waits until the cache has caught up with the writes of every client of its manager that were answered
/// before the read began, or fails with [`ClientError::Stale`]. Mostly that takes no time, or as long as an event is on
/// its way. What others wrote may be missing as ever.
///
/// This takes the place of a cache of expectations, in a reconciler that creates or deletes as many children as are
/// missing or too many. On a list without those that it made a moment ago it would make them again:
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::Pod;
/// # use kubewright_runtime::{Action, Request, Result, client::{Client, ListOptions}};
/// # fn new_pod() -> Pod { Pod::default() }
/// async fn scale(client: &Client, request: &Request, wanted: usize) -> Result {
///     let pods = ListOptions::in_namespace(request.namespace()).label("app", &request.name);
///     let pods = client.read_your_writes().list::<Pod>(pods).await?;
///     for _ in pods.len()..wanted {
///         client.create(&new_pod()).await?;
///     }
///     Ok(Action::done())
/// }
/// ```
///
/// Awaited are creations, updates, patches, applies, writes to subresources whose answer has a version, deletions and
/// evictions. Not awaited are writes that were not answered, dry runs, and writes whose answer says nothing of the
/// object, as that to `binding`.
///
/// An object that the informer's label selector leaves out is not awaited. Whether a field selector leaves it
/// out cannot be known, so that a read may fail until the server has said how far it is, which takes up to a minute.
#[derive(Clone, Debug)]
pub struct ReadYourWrites {
    client: Client,
    within: Duration,
}

/// How long a read waits unless it says. Events are late by milliseconds; after seconds, the watch has trouble.
const WITHIN: Duration = Duration::from_secs(5);

// === impl ReadYourWrites ===

impl ReadYourWrites {
    pub(super) fn new(client: Client) -> Self {
        Self { client, within: WITHIN }
    }

    /// Waits at most so long; 5 s unless set.
    #[must_use]
    pub fn within(mut self, timeout: Duration) -> Self {
        self.within = timeout;
        self
    }

    /// The object as the cache has it, or `None` if it has none of that name: at the version that was written
    /// last under this key, or a later one.
    ///
    /// # Errors
    ///
    /// [`ClientError::Stale`] if the cache does not show it in time, otherwise as [`Client::get`].
    pub async fn get<K: Kind>(&self, key: impl Into<Request>) -> Result<Option<Arc<K>>> {
        let key = cached_key::<K>(key.into());
        let informer = self.client.informer::<K>(key.namespace.as_deref()).await?;
        self.catch_up(&informer, |written| *written == key).await?;
        Ok(informer.get(&key))
    }

    /// The objects that `options` select from the cache, with everything that was written of the kind, in the
    /// namespace if one is given.
    ///
    /// # Errors
    ///
    /// [`ClientError::Stale`] if the cache does not show all of it in time, otherwise as [`Client::list`].
    pub async fn list<K: Kind>(&self, options: ListOptions) -> Result<Vec<Arc<K>>> {
        let namespace = cached_namespace::<K>(&options)?;
        let informer = self.client.informer::<K>(namespace).await?;
        let wanted = |written: &Request| namespace.is_none() || written.namespace.as_deref() == namespace;
        self.catch_up(&informer, wanted).await?;
        select(&informer, &options)
    }

    async fn catch_up<K: Kind>(
        &self,
        informer: &Informer<K>,
        wanted: impl Fn(&Request) -> bool,
    ) -> Result<()> {
        informer.catch_up(wanted, self.within).await.map_err(|behind| ClientError::Stale {
            kind: K::kind(&()).into_owned(),
            writes: behind.to_string(),
            waited: self.within,
        })
    }
}
