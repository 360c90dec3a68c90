use std::fmt;

use prometheus_client::metrics::gauge::Gauge;

use super::registry::Families;

/// What a candidate of a leader election measures.
#[derive(Clone)]
pub struct LeaderElectionMetrics {
    master_status: Gauge,
}

impl LeaderElectionMetrics {
    pub(super) fn new(families: &Families, lease: &str) -> Self {
        Self { master_status: families.master_status.get_or_create_owned(&[("name", lease.to_owned())]) }
    }

    /// Whether this process leads.
    pub fn set_leader(&self, leads: bool) {
        self.master_status.set(i64::from(leads));
    }
}

impl fmt::Debug for LeaderElectionMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaderElectionMetrics").finish_non_exhaustive()
    }
}
