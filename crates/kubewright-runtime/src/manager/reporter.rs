use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use kubewright_world::Clock;

use crate::{
    cache::Cache,
    client::HotLoops,
    diagnostics::{Diagnostics, HotLoopReport, LeadershipReport, Report, WatchReport},
    election::{FencingToken, Leadership},
    sharding::Ownership,
};

/// Makes the reports of a manager, without keeping the manager in memory.
#[derive(Clone)]
pub(super) struct Reporter {
    pub(super) name: String,
    pub(super) instance: String,
    pub(super) clock: Clock,
    pub(super) stopping: Arc<AtomicBool>,
    pub(super) leadership: Leadership,
    pub(super) ownership: Ownership,
    /// Whether the process stands for election.
    pub(super) elected: bool,
    pub(super) cache: Cache,
    pub(super) diagnostics: Diagnostics,
    pub(super) hot_loops: HotLoops,
}

impl Reporter {
    pub(super) fn report(&self) -> Report {
        Report {
            name: self.name.clone(),
            instance: self.instance.clone(),
            at: self.clock.now(),
            stopping: self.stopping.load(Ordering::Relaxed),
            leadership: LeadershipReport {
                elected: self.elected,
                is_leader: self.leadership.is_leader(),
                term: self.leadership.fencing_token().map(FencingToken::transitions),
                shards: self.ownership.is_split().then(|| self.ownership.report()),
            },
            controllers: self.diagnostics.controllers(),
            watches: self.cache.watches().into_iter().map(WatchReport::from).collect(),
            hot_loops: self.hot_loops.now().into_iter().map(HotLoopReport::from).collect(),
        }
    }
}
