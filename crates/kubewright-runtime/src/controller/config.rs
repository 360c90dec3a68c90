use std::{collections::BTreeMap, time::Duration};

use crate::queue::RateLimiter;

/// How a controller runs. A manager has one for all its controllers; each may change its own.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ControllerConfig {
    /// How many requests are reconciled at once; never two for one object. The default is 1.
    pub max_concurrent_reconciles: usize,
    /// The same for the controllers of some kinds, as `Deployment.apps` or `Pod`. Goes before the number for
    /// all, and behind what a controller itself says. The default is empty.
    pub group_kind_concurrency: BTreeMap<String, usize>,
    /// How long the caches may take at the start. The default is two minutes.
    pub cache_sync_timeout: Duration,
    /// How long one reconciliation may take. It is cancelled then, and retried as after an error. The default
    /// is no limit.
    pub reconcile_timeout: Option<Duration>,
    /// Whether a panic in the reconciler is taken as an error of that one reconciliation, which is retried. Without
    /// that, it ends the manager with an error. It is counted and logged in either case. The default is true.
    pub recover_panic: bool,
    /// How long running reconciliations may take after the controller is told to stop. The default is 30 s.
    pub drain_timeout: Duration,
    /// Whether the controller reconciles on the leader alone; on the others it stands by with a filled queue. The
    /// default is true. If the [work is split](crate::sharding), it reconciles in every replica what is that one's; without this, in
    /// every replica everything.
    pub needs_leader_election: bool,
    /// How long a failed request waits. The default is 5 ms, doubling up to 1000 s.
    pub rate_limiter: RateLimiter,
}

impl ControllerConfig {
    /// The configured concurrency of the controllers of a kind.
    pub(super) fn concurrency_of(&self, group: &str, kind: &str) -> usize {
        let group_kind = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        self.group_kind_concurrency.get(&group_kind).copied().unwrap_or(self.max_concurrent_reconciles)
    }
}

impl Default for ControllerConfig {
    fn default() -> Self {
        Self {
            max_concurrent_reconciles: 1,
            group_kind_concurrency: BTreeMap::new(),
            cache_sync_timeout: Duration::from_secs(120),
            reconcile_timeout: None,
            recover_panic: true,
            drain_timeout: Duration::from_secs(30),
            needs_leader_election: true,
            rate_limiter: RateLimiter::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_for_a_kind_goes_before_the_number_for_all() {
        let config = ControllerConfig {
            max_concurrent_reconciles: 3,
            group_kind_concurrency: [("Deployment.apps".to_owned(), 5), ("Pod".to_owned(), 7)].into(),
            ..Default::default()
        };
        assert_eq!(config.concurrency_of("apps", "Deployment"), 5);
        assert_eq!(config.concurrency_of("", "Pod"), 7);
        assert_eq!(config.concurrency_of("apps", "ReplicaSet"), 3);
    }
}
