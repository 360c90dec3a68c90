//! The work queue between the event handlers and the workers of a controller.
//!
//! A key is queued once however often it is added, never worked on twice at the same time, and not lost: an
//! add that arrives while the key is being worked on makes one more run after it. Keys of one priority leave
//! in the order in which they became ready.
//!
//! Start with [`QueueCore`] in `core.rs`: it is the whole queue as one synchronous structure, to which time is
//! told. [`WorkQueue`] puts it behind a lock and lets workers wait; [`RateLimiter`] knows how long a failed
//! key waits. Handlers add to it, the controller takes from it; nothing else uses it.

mod core;
mod metrics;
#[cfg(test)]
mod model;
mod rate_limiter;
mod work_queue;

pub(crate) use self::work_queue::WeakWorkQueue;
pub use self::{
    core::{FailingKey, QueueCore, QueueStats},
    metrics::{NoQueueMetrics, QueueMetrics},
    rate_limiter::{Backoff, Bucket, RateLimiter},
    work_queue::{InFlight, WorkQueue},
};

/// How urgent a key is; higher runs first.
pub type Priority = i32;

/// The priority of an ordinary event.
pub const NORMAL_PRIORITY: Priority = 0;

/// The priority of what can wait: objects that were there before the operator started, and updates that
/// changed nothing. The number is controller-runtime's.
pub const LOW_PRIORITY: Priority = -100;
