use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use super::{Change, Store};

/// A reader of the changes of one bucket.
///
/// It holds a revision, not a queue: changes are read from the store's history when they are asked for. A slow
/// reader costs nothing, never blocks a writer, and is cut off once the history has moved on.
pub struct Watch {
    store: Store,
    bucket: Arc<str>,
    /// Changes up to this revision were read.
    seen: u64,
    epoch: u64,
    id: u64,
}

/// Why a watch has no more changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// The past was forgotten on demand.
    Expired {
        /// The revision up to which it had read.
        seen: u64,
        /// The oldest revision from which a watch is possible.
        oldest: u64,
    },
    /// It has read so slowly that changes are forgotten which it has not read.
    Behind,
    /// The store was closed.
    Closed,
}

impl Watch {
    pub(super) fn new(store: Store, bucket: Arc<str>, seen: u64, epoch: u64, id: u64) -> Self {
        Self { store, bucket, seen, epoch, id }
    }

    /// The next changes, at least one and at most `limit`, oldest first; pending while there are none.
    ///
    /// # Errors
    /// Once the watch is over. It stays over.
    pub fn poll_changes(
        &mut self,
        context: &mut Context<'_>,
        limit: usize,
    ) -> Poll<Result<Vec<Change>, WatchEnd>> {
        let mut state = self.store.lock();
        if state.closed {
            return Poll::Ready(Err(WatchEnd::Closed));
        }
        let visible = state.visible();
        let bucket = state.bucket(&self.bucket);
        if bucket.epoch != self.epoch {
            return Poll::Ready(Err(WatchEnd::Expired { seen: self.seen, oldest: bucket.oldest() }));
        }
        if self.seen < bucket.oldest() {
            return Poll::Ready(Err(WatchEnd::Behind));
        }
        let changes = bucket.changes_after(self.seen).take_while(|change| change.revision <= visible);
        let changes: Vec<Change> = changes.take(limit).cloned().collect();
        match changes.last() {
            Some(last) => {
                self.seen = last.revision;
                Poll::Ready(Ok(changes))
            }
            None => {
                bucket.wakers.insert(self.id, context.waker().clone());
                Poll::Pending
            }
        }
    }

    /// The revision that a bookmark may name: every change of the bucket up to it was read.
    pub fn progress(&mut self) -> u64 {
        let mut state = self.store.lock();
        let current = state.visible();
        let bucket = state.bucket(&self.bucket);
        if bucket.epoch == self.epoch
            && self.seen < current
            && bucket.changes_after(self.seen).next().is_none_or(|change| change.revision > current)
        {
            self.seen = current.max(bucket.oldest());
        }
        self.seen
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut state = self.store.lock();
        if let Some(bucket) = state.buckets.get_mut(&self.bucket) {
            bucket.wakers.remove(&self.id);
        }
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch")
            .field("bucket", &self.bucket)
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}
