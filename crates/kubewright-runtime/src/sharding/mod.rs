//! The work of an operator, split over its replicas: each object is reconciled by one of them.
//!
//! One option of the manager turns it on, `--shard-by=namespace` or `--shard-by=object`; nothing changes in reconcilers.
//! Every replica watches everything, and of the requests in its queues it reconciles those that are its own.
//!
//! ```
//! use kubewright_runtime::{manager::Options, sharding::ShardBy};
//!
//! let mut options = Options::default();
//! options.shard_by = ShardBy::Namespace;
//! ```
//!
//! * [`Table`] says whose a request is: a hash of the key over the members, so that a member that comes or goes moves the
//!   keys that it gets or had, and no others.
//! * [`Ownership`] is what the rest of the process sees: whether a request is this replica's, and the fencing token.
//! * `member.rs` is the task that keeps this replica among the members; `leases.rs` is what is written where.
//!
//! # How no request has two owners
//!
//! Each replica holds a `Lease` of its own, named `<operator>-shard-<id>`, by the rules of [leader
//! election](crate::election): it acts until the renew deadline after it sent its last renewal, by its own monotonic clock,
//! and another may take the lease no sooner than the lease duration after it last saw it change. The table is a `Lease`
//! too, `<operator>-shards`: the members in an annotation, and a number, the epoch, in `leaseTransitions`. Every replica
//! lists these leases each retry period; any may write the next table, in place of the version that it has read.
//!
//! 1. A member that reads a new table starts nothing more that is not its own by it, lets what runs end (or cuts it off
//!    after the grace period), and only then notes the epoch in its lease: it has *seen* the table.
//! 2. A table *holds* when every member has noted its very epoch, all read in one list. From then on members act by it alone.
//!    Until then, a member acts on what is its own by the last table that held for it **and** by all that came after.
//! 3. A member that left, or whose lease ended, is taken out of the table after its lease was taken from it: it cannot
//!    renew any more, and its time to act was over before.
//!
//! So whoever begins to act on a request does so by a table that holds. Every other member has noted its epoch and
//! acts by it since, or by a later one that it cannot hold without the first one's note; and who is not a member does not act.
//!
//! When a replica leaves in an orderly way, its keys move within about two retry periods; when it dies, after the lease
//! duration besides. One that comes gets keys when it has been there for half the renew deadline, and all members have
//! renewed within that: so the process that is started in the place of one that died does not hold up the keys of others,
//! which would have to wait for the dead one's word. What is left is what is left with leader election: a request that is on its way when
//! the time is over. A write that must not come late carries [`Ownership::fencing_token`], the epoch of the last
//! table that held, which grows for each key whenever it moves.
//!
//! The state is in `kubectl get leases -l kubewright.dev/shards`, in the metrics `kubewright_shards_members`,
//! `kubewright_shards_epoch` and `kubewright_shards_holds`, and in the log. The rights that leader election needs are needed here, and
//! `list` and `delete` on leases.

mod leases;
mod member;
mod ownership;
mod table;

use clap::ValueEnum;

pub(crate) use member::Member;
pub use ownership::Ownership;
pub use table::Table;

/// What is the smallest part of the work that goes to one replica.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
#[non_exhaustive]
pub enum ShardBy {
    /// The work is not split. The default.
    #[default]
    None,
    /// A namespace: its objects are reconciled by the same replica. Objects without a namespace go by their name.
    Namespace,
    /// An object.
    Object,
}
