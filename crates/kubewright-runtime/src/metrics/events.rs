use std::fmt;

use prometheus_client::metrics::counter::Counter;

use super::registry::Families;

/// What the event recorder measures.
#[derive(Clone)]
pub struct EventMetrics {
    created: Counter,
    updated: Counter,
    dropped: Counter,
    failed: Counter,
}

impl EventMetrics {
    pub(super) fn new(families: &Families) -> Self {
        let operation = |operation: &str| {
            families.events_recorded.get_or_create_owned(&[("operation", operation.to_owned())])
        };
        Self {
            created: operation("create"),
            updated: operation("patch"),
            dropped: families.events_dropped.get_or_create_owned(&[]),
            failed: families.events_failed.get_or_create_owned(&[]),
        }
    }

    /// An event was written for the first time.
    pub fn created(&self) {
        self.created.inc();
    }

    /// The series of an event was updated.
    pub fn updated(&self) {
        self.updated.inc();
    }

    /// An event was dropped, because the recorder's queue was full.
    pub fn dropped(&self) {
        self.dropped.inc();
    }

    /// An event was given up on.
    pub fn failed(&self) {
        self.failed.inc();
    }
}

impl fmt::Debug for EventMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventMetrics").finish_non_exhaustive()
    }
}
