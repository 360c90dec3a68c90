//! The versioned store: every object of the server at every recent revision.
//!
//! There is one revision counter for all objects. A commit adds one to it, so no two objects share a
//! `resourceVersion`. Objects of one resource live in a *bucket*, a persistent ordered map, and a bucket keeps
//! its last changes together with the map as it was after each. That makes a list at an old revision, a watch
//! from an old revision and a snapshot of the whole server cheap: they share structure instead of copying. Objects are
//! kept as JSON and decoded for those who look into them.
//!
//! A store lives in memory. With a journal it also tells that of each commit, and shows none that is not kept.
//!
//! The store is synchronous and knows nothing of Kubernetes beyond `metadata.resourceVersion`: what a verb
//! means is the registry's business. Only the registry uses it. Start reading at [`Store`], then [`Watch`].

mod bucket;
mod journal;
mod object;
mod versioned;
mod watch;

#[cfg(test)]
mod model;

pub use bucket::{Change, ChangeKind};
pub(crate) use journal::{Entry, Journal, Kept, NotKept};
pub use object::Object;
pub use versioned::{CommitError, Listing, ReadError, Snapshot, Store};
pub use watch::{Watch, WatchEnd};
