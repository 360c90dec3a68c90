use std::fmt;

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
        families.watch_objects.get_or_create_owned(&labels);
        families.watch_restarts.get_or_create_owned(&labels);
        families.watch_failing.get_or_create_owned(&labels);
        families.watch_undecodable.get_or_create_owned(&labels);
        Self { metrics, labels }
    }

    /// So many objects are in the cache.
    pub fn set_objects(&self, objects: usize) {
        let objects = i64::try_from(objects).unwrap_or(i64::MAX);
        self.metrics.shared.families.watch_objects.get_or_create(&self.labels).set(objects);
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
        watch.restarted();
        watch.set_failing(true);
        let labels = r#"group="apps",kind="Deployment",namespace="",selector="",version="v1""#;
        let text = metrics.encode();
        assert!(text.contains(&format!("kubewright_watch_objects{{{labels}}} 7\n")), "{text}");
        assert!(text.contains(&format!("kubewright_watch_restarts_total{{{labels}}} 1\n")), "{text}");
        assert!(text.contains(&format!("kubewright_watch_failing{{{labels}}} 1\n")), "{text}");
        drop(watch);
        let text = metrics.encode();
        assert!(!text.contains("kubewright_watch_objects{"), "{text}");
        assert!(text.contains("kubewright_watch_restarts_total{"), "{text}");
    }
}
