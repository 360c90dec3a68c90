use std::{fmt, time::Duration};

use prometheus_client::metrics::{gauge::Gauge, histogram::Histogram};
use tokio::time::Instant;

use super::{Metrics, registry::Families};

/// What the webhook at one path measures.
#[derive(Clone)]
pub struct WebhookMetrics {
    metrics: Metrics,
    path: String,
    latency: Histogram,
    in_flight: Gauge,
}

/// A request to a webhook, in flight until it is dropped.
#[must_use = "the request counts as in flight only while this value lives"]
pub struct WebhookRequest<'a> {
    webhook: &'a WebhookMetrics,
    began: Instant,
}

// === impl WebhookMetrics ===

impl WebhookMetrics {
    pub(super) fn new(metrics: Metrics, path: &str) -> Self {
        let families: &Families = &metrics.shared.families;
        let label = [("webhook", path.to_owned())];
        let latency = families.webhook_latency.get_or_create_owned(&label);
        let in_flight = families.webhook_in_flight.get_or_create_owned(&label);
        // The usual codes, so that their series are there before the first request.
        for code in ["200", "500"] {
            let _ = families.webhook_requests.get_or_create_owned(&labels(code.to_owned(), path));
        }
        Self { metrics, path: path.to_owned(), latency, in_flight }
    }

    /// A request has come.
    pub fn request(&self) -> WebhookRequest<'_> {
        self.in_flight.inc();
        WebhookRequest { webhook: self, began: Instant::now() }
    }
}

impl fmt::Debug for WebhookMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookMetrics").field("path", &self.path).finish_non_exhaustive()
    }
}

// === impl WebhookRequest ===

impl WebhookRequest<'_> {
    /// It was answered with this status code of HTTP.
    pub fn answered(self, code: u16) {
        let WebhookMetrics { metrics, path, latency, .. } = self.webhook;
        metrics.shared.families.webhook_requests.get_or_create(&labels(code.to_string(), path)).inc();
        let took: Duration = self.began.elapsed();
        latency.observe(took.as_secs_f64());
    }
}

impl Drop for WebhookRequest<'_> {
    fn drop(&mut self) {
        self.webhook.in_flight.dec();
    }
}

impl fmt::Debug for WebhookRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookRequest").field("webhook", self.webhook).finish_non_exhaustive()
    }
}

fn labels(code: String, path: &str) -> [(&'static str, String); 2] {
    [("code", code), ("webhook", path.to_owned())]
}
