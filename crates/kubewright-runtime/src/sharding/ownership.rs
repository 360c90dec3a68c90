use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::{ShardBy, Table};
use crate::{
    Request,
    diagnostics::ShardsReport,
    election::{FencingToken, Leadership},
};

/// Which requests this replica may reconcile. Clones tell the same.
///
/// Controllers ask it by themselves. It is for work besides them:
///
/// ```
/// use kubewright_runtime::{Request, manager::Manager};
///
/// fn report(manager: &Manager, request: &Request) {
///     if manager.ownership().owns(request) {
///         // Only one replica gets here.
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Ownership {
    /// `None` if the work is not split.
    shared: Option<Arc<Shared>>,
}

struct Shared {
    /// This replica's name in the tables.
    member: String,
    by: ShardBy,
    /// Whether this replica may act at all.
    term: Leadership,
    state: Mutex<State>,
    /// Told when a turn has ended.
    drained: Notify,
    /// Told when a table holds.
    gained: Notify,
}

#[derive(Default)]
struct State {
    /// The last table that held, if one did, and those that came after it: this replica acts on what is its own by all of
    /// them.
    tables: Vec<Table>,
    /// Whether the first of them holds.
    holds: bool,
    /// How often a table came to hold.
    changes: u64,
    active: BTreeMap<Request, Active>,
}

/// A request that is reconciled now, by one or more controllers.
struct Active {
    turns: usize,
    cut: CancellationToken,
}

/// The right to reconcile one request, until it is dropped: no other replica gets it before.
pub(crate) struct Turn {
    held: Option<(Request, CancellationToken, Arc<Shared>)>,
}

// === impl Ownership ===

impl Ownership {
    /// That of a replica that has all the work.
    #[must_use]
    pub fn whole() -> Self {
        Self { shared: None }
    }

    pub(super) fn of_member(member: String, by: ShardBy, term: Leadership) -> Self {
        let (drained, gained) = (Notify::new(), Notify::new());
        let shared = Shared { member, by, term, state: Mutex::default(), drained, gained };
        Self { shared: Some(Arc::new(shared)) }
    }

    /// Whether a request is this replica's to act on, now.
    #[must_use]
    pub fn owns(&self, request: &Request) -> bool {
        self.shared
            .as_ref()
            .is_none_or(|shared| shared.term.is_leader() && shared.lock().owns(request, shared))
    }

    /// Whether the work is split.
    #[must_use]
    pub fn is_split(&self) -> bool {
        self.shared.is_some()
    }

    /// The table by which this replica acts: the last that held. `None` before there was one, and if the work is not split.
    #[must_use]
    pub fn table(&self) -> Option<Table> {
        let state = self.shared.as_ref()?.lock();
        state.tables.first().filter(|_| state.holds).cloned()
    }

    /// The number of that table, for writes that must not come late: for each key it is greater when the key has moved.
    #[must_use]
    pub fn fencing_token(&self) -> Option<FencingToken> {
        let shared = self.shared.as_ref().filter(|shared| shared.term.is_leader())?;
        let state = shared.lock();
        state.tables.first().filter(|_| state.holds).map(|table| FencingToken::of_epoch(table.epoch()))
    }

    pub(crate) fn report(&self) -> ShardsReport {
        let table = self.table();
        ShardsReport {
            epoch: table.as_ref().map_or(0, Table::epoch),
            members: table.as_ref().map_or(0, |table| table.members().len()),
        }
    }

    /// Begins to act on a request, if it is this replica's.
    pub(crate) fn begin(&self, request: &Request) -> Option<Turn> {
        let Some(shared) = &self.shared else { return Some(Turn { held: None }) };
        let mut state = shared.lock();
        if !shared.term.is_leader() || !state.owns(request, shared) {
            return None;
        }
        let new = || Active { turns: 0, cut: CancellationToken::new() };
        let active = state.active.entry(request.clone()).or_insert_with(new);
        active.turns += 1;
        Some(Turn { held: Some((request.clone(), active.cut.clone(), shared.clone())) })
    }

    /// Waits until another table holds than when `seen` was returned, or than at the start for 0: keys may have come.
    pub(crate) async fn gained(&self, seen: u64) -> u64 {
        let Some(shared) = &self.shared else { return std::future::pending().await };
        loop {
            let gained = shared.gained.notified();
            let changes = shared.lock().changes;
            if changes != seen {
                return changes;
            }
            gained.await;
        }
    }

