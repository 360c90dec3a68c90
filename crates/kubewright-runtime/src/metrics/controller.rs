use std::{fmt, time::Duration};

use prometheus_client::metrics::{counter::Counter, gauge::Gauge, histogram::Histogram};

use super::registry::Families;

/// What one controller measures.
#[derive(Clone)]
pub struct ControllerMetrics {
    success: Counter,
    error: Counter,
    requeue: Counter,
    requeue_after: Counter,
    errors: Counter,
    terminal_errors: Counter,
    panics: Counter,
    timeouts: Counter,
    time: Histogram,
    max_concurrent: Gauge,
    active_workers: Gauge,
}

/// How a reconciliation ended; the `result` label of `controller_runtime_reconcile_total`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done, without another run asked for.
    Success,
    /// Failed, to be retried.
    Error,
    /// Failed, not to be retried. The label is `error` too; it counts as a terminal error besides.
    TerminalError,
    /// Done, to be run again after the backoff.
    Requeue,
    /// Done, to be run again after a given time.
    RequeueAfter,
}

/// Counts a worker as active until it is dropped.
#[must_use = "the worker counts as active only while this value lives"]
pub struct ActiveWorker {
    gauge: Gauge,
}

// === impl ControllerMetrics ===

impl ControllerMetrics {
    pub(super) fn new(families: &Families, controller: &str) -> Self {
        let label = || [("controller", controller.to_owned())];
        let result = |result: &str| {
            let labels = [("controller", controller.to_owned()), ("result", result.to_owned())];
            families.reconcile_total.get_or_create_owned(&labels)
        };
        Self {
            success: result("success"),
            error: result("error"),
            requeue: result("requeue"),
            requeue_after: result("requeue_after"),
            errors: families.reconcile_errors.get_or_create_owned(&label()),
            terminal_errors: families.terminal_errors.get_or_create_owned(&label()),
            panics: families.panics.get_or_create_owned(&label()),
            timeouts: families.timeouts.get_or_create_owned(&label()),
            time: families.reconcile_time.get_or_create_owned(&label()),
            max_concurrent: families.max_concurrent.get_or_create_owned(&label()),
            active_workers: families.active_workers.get_or_create_owned(&label()),
        }
    }

    /// A reconciliation ended so after this long.
    pub fn reconciled(&self, outcome: Outcome, took: Duration) {
        match outcome {
            Outcome::Success => self.success.inc(),
            Outcome::Requeue => self.requeue.inc(),
            Outcome::RequeueAfter => self.requeue_after.inc(),
            Outcome::Error | Outcome::TerminalError => {
                if outcome == Outcome::TerminalError {
                    self.terminal_errors.inc();
                }
                self.errors.inc();
                self.error.inc()
            }
        };
        self.time.observe(took.as_secs_f64());
    }

    /// A reconciler panicked. The reconciliation counts as an error besides.
    pub fn panicked(&self) {
        self.panics.inc();
    }

    /// A reconciliation ran into the controller's timeout. It counts as an error besides.
    pub fn timed_out(&self) {
        self.timeouts.inc();
    }

    /// The number of workers that the controller has.
    pub fn set_max_concurrent_reconciles(&self, workers: usize) {
        self.max_concurrent.set(i64::try_from(workers).unwrap_or(i64::MAX));
    }

    /// A worker begins a reconciliation.
    pub fn worker_active(&self) -> ActiveWorker {
        self.active_workers.inc();
        ActiveWorker { gauge: self.active_workers.clone() }
    }
}

impl fmt::Debug for ControllerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerMetrics").finish_non_exhaustive()
    }
}

// === impl ActiveWorker ===

impl Drop for ActiveWorker {
    fn drop(&mut self) {
        self.gauge.dec();
    }
}

impl fmt::Debug for ActiveWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActiveWorker").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::metrics::Metrics;

    #[test]
    fn every_series_is_there_before_the_first_reconciliation() {
        let metrics = Metrics::new();
        let _controller = metrics.controller("memcached");
        let text = metrics.encode();
        for series in [
            r#"controller_runtime_reconcile_total{controller="memcached",result="error"} 0"#,
            r#"controller_runtime_reconcile_total{controller="memcached",result="requeue"} 0"#,
            r#"controller_runtime_reconcile_total{controller="memcached",result="requeue_after"} 0"#,
            r#"controller_runtime_reconcile_total{controller="memcached",result="success"} 0"#,
            r#"controller_runtime_reconcile_errors_total{controller="memcached"} 0"#,
            r#"controller_runtime_terminal_reconcile_errors_total{controller="memcached"} 0"#,
            r#"controller_runtime_reconcile_panics_total{controller="memcached"} 0"#,
            r#"controller_runtime_reconcile_timeouts_total{controller="memcached"} 0"#,
            r#"controller_runtime_max_concurrent_reconciles{controller="memcached"} 0"#,
            r#"controller_runtime_active_workers{controller="memcached"} 0"#,
            r#"controller_runtime_reconcile_time_seconds_bucket{controller="memcached",le="60"} 0"#,
            r#"controller_runtime_reconcile_time_seconds_count{controller="memcached"} 0"#,
        ] {
            assert!(text.lines().any(|line| line == series), "{series} is missing in\n{text}");
        }
    }

    #[test]
    fn a_terminal_error_counts_as_an_error_too() {
        let metrics = Metrics::new();
        let controller = metrics.controller("c");
        controller.reconciled(Outcome::TerminalError, Duration::from_millis(30));
        let active = controller.worker_active();
        let text = metrics.encode();
        assert!(text.contains("controller_runtime_reconcile_total{controller=\"c\",result=\"error\"} 1"));
        assert!(text.contains("controller_runtime_reconcile_errors_total{controller=\"c\"} 1"));
        assert!(text.contains("controller_runtime_terminal_reconcile_errors_total{controller=\"c\"} 1"));
        assert!(text.contains("reconcile_time_seconds_bucket{controller=\"c\",le=\"0.025\"} 0"));
        assert!(text.contains("reconcile_time_seconds_bucket{controller=\"c\",le=\"0.05\"} 1"));
        assert!(text.contains("controller_runtime_active_workers{controller=\"c\"} 1"));
        drop(active);
        assert!(metrics.encode().contains("controller_runtime_active_workers{controller=\"c\"} 0"));
    }
}
