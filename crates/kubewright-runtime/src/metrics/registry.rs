use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use prometheus_client::{
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};

use super::{
    CertificateMetrics, ControllerMetrics, EventMetrics, LeaderElectionMetrics, RequestMetrics, WatchLabels,
    WatchMetrics, WebhookMetrics, WorkQueueMetrics, process::Process, text,
};

/// Label names and values, in the order of the names.
pub(super) type Labels<const N: usize> = [(&'static str, String); N];
pub(super) type Counters<const N: usize> = Family<Labels<N>, Counter>;
pub(super) type Gauges<const N: usize> = Family<Labels<N>, Gauge>;
pub(super) type Histograms<const N: usize> = Family<Labels<N>, Histogram, fn() -> Histogram>;
pub(super) type Seconds<const N: usize> = Family<Labels<N>, Gauge<f64, std::sync::atomic::AtomicU64>>;

/// A registry of metrics. Clones share it.
///
/// ```
/// use kubewright_runtime::metrics::{Metrics, Outcome};
/// use std::time::Duration;
///
/// let metrics = Metrics::new();
/// metrics.controller("memcached").reconciled(Outcome::Success, Duration::from_millis(20));
/// let text = metrics.encode();
/// assert!(text.contains(r#"controller_runtime_reconcile_total{controller="memcached",result="success"} 1"#));
/// ```
#[derive(Clone)]
pub struct Metrics {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    registry: Mutex<Registry>,
    before_scrape: Mutex<Vec<Box<dyn Fn() + Send + Sync>>>,
    pub(super) families: Families,
}

/// Every family of the runtime, registered whether or not it has a series yet.
pub(super) struct Families {
    pub(super) reconcile_total: Counters<2>,
    pub(super) reconcile_errors: Counters<1>,
    pub(super) terminal_errors: Counters<1>,
    pub(super) panics: Counters<1>,
    pub(super) timeouts: Counters<1>,
    pub(super) reconcile_time: Histograms<1>,
    pub(super) max_concurrent: Gauges<1>,
    pub(super) active_workers: Gauges<1>,

    pub(super) queue_depth: Gauges<3>,
    pub(super) queue_adds: Counters<2>,
    pub(super) queue_duration: Histograms<2>,
    pub(super) work_duration: Histograms<2>,
    pub(super) unfinished_work: Seconds<2>,
    pub(super) longest_running: Seconds<2>,
    pub(super) queue_retries: Counters<2>,

    pub(super) requests: Counters<3>,
    pub(super) request_duration: Histograms<2>,

    pub(super) watch_objects: Gauges<5>,
    pub(super) watch_bytes: Gauges<5>,
    pub(super) watch_version: Gauges<5>,
    pub(super) watch_restarts: Counters<5>,
    pub(super) watch_failing: Gauges<5>,
    pub(super) watch_undecodable: Counters<5>,

    pub(super) master_status: Gauges<1>,

    pub(super) certificates_read: Counters<0>,
    pub(super) certificate_errors: Counters<0>,

    pub(super) webhook_requests: Counters<2>,
    pub(super) webhook_latency: Histograms<1>,
    pub(super) webhook_in_flight: Gauges<1>,
    pub(super) webhook_panics: Counters<0>,
    pub(super) conversion_panics: Counters<0>,

    pub(super) events_recorded: Counters<1>,
    pub(super) events_dropped: Counters<0>,
    pub(super) events_failed: Counters<0>,
}

// === impl Metrics ===

impl Metrics {
    /// A registry with all of the runtime's families in it.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let families = Families::register(&mut registry);
        let shared = Shared { registry: Mutex::new(registry), before_scrape: Mutex::default(), families };
        Self { shared: Arc::new(shared) }
    }

    /// The handle for the controller called `name`, with all its series at zero.
    #[must_use]
    pub fn controller(&self, name: &str) -> ControllerMetrics {
        ControllerMetrics::new(&self.shared.families, name)
    }

    /// The handle for the work queue of the controller called `name`.
    #[must_use]
    pub fn work_queue(&self, name: &str) -> WorkQueueMetrics {
        WorkQueueMetrics::new(self.clone(), name)
    }

    /// The handle for one watch.
    #[must_use]
    pub fn watch(&self, labels: WatchLabels) -> WatchMetrics {
        WatchMetrics::new(self.clone(), labels)
    }

    /// The handle for requests to the API server at `host`.
    #[must_use]
    pub fn requests(&self, host: impl Into<String>) -> RequestMetrics {
        RequestMetrics::new(self.clone(), host.into())
    }

    /// The handle for a candidate for the lease called `lease`, which does not lead yet.
    #[must_use]
    pub fn leader_election(&self, lease: &str) -> LeaderElectionMetrics {
        LeaderElectionMetrics::new(&self.shared.families, lease)
    }

    /// The handle for certificates in files.
    #[must_use]
    pub fn certificates(&self) -> CertificateMetrics {
        CertificateMetrics::new(&self.shared.families)
    }

    /// The handle for the webhook at `path`, with its usual series at zero.
    #[must_use]
    pub fn webhook(&self, path: &str) -> WebhookMetrics {
        WebhookMetrics::new(self.clone(), path)
    }

    /// A webhook panicked.
    pub fn webhook_panicked(&self) {
        self.shared.families.webhook_panics.get_or_create(&[]).inc();
    }

    /// The conversion of an object panicked.
    pub fn conversion_panicked(&self) {
        self.shared.families.conversion_panics.get_or_create(&[]).inc();
    }

    /// The handle for the event recorder.
    #[must_use]
    pub fn events(&self) -> EventMetrics {
        EventMetrics::new(&self.shared.families)
    }

    /// Registers metrics of the operator's own, served with those of the runtime. prometheus-client appends
    /// `_total` to the name of a counter, so register it without.
    ///
    /// ```
    /// use kubewright_runtime::metrics::Metrics;
    /// use prometheus_client::metrics::counter::Counter;
    ///
    /// let metrics = Metrics::new();
    /// let backups: Counter = Counter::default();
    /// metrics.register(|registry| registry.register("redis_backups", "Backups taken", backups.clone()));
    /// backups.inc();
    /// assert!(metrics.encode().contains("redis_backups_total 1"));
    /// ```
    pub fn register<T>(&self, register: impl FnOnce(&mut Registry) -> T) -> T {
        register(&mut lock(&self.shared.registry))
    }

    /// Adds the `process_*` metrics of this process. A manager made by [`Manager::new`](crate::manager::Manager::new)
    /// has them.
    pub fn register_process(&self) {
        lock(&self.shared.registry).register_collector(Box::new(Process));
    }

    /// Calls `sample` before each scrape, to set what is cheaper to measure on demand.
    pub fn before_scrape(&self, sample: impl Fn() + Send + Sync + 'static) {
        lock(&self.shared.before_scrape).push(Box::new(sample));
    }

    /// The metrics in Prometheus' text format ([`CONTENT_TYPE`](super::CONTENT_TYPE)), sorted by name and by
    /// labels as client_golang does.
    #[must_use]
    pub fn encode(&self) -> String {
        for sample in lock(&self.shared.before_scrape).iter() {
            sample();
        }
        text::encode(&lock(&self.shared.registry))
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

// === impl Families ===

impl Families {
    fn register(registry: &mut Registry) -> Self {
        let families = Self {
            reconcile_total: Family::default(),
            reconcile_errors: Family::default(),
            terminal_errors: Family::default(),
            panics: Family::default(),
            timeouts: Family::default(),
            reconcile_time: Family::new_with_constructor(|| Histogram::new(RECONCILE_TIME_BUCKETS)),
            max_concurrent: Family::default(),
            active_workers: Family::default(),
            queue_depth: Family::default(),
            queue_adds: Family::default(),
            queue_duration: Family::new_with_constructor(queue_histogram),
            work_duration: Family::new_with_constructor(queue_histogram),
            unfinished_work: Family::default(),
            longest_running: Family::default(),
            queue_retries: Family::default(),
            requests: Family::default(),
            request_duration: Family::new_with_constructor(|| Histogram::new(REQUEST_DURATION_BUCKETS)),
            watch_objects: Family::default(),
            watch_bytes: Family::default(),
            watch_version: Family::default(),
            watch_restarts: Family::default(),
            watch_failing: Family::default(),
            watch_undecodable: Family::default(),
            master_status: Family::default(),
            certificates_read: Family::default(),
            certificate_errors: Family::default(),
            webhook_requests: Family::default(),
            webhook_latency: Family::new_with_constructor(queue_histogram),
            webhook_in_flight: Family::default(),
            webhook_panics: Family::default(),
            conversion_panics: Family::default(),
            events_recorded: Family::default(),
            events_dropped: Family::default(),
            events_failed: Family::default(),
        };
        // The encoder appends `_total` to counters and a full stop to the help.
        let f = &families;
        let r = registry;
        r.register(
            "controller_runtime_reconcile",
            "Total number of reconciliations per controller",
            f.reconcile_total.clone(),
        );
        r.register(
            "controller_runtime_reconcile_errors",
            "Total number of reconciliation errors per controller",
            f.reconcile_errors.clone(),
        );
        r.register(
            "controller_runtime_terminal_reconcile_errors",
            "Total number of terminal reconciliation errors per controller",
            f.terminal_errors.clone(),
        );
        r.register(
            "controller_runtime_reconcile_panics",
            "Total number of reconciliation panics per controller",
            f.panics.clone(),
        );
        r.register(
            "controller_runtime_reconcile_timeouts",
            "Total number of reconciliation timeouts per controller",
            f.timeouts.clone(),
        );
        r.register(
            "controller_runtime_reconcile_time_seconds",
            "Length of time per reconciliation per controller",
            f.reconcile_time.clone(),
        );
        r.register(
            "controller_runtime_max_concurrent_reconciles",
            "Maximum number of concurrent reconciles per controller",
            f.max_concurrent.clone(),
        );
        r.register(
            "controller_runtime_active_workers",
            "Number of currently used workers per controller",
            f.active_workers.clone(),
        );
        r.register("workqueue_depth", "Current depth of workqueue by priority", f.queue_depth.clone());
        r.register("workqueue_adds", "Total number of adds handled by workqueue", f.queue_adds.clone());
        r.register(
            "workqueue_queue_duration_seconds",
            "How long in seconds an item stays in workqueue before being requested",
            f.queue_duration.clone(),
        );
        r.register(
            "workqueue_work_duration_seconds",
            "How long in seconds processing an item from workqueue takes",
            f.work_duration.clone(),
        );
        r.register(
            "workqueue_unfinished_work_seconds",
            "How many seconds of work the running reconciliations have done so far; a value that only grows \
             points at stuck ones",
            f.unfinished_work.clone(),
        );
        r.register(
            "workqueue_longest_running_processor_seconds",
            "How many seconds the longest running reconciliation has been at it",
            f.longest_running.clone(),
        );
        r.register(
            "workqueue_retries",
            "Total number of retries handled by workqueue",
            f.queue_retries.clone(),
        );
        r.register(
            "rest_client_requests",
            "Number of HTTP requests, partitioned by status code, method, and host",
            f.requests.clone(),
        );
        r.register(
            "rest_client_request_duration_seconds",
            "Request latency in seconds, until the answer begins, broken down by verb and host",
            f.request_duration.clone(),
        );
        r.register(
            "leader_election_master_status",
            "1 while this process leads by the lease of that name, 0 while it stands by; group by name",
            f.master_status.clone(),
        );
        r.register(
            "certwatcher_read_certificate",
            "Total number of times the files of a certificate were read",
            f.certificates_read.clone(),
        );
        r.register(
            "certwatcher_read_certificate_errors",
            "Total number of times the files of a certificate were read and could not be used",
            f.certificate_errors.clone(),
        );
        r.register(
            "controller_runtime_webhook_requests",
            "Total number of admission requests by HTTP status code",
            f.webhook_requests.clone(),
        );
        r.register(
            "controller_runtime_webhook_latency_seconds",
            "Histogram of the latency of processing admission requests",
            f.webhook_latency.clone(),
        );
        r.register(
            "controller_runtime_webhook_requests_in_flight",
            "Current number of admission requests being served",
            f.webhook_in_flight.clone(),
        );
        r.register(
            "controller_runtime_webhook_panics",
            "Total number of webhook panics",
            f.webhook_panics.clone(),
        );
        r.register(
            "controller_runtime_conversion_webhook_panics",
            "Total number of conversion webhook panics",
            f.conversion_panics.clone(),
        );
        r.register(
            "kubewright_watch_objects",
            "Number of objects that a watch holds in the cache",
            f.watch_objects.clone(),
        );
        r.register(
            "kubewright_watch_bytes",
            "Size of the JSON of the objects that a watch holds in the cache, without managed fields unless they are \
             kept; compares kinds with each other, as decoded objects take a multiple of it",
            f.watch_bytes.clone(),
        );
        r.register(
            "kubewright_watch_resource_version",
            "Resource version up to which a watch has seen everything; the same kind on the server says how far behind \
             it is",
            f.watch_version.clone(),
        );
        r.register(
            "kubewright_watch_restarts",
            "Total number of times a watch listed its objects anew after the first time",
            f.watch_restarts.clone(),
        );
        r.register(
            "kubewright_watch_failing",
            "1 while the last attempt of a watch failed, 0 while it is established",
            f.watch_failing.clone(),
        );
        r.register(
            "kubewright_watch_undecodable_objects",
            "Total number of objects that did not fit the Rust type and were left out of the cache",
            f.watch_undecodable.clone(),
        );
        r.register(
            "kubewright_events_recorded",
            "Total number of events written to the API server, series included",
            f.events_recorded.clone(),
        );
        r.register(
            "kubewright_events_dropped",
            "Total number of events dropped because the queue of the recorder was full",
            f.events_dropped.clone(),
        );
        r.register(
            "kubewright_events_failed",
            "Total number of events given up on after the last retry",
            f.events_failed.clone(),
        );
        // The panics are there before the first one, so that an alert on their increase sees it.
        let _ = (f.webhook_panics.get_or_create_owned(&[]), f.conversion_panics.get_or_create_owned(&[]));
        families
    }
}

/// client-go's.
const REQUEST_DURATION_BUCKETS: [f64; 12] =
    [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];

/// controller-runtime's `controller_runtime_reconcile_time_seconds`.
const RECONCILE_TIME_BUCKETS: [f64; 40] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25,
    1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0,
    50.0, 60.0,
];

/// controller-runtime's buckets of both work queue histograms and of webhooks: ten nanoseconds to a thousand seconds.
fn queue_histogram() -> Histogram {
    Histogram::new(exponential_buckets(10e-9, 10.0, 12))
}

/// The registry stays usable after a panic under the lock: every update is one atomic step.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_registries_share_nothing() {
        let (one, two) = (Metrics::new(), Metrics::new());
        one.controller("a").panicked();
        assert!(one.encode().contains("controller_runtime_reconcile_panics_total{controller=\"a\"} 1"));
        assert!(!two.encode().contains("controller=\"a\""));
    }

    #[test]
    fn samples_are_taken_at_the_scrape() {
        let metrics = Metrics::new();
        let gauge: Gauge = Gauge::default();
        metrics.register(|registry| registry.register("sampled", "Sampled", gauge.clone()));
        metrics.before_scrape(move || {
            gauge.inc();
        });
        assert!(metrics.encode().contains("\nsampled 1\n"));
        assert!(metrics.encode().contains("\nsampled 2\n"));
    }
}
