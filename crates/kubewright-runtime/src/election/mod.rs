//! Which of an operator's replicas acts: leader election on a `Lease`, by client-go's rules.
//!
//! * [`LeaderElectionOptions`] are the flags: `--leader-elect`, the name of the lease, the three durations.
//! * The elector (`elector.rs`) campaigns, renews and resigns; `lease.rs` is what it does to the `Lease`.
//! * [`Leadership`] is what everything else sees of it: who waits for the election, whom the end of it stops, and the
//!   [`FencingToken`] of the term.
//!
//! What keeps two replicas from acting at once:
//!
//! 1. Every write of the lease names the version that it replaces, so of two candidates one wins.
//! 2. A candidate waits the lease duration (15 s) from the moment at which **it saw** the lease change. It never
//!    compares the holder's clock with its own, so clocks may be wrong by any amount, as long as they run at about the
//!    same rate.
//! 3. The leader acts until the renew deadline (10 s) from the moment at which it **sent** its last successful renewal.
//!    That moment is on a monotonic clock, and is looked at whenever leader work is about to run, not only by a
//!    timer: a process that was stopped for a minute does not do one more step when it goes on.
//! 4. The lease is given up after the leader work has ended, and only if the lease that was just read names this
//!    process.
//!
//! How long nobody leads: a leader that ends in an orderly way is followed at the next attempt of a candidate, which comes
//! 2.2 retry periods (4.4 s) later at the latest. After one that dies, is cut off or stands still it takes at most the lease duration and
//! those 2.2 retry periods (19.4 s) from its last renewal: up to 4.4 s until every candidate has seen that renewal, and
//! 15 s from then on. client-go's candidates may sleep through the end of the lease, for another 4.4 s; ours wake at it. A leader that
//! is cut off from answers alone renews once more after that, which adds a retry period.
//!
//! What is left is a request that was on its way to the API server when the term ended, and work that does not come
//! to an await point between the renew deadline and the end of the lease. A write that must not come late carries
//! the fencing token.

mod elector;
mod leadership;
mod lease;
mod options;

pub(crate) use elector::{Elector, Running};
pub use leadership::{FencingToken, Leadership};
pub(crate) use lease::{Attempt, LeaseLock};
pub use options::LeaderElectionOptions;
pub(crate) use options::{Settings, lease_name};
