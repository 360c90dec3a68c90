use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use prometheus_client::metrics::{counter::Counter, gauge::Gauge, histogram::Histogram};

use super::{Metrics, registry::lock};
use crate::queue::{Priority, QueueMetrics};

/// More priorities than this share one series, as in controller-runtime: a priority computed from data must
/// not flood the monitoring.
const MAX_PRIORITIES: usize = 25;
const OTHER_PRIORITIES: &str = "exceeded_cardinality_limit";

/// What the work queue of one controller measures.
#[derive(Clone)]
pub struct WorkQueueMetrics {
    metrics: Metrics,
    name: String,
    adds: Counter,
    retries: Counter,
    waiting: Histogram,
    working: Histogram,
    depths: Arc<Mutex<BTreeMap<i32, Depth>>>,
}

/// The work that is being done at this moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InProgress {
    /// How long the running reconciliations have taken so far, added up.
    pub unfinished: Duration,
    /// How long the longest of them has taken so far.
    pub longest: Duration,
}

struct Depth {
    gauge: Gauge,
    last: i64,
}

// === impl WorkQueueMetrics ===

impl WorkQueueMetrics {
    pub(super) fn new(metrics: Metrics, name: &str) -> Self {
        let labels = labels(name);
        let families = &metrics.shared.families;
        families.unfinished_work.get_or_create_owned(&labels);
        families.longest_running.get_or_create_owned(&labels);
        let queue = Self {
            adds: families.queue_adds.get_or_create_owned(&labels),
            retries: families.queue_retries.get_or_create_owned(&labels),
            waiting: families.queue_duration.get_or_create_owned(&labels),
            working: families.work_duration.get_or_create_owned(&labels),
            depths: Arc::default(),
            name: name.to_owned(),
            metrics,
        };
        queue.set_depth(0, 0);
        queue
    }

    fn set_depth(&self, priority: i32, depth: usize) {
        let depth = i64::try_from(depth).unwrap_or(i64::MAX);
        let mut depths = lock(&self.depths);
        if !depths.contains_key(&priority) {
            let label = if depths.len() < MAX_PRIORITIES {
                priority.to_string()
            } else {
                OTHER_PRIORITIES.to_owned()
            };
            let [controller, name] = labels(&self.name);
            let gauge = self.metrics.shared.families.queue_depth.get_or_create_owned(&[
                controller,
                name,
                ("priority", label),
            ]);
            depths.insert(priority, Depth { gauge, last: 0 });
        }
        if let Some(known) = depths.get_mut(&priority) {
            // By the difference, because several priorities may share the gauge.
            known.gauge.inc_by(depth - known.last);
            known.last = depth;
        }
    }

    /// Asks `sample` at each scrape for the work in progress. It gives `None` once the queue is gone.
    pub fn sample_in_progress(&self, sample: impl Fn() -> Option<InProgress> + Send + Sync + 'static) {
        let labels = labels(&self.name);
        let families = &self.metrics.shared.families;
        let unfinished = families.unfinished_work.get_or_create_owned(&labels);
        let longest = families.longest_running.get_or_create_owned(&labels);
        self.metrics.before_scrape(move || {
            let in_progress = sample().unwrap_or_default();
            unfinished.set(in_progress.unfinished.as_secs_f64());
            longest.set(in_progress.longest.as_secs_f64());
        });
    }
}

impl QueueMetrics for WorkQueueMetrics {
    fn depth(&self, priority: Priority, depth: usize) {
        self.set_depth(priority, depth);
    }

    fn added(&self) {
        self.adds.inc();
    }

    fn retried(&self) {
        self.retries.inc();
    }

    fn waited(&self, duration: Duration) {
        self.waiting.observe(duration.as_secs_f64());
    }

    fn worked(&self, duration: Duration) {
        self.working.observe(duration.as_secs_f64());
    }
}

/// controller-runtime has both labels, with the same value.
fn labels(name: &str) -> [(&'static str, String); 2] {
    [("controller", name.to_owned()), ("name", name.to_owned())]
}

impl fmt::Debug for WorkQueueMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueueMetrics").field("name", &self.name).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_labels_and_buckets_are_those_of_controller_runtime() {
        let metrics = Metrics::new();
        let queue = metrics.work_queue("memcached");
        queue.added();
        queue.retried();
        queue.depth(-100, 3);
        queue.waited(Duration::from_millis(2));
        queue.worked(Duration::from_secs(2));
        queue.sample_in_progress(|| {
            Some(InProgress { unfinished: Duration::from_millis(2500), longest: Duration::from_secs(2) })
        });
        let text = metrics.encode();
        let labels = r#"controller="memcached",name="memcached""#;
        for series in [
            format!("workqueue_adds_total{{{labels}}} 1"),
            format!("workqueue_retries_total{{{labels}}} 1"),
            format!("workqueue_depth{{{labels},priority=\"-100\"}} 3"),
            format!("workqueue_depth{{{labels},priority=\"0\"}} 0"),
            format!("workqueue_queue_duration_seconds_bucket{{{labels},le=\"1e-08\"}} 0"),
            format!("workqueue_queue_duration_seconds_bucket{{{labels},le=\"1000\"}} 1"),
            format!("workqueue_work_duration_seconds_count{{{labels}}} 1"),
            format!("workqueue_unfinished_work_seconds{{{labels}}} 2.5"),
            format!("workqueue_longest_running_processor_seconds{{{labels}}} 2.0"),
        ] {
            assert!(text.lines().any(|line| line == series), "{series} is missing in\n{text}");
        }
    }

    #[test]
    fn many_priorities_share_a_series() {
        let metrics = Metrics::new();
        let queue = metrics.work_queue("q");
        for priority in 0..40 {
            queue.depth(priority, 2);
        }
        queue.depth(39, 1);
        let text = metrics.encode();
        assert!(text.contains("priority=\"24\"} 2\n"), "{text}");
        assert!(text.contains("priority=\"exceeded_cardinality_limit\"} 29\n"), "{text}");
        assert!(!text.contains("priority=\"30\""), "{text}");
    }
}