    /// A table was read. From now on nothing begins that is not this replica's by it.
    pub(super) fn adopt(&self, table: Table) {
        let Some(shared) = &self.shared else { return };
        let mut state = shared.lock();
        if !state.holds {
            state.tables.clear();
        }
        state.tables.push(table);
    }

    /// Whether nothing runs any more that is not this replica's by the tables that were read.
    pub(super) fn is_drained(&self) -> bool {
        let Some(shared) = &self.shared else { return true };
        let state = shared.lock();
        state.active.keys().all(|request| state.owns(request, shared))
    }

    /// Waits until a turn ends.
    pub(super) async fn turn_ended(&self) {
        match &self.shared {
            Some(shared) => shared.drained.notified().await,
            None => std::future::pending().await,
        }
    }

    /// Drops what runs and is not this replica's any more, at its next await point.
    pub(super) fn cut(&self) {
        let Some(shared) = &self.shared else { return };
        let state = shared.lock();
        for (request, active) in &state.active {
            if !state.owns(request, shared) {
                active.cut.cancel();
            }
        }
    }

    /// The table that was read last holds.
    pub(super) fn settle(&self) {
        let Some(shared) = &self.shared else { return };
        let mut state = shared.lock();
        if let Some(last) = state.tables.pop() {
            state.tables = vec![last];
            state.holds = true;
            state.changes += 1;
        }
        drop(state);
        shared.gained.notify_waiters();
    }
}

impl fmt::Debug for Ownership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ownership").field("is_split", &self.is_split()).field("table", &self.table()).finish()
    }
}

// === impl Shared, State ===

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn owns(&self, request: &Request, shared: &Shared) -> bool {
        let is_own = |table: &Table| table.owner(request, shared.by) == Some(&*shared.member);
        self.holds && self.tables.iter().all(is_own)
    }
}

// === impl Turn ===

impl Turn {
    /// Runs `work`, unless the turn is cut off before.
    pub(crate) async fn run(self, work: impl Future<Output = ()>) {
        match &self.held {
            None => work.await,
            Some((_, cut, _)) => {
                // Dropped before the turn is, which ends with this call.
                let _ = cut.run_until_cancelled(work).await;
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let Some((request, _, shared)) = self.held.take() else { return };
        let mut state = shared.lock();
        if let Some(active) = state.active.get_mut(&request) {
            active.turns -= 1;
            if active.turns == 0 {
                state.active.remove(&request);
            }
        }
        drop(state);
        shared.drained.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::*;

    fn member(name: &str) -> Ownership {
        let term = Leadership::standby();
        assert!(term.begin(Instant::now() + Duration::from_secs(10), FencingToken::of_epoch(0)));
        Ownership::of_member(name.to_owned(), ShardBy::Object, term)
    }

    fn table(epoch: u32, members: &[&str]) -> Table {
        Table::new(epoch, members.iter().map(ToString::to_string))
    }

    /// A request that goes from `a` to `b` when `b` comes.
    fn moving() -> Request {
        let both = table(0, &["a", "b"]);
        let mut requests = (0..).map(|number| Request::cluster(number.to_string()));
        requests.find(|request| both.owner(request, ShardBy::Object) == Some("b")).expect("one in two")
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_goes_is_finished_and_not_begun_again() {
        let (a, request) = (member("a"), moving());
        a.adopt(table(1, &["a"]));
        assert!(!a.owns(&request), "the table does not hold yet");
        a.settle();
        let turn = a.begin(&request).expect("its own");
        assert_eq!(a.fencing_token().map(FencingToken::transitions), Some(1));

        a.adopt(table(2, &["a", "b"]));
        assert!(a.begin(&request).is_none() && !a.is_drained());
        assert_eq!(
            a.fencing_token().map(FencingToken::transitions),
            Some(1),
            "the turn is one of the old table"
        );
        let running = tokio::spawn(turn.run(std::future::pending()));
        tokio::task::yield_now().await;
        a.cut();
        running.await.expect("no panic");
        assert!(a.is_drained());

        // Back again: it is not its own before that table holds, since the one between may hold for others.
        a.adopt(table(3, &["a"]));
        assert!(!a.owns(&request));
        a.settle();
        assert!(a.owns(&request));
        assert_eq!(a.gained(0).await, 2);
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(!a.owns(&request) && a.begin(&request).is_none(), "its time is over");
    }

    #[test]
    fn whoever_has_the_whole_has_everything() {
        let whole = Ownership::whole();
        assert!(whole.owns(&moving()) && whole.begin(&moving()).is_some());
        assert!(!whole.is_split() && whole.table().is_none() && whole.fencing_token().is_none());
    }
}
