use std::{
    collections::{BTreeSet, VecDeque},
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;

use super::{Fault, Faults};

/// The weather of a cluster: which faults there are now, and those that there were. Clones are the same.
#[derive(Clone)]
pub(crate) struct Conditions {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

struct State {
    faults: Faults,
    /// How many faults there may be in all.
    limit: usize,
    injected: Injected,
}

/// What went wrong so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Injected {
    pub(crate) count: usize,
    pub(crate) kinds: BTreeSet<Fault>,
    /// The last of them, in their order.
    pub(crate) last: VecDeque<(Fault, String)>,
}

/// A long run has many faults, and whoever reads of them looks at few.
const KEPT: usize = 10;

impl Conditions {
    pub(crate) fn new(faults: Faults) -> Self {
        let state = State { faults, limit: usize::MAX, injected: Injected::default() };
        Self { shared: Arc::new(Shared { state: Mutex::new(state), changed: Notify::new() }) }
    }

    /// The faults from now on, at most `limit` of them.
    pub(crate) fn set(&self, faults: Faults, limit: usize) {
        let mut state = self.lock();
        state.faults = faults;
        state.limit = limit;
        drop(state);
        self.shared.changed.notify_waiters();
    }

    pub(crate) fn faults(&self) -> Faults {
        self.lock().faults
    }

    /// Waits until there are other faults than at the time of the call.
    pub(crate) fn changed(&self) -> impl Future<Output = ()> {
        self.shared.changed.notified()
    }

    /// Whether the fault that was drawn happens. It is noted then.
    pub(crate) fn inject(&self, fault: Fault, what: impl fmt::Display) -> bool {
        let mut state = self.lock();
        let happens = state.injected.count < state.limit;
        if happens {
            let injected = &mut state.injected;
            injected.count += 1;
            injected.kinds.insert(fault);
            injected.last.push_back((fault, what.to_string()));
            if injected.last.len() > KEPT {
                injected.last.pop_front();
            }
        }
        happens
    }

    /// What went wrong so far.
    pub(crate) fn injected(&self) -> Injected {
        self.lock().injected.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Conditions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conditions").field("faults", &self.faults()).finish_non_exhaustive()
    }
}
