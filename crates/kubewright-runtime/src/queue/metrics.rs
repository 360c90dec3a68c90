use std::time::Duration;

use super::Priority;

/// Receives what a queue measures. Every method has an empty default, so an implementation takes what it needs.
///
/// The comments name the metric that controller-runtime derives from each.
pub trait QueueMetrics: Send + Sync + 'static {
    /// `depth` keys of this priority are ready for a worker (`workqueue_depth`).
    fn depth(&self, priority: Priority, depth: usize) {
        let _ = (priority, depth);
    }

    /// A key became ready, at once or after a delay (`workqueue_adds_total`).
    fn added(&self) {}

    /// A key was added with a delay (`workqueue_retries_total`).
    fn retried(&self) {}

    /// A worker took a key that had been ready for this long (`workqueue_queue_duration_seconds`).
    fn waited(&self, duration: Duration) {
        let _ = duration;
    }

    /// A worker finished a key after this long (`workqueue_work_duration_seconds`).
    fn worked(&self, duration: Duration) {
        let _ = duration;
    }
}

/// Measures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoQueueMetrics;

impl QueueMetrics for NoQueueMetrics {}
