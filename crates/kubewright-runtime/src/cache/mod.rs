//! What the operator knows of the cluster: shared informers over the kinds that it watches.
//!
//! * [`Cache`] holds one [`Informer`] for each kind and selection that was declared, shared by all who
//!   declare it. Reading never starts one.
//! * An informer keeps the objects as `Arc<K>` in a `store`, answers reads from it and tells every change to
//!   its event handlers. A handler that is added late gets what is there first.
//! * Each watch of an informer (one, or one per namespace) is a `reflector`: a task of its own with its own
//!   backoff and last error, so that a failing watch delays no other. [`WatchStatus`] shows it.
//!
//! Follow an object from `list_watch` (the two requests) through `reflector` (when to send which) and `sink`
//! (what changed) into `store`. The reflector is built on kube's requests rather than on its `watcher`,
//! because it must see what that hides: bookmarks, a 410 at the start of a watch, and a server that closes
//! each watch at once, which would otherwise be a loop without a pause.

mod backoff;
mod decode;
mod informer;
mod informers;
mod list_watch;
mod options;
mod own_writes;
mod reflector;
mod sink;
mod status;
mod store;
mod version;

pub use decode::Undecodable;
pub(crate) use informer::Observer;
pub use informer::{HandlerRegistration, Informer};
pub use informers::{Cache, CacheOptions};
pub use options::InformerOptions;
pub(crate) use own_writes::{End, Written};
pub use status::{SyncTimeout, WatchStatus};
