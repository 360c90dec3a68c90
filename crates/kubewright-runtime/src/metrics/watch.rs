use std::fmt;

use prometheus_client::metrics::gauge::Gauge;

use super::{Metrics, registry::Labels};

/// Which watch is measured. `namespace` and `selector` are empty for a watch over everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchLabels {
    /// The API group, empty for the core group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The namespace.
    pub namespace: String,
    /// The label and field selectors, as text.
    pub selector: String,
}

/// What one watch measures. controller-runtime exports nothing of it.
pub struct WatchMetrics {
    metrics: Metrics,
    labels: Labels<5>,
    // Set for every event, so they are not looked up each time.
    objects: Gauge,
    bytes: Gauge,
    version: Gauge,
}

// === impl WatchMetrics ===

impl WatchMetrics {
    pub(super) fn new(metrics: Metrics, labels: WatchLabels) -> Self {
        let labels = [
            ("group", labels.group),
            ("kind", labels.kind),
            ("namespace", labels.namespace),
            ("selector", labels.selector),
            ("version", labels.version),
        ];
        let families = &metrics.shared.families;
        let objects = families.watch_objects.get_or_create_owned(&labels);
        let bytes = families.watch_bytes.get_or_create_owned(&labels);
        let version = families.watch_version.get_or_create_owned(&labels);
        families.watch_restarts.get_or_create_owned(&labels);
        families.watch_failing.get_or_create_owned(&labels);
        families.watch_undecodable.get_or_create_owned(&labels);
        Self { metrics, labels, objects, bytes, version }
    }

    /// So many objects are in the cache.
    pub fn set_objects(&self, objects: usize) {
        self.objects.set(i64::try_from(objects).unwrap_or(i64::MAX));
    }

    /// The JSON of the objects in the cache has so many bytes, without what the cache drops of every object.
    pub fn set_bytes(&self, bytes: usize) {
        self.bytes.set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    /// The cache has seen everything up to this version. One that is no number is not shown.
    pub fn set_resource_version(&self, version: &str) {
        if let Ok(version) = version.parse() {
            self.version.set(version);
        }
    }

    /// The objects are listed anew, for whatever reason.
    pub fn restarted(&self) {
        self.metrics.shared.families.watch_restarts.get_or_create(&self.labels).inc();
    }

    /// Whether the last attempt failed.
    pub fn set_failing(&self, failing: bool) {
        self.metrics.shared.families.watch_failing.get_or_create(&self.labels).set(i64::from(failing));
    }

    /// An object did not fit the Rust type.
    pub fn undecodable(&self) {
        self.metrics.shared.families.watch_undecodable.get_or_create(&self.labels).inc();
    }
}

/// A watch that ended has no objects and does not fail: its gauges go. Its counters stay.
impl Drop for WatchMetrics {
    fn drop(&mut self) {
        self.metrics.shared.families.watch_objects.remove(&self.labels);
        self.metrics.shared.families.watch_bytes.remove(&self.labels);
        self.metrics.shared.families.watch_version.remove(&self.labels);
        self.metrics.shared.families.watch_failing.remove(&self.labels);
    }
}

impl fmt::Debug for WatchMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchMetrics").field("labels", &self.labels).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_is_measured_while_it_lives() {
        let metrics = Metrics::new();
        let watch = metrics.watch(WatchLabels {
            group: "apps".into(),
            version: "v1".into(),
            kind: "Deployment".into(),
            ..Default::default()
        });
        watch.set_objects(7);
        watch.set_bytes(4096);
        watch.set_resource_version("12");
        watch.set_resource_version("no number");
        watch.restarted();
        watch.set_failing(true);
        let labels = r#"group="apps",kind="Deployment",namespace="",selector="",version="v1""#;
        let text = metrics.encode();
        assert!(text.contains(&format!("kubewright_watch_objects{{{labels}}} 7\n")), "{text}");
        assert!(text.contains(&format!("kubewright_watch_bytes{{{labels}}} 4096\n")), "{text}");
        assert!(text.contains(&format!("kubewright_watch_resource_version{{{labels}}} 12\n")), "{text}");
        assert!(text.contains(&format!("kubewright_watch_restarts_total{{{labels}}} 1\n")), "{text}");
        assert!(text.contains(&format!("kubewright_watch_failing{{{labels}}} 1\n")), "{text}");
        drop(watch);
        let text = metrics.encode();
        assert!(!text.contains("kubewright_watch_objects{"), "{text}");
        assert!(text.contains("kubewright_watch_restarts_total{"), "{text}");
    }
}
