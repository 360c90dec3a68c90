use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio_util::sync::CancellationToken;

/// The process at the client's end of a connection, as far as the network can see it. Clones are the same process.
#[derive(Clone, Debug, Default)]
pub(crate) struct Process {
    writes: Arc<AtomicU64>,
    /// The write with which it dies, counted from 1; 0 for none.
    last_write: u64,
    dead: CancellationToken,
}

impl Process {
    /// A process that dies when the server has acted on its write of this number.
    pub(crate) fn dies_after(write: u64) -> Self {
        Self { last_write: write, ..Self::default() }
    }

    /// Counts a write on which the server has acted. Whether it was the last.
    pub(super) fn wrote(&self) -> bool {
        self.writes.fetch_add(1, Ordering::Relaxed) + 1 == self.last_write
    }

    /// How many of its writes the server acted on.
    pub(crate) fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    pub(super) fn die(&self) {
        self.dead.cancel();
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.is_cancelled()
    }

    pub(crate) async fn died(&self) {
        self.dead.cancelled().await;
    }
}
