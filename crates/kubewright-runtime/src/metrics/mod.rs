//! What the runtime measures, under controller-runtime's names.
//!
//! [`Metrics`] is one registry. A manager has its own, so two managers in one process do not mix, and
//! hands out a handle to each part that measures: [`ControllerMetrics`], [`WorkQueueMetrics`],
//! [`WatchMetrics`], [`RequestMetrics`]. Names, labels and buckets are those of controller-runtime, so the
//! dashboards and alerts of the field apply; what it does not export starts with `kubewright_`.
//! Start reading at `registry.rs`; `text.rs` is the scrape.

mod certificates;
mod controller;
mod election;
mod events;
mod process;
mod queue;
mod registry;
mod requests;
mod text;
mod watch;
mod webhook;

pub use certificates::CertificateMetrics;
pub use controller::{ActiveWorker, ControllerMetrics, Outcome};
pub use election::LeaderElectionMetrics;
pub use events::EventMetrics;
pub use queue::{InProgress, WorkQueueMetrics};
pub use registry::Metrics;
pub use requests::{RequestMetrics, RequestMetricsLayer};
pub use text::CONTENT_TYPE;
pub use watch::{WatchLabels, WatchMetrics};
pub use webhook::{WebhookMetrics, WebhookRequest};
