use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use kube::core::ApiResource;
use kubewright_world::Clock;
use tokio_util::sync::CancellationToken;

/// How one watch is doing: for readiness, for a diagnostics page, and for the message of a failed start.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchStatus {
    /// The kind, with its group, version and plural name.
    pub resource: ApiResource,
    /// The namespace; `None` for all, and for a cluster-scoped kind.
    pub namespace: Option<String>,
    /// The label and field selectors; empty if everything is watched.
    pub selector: String,
    /// Whether the objects were listed at least once.
    pub synced: bool,
    /// Why the last attempt failed; `None` while the watch is open.
    pub last_error: Option<String>,
    /// Since when the watch has been open, or has been failing, or has been tried for the first time.
    pub since: Timestamp,
    /// The resource version up to which the cache has seen everything.
    pub resource_version: Option<String>,
    /// How many objects do not fit the Rust type and are missing in the cache.
    pub undecodable: usize,
}

impl WatchStatus {
    /// Whether the objects are known and changes to them arrive.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.synced && self.last_error.is_none()
    }
}

/// `deployments.apps in namespace "shop"`, with the last error.
impl fmt::Display for WatchStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource.plural)?;
        if !self.resource.group.is_empty() {
            write!(f, ".{}", self.resource.group)?;
        }
        if let Some(namespace) = &self.namespace {
            write!(f, " in namespace {namespace:?}")?;
        }
        if !self.selector.is_empty() {
            write!(f, " with {}", self.selector)?;
        }
        match (&self.last_error, self.synced) {
            (Some(error), _) => write!(f, ": {error}"),
            (None, false) => f.write_str(": not listed yet"),
            (None, true) => Ok(()),
        }
    }
}

/// Not all watches had listed their objects in time.
#[derive(Clone, Debug, thiserror::Error)]
#[error(
    "the cache was not synced within {waited:?}: {}",
    watches.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
)]
#[non_exhaustive]
pub struct SyncTimeout {
    /// How long it was waited.
    pub waited: Duration,
    /// The watches that had not listed their objects, each with its last error.
    pub watches: Vec<WatchStatus>,
}

impl From<SyncTimeout> for crate::Error {
    fn from(timeout: SyncTimeout) -> Self {
        Self::other(timeout)
    }
}

/// The status of a watch as its reflector changes it.
#[derive(Debug)]
pub(super) struct WatchState {
    clock: Clock,
    status: Mutex<WatchStatus>,
    synced: CancellationToken,
}

impl WatchState {
    pub(super) fn new(
        clock: Clock,
        resource: ApiResource,
        namespace: Option<String>,
        selector: String,
    ) -> Self {
        let status = WatchStatus {
            resource,
            namespace,
            selector,
            synced: false,
            last_error: None,
            since: clock.now(),
            resource_version: None,
            undecodable: 0,
        };
        Self { clock, status: Mutex::new(status), synced: CancellationToken::new() }
    }

    pub(super) fn status(&self) -> WatchStatus {
        self.lock().clone()
    }

    pub(super) fn is_synced(&self) -> bool {
        self.lock().synced
    }

    pub(super) fn set_synced(&self) {
        self.lock().synced = true;
        self.synced.cancel();
    }

    /// Waits until the objects were listed.
    pub(super) async fn synced(&self) {
        self.synced.cancelled().await;
    }

    /// Whether objects of this namespace, `None` for cluster-scoped ones, are seen.
    pub(super) fn sees(&self, namespace: Option<&str>) -> bool {
        let status = self.lock();
        status.namespace.is_none() || status.namespace.as_deref() == namespace
    }

    /// The version up to which everything was seen.
    pub(super) fn version(&self) -> Option<String> {
        self.lock().resource_version.clone()
    }

    pub(super) fn set_version(&self, version: &str) {
        self.lock().resource_version = Some(version.to_owned());
    }

    pub(super) fn set_undecodable(&self, count: usize) {
        self.lock().undecodable = count;
    }

    /// The watch is open.
    pub(super) fn set_open(&self) {
        let now = self.clock.now();
        let mut status = self.lock();
        if status.last_error.take().is_some() {
            status.since = now;
        }
    }

    /// An attempt failed. Returns whether the one before it did not.
    pub(super) fn set_failed(&self, error: String) -> bool {
        let now = self.clock.now();
        let mut status = self.lock();
        let first = status.last_error.replace(error).is_none();
        if first {
            status.since = now;
        }
        first
    }

    fn lock(&self) -> MutexGuard<'_, WatchStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
