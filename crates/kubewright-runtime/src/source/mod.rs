//! Where the events of a controller come from.
//!
//! [`KindSource`] takes them from an informer of the cache, [`ChannelSource`] from outside the cluster. Each
//! runs its events through predicates and a handler into the controller's queue; a controller has any number
//! of sources over one queue. Start with the trait [`Source`]; the controller builder makes most of them.

mod channel;
mod kind;

use std::{any::Any, fmt, time::Duration};

pub use channel::{CHANNEL_CAPACITY, ChannelSource, channel};
use futures::future::BoxFuture;
pub use kind::KindSource;

use crate::{Result, cache::Cache, handler::RequestQueue};

/// Puts requests into a controller's queue.
pub trait Source: Send + 'static {
    /// Declares to the cache what the source reads. Called when the controller is added to its manager.
    ///
    /// # Errors
    ///
    /// Whatever makes it impossible. The controller is not added then.
    fn declare(&mut self, cache: &Cache) -> Result<()> {
        let _ = cache;
        Ok(())
    }

    /// Begins to put requests into `queue`. The future is ready once it has put in those for everything that
    /// was there at the start; the controller does not reconcile before. The source goes on until the guard is
    /// dropped.
    ///
    /// # Errors
    ///
    /// What keeps the source from being ready within `sync_timeout`. It ends the controller.
    fn start(
        self: Box<Self>,
        queue: RequestQueue,
        sync_timeout: Duration,
    ) -> BoxFuture<'static, Result<SourceGuard>>;
}

/// Keeps a source going. Dropping it ends the source.
#[must_use = "dropping the guard ends the source"]
pub struct SourceGuard {
    /// Held for its `Drop`.
    _held: Box<dyn Any + Send>,
    replay: Option<Box<dyn Fn() + Send>>,
}

impl SourceGuard {
    /// A guard that drops `held` at its end.
    pub fn new(held: impl Any + Send) -> Self {
        Self { _held: Box::new(held), replay: None }
    }

    /// The same for a source that can put in again the requests for everything that is there, as at its start. Where the
    /// [work is split](crate::sharding), that is asked for when requests come from another replica.
    pub fn with_replay(mut self, replay: impl Fn() + Send + 'static) -> Self {
        self.replay = Some(Box::new(replay));
        self
    }

    /// Puts in everything again, if the source can.
    pub(crate) fn replay(&self) {
        if let Some(replay) = &self.replay {
            replay();
        }
    }
}

impl fmt::Debug for SourceGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceGuard").finish_non_exhaustive()
    }
}
