use std::{
    collections::BTreeMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::FutureExt;
use tokio::{sync::mpsc, task::AbortHandle};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{
    options::GracePeriod,
    runnable::{BoxedRunnable, Group},
};
use crate::{Error, Result, cache::Cache, election::Leadership, panics};

/// What was added to a manager, and what of it runs.
pub(super) struct Lifecycle {
    /// Cancelled last, or when the manager is dropped in the middle of its run: nothing outlives it.
    all: CancellationToken,
    state: Mutex<State>,
    failures: mpsc::UnboundedSender<Error>,
}

struct State {
    phase: Phase,
    /// In the order of their addition, until their group starts.
    waiting: Vec<BoxedRunnable>,
    groups: BTreeMap<Group, RunningGroup>,
    /// The names of what runs, by a number that says the order of their start.
    running: Arc<Mutex<BTreeMap<u64, Running>>>,
    next: u64,
    all: CancellationToken,
    /// Whether the group of the elected was started, and not only what stands by in it.
    elected: bool,
    leadership: Leadership,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    Stopped,
}

struct RunningGroup {
    stop: CancellationToken,
    tasks: TaskTracker,
}

struct Running {
    name: String,
    abort: AbortHandle,
}

/// The order in which groups are stopped: work first, then what it stands on.
const STOP_ORDER: [Group; 5] =
    [Group::Always, Group::Elected, Group::Caches, Group::Webhooks, Group::Servers];

// === impl Lifecycle ===

impl Lifecycle {
    /// A lifecycle, and the failures of what runs in it. The end of the leadership is that of the group of the elected.
    pub(super) fn new(leadership: Leadership) -> (Self, mpsc::UnboundedReceiver<Error>) {
        let (failures, receiver) = mpsc::unbounded_channel();
        let all = CancellationToken::new();
        let state = State {
            phase: Phase::New,
            waiting: Vec::new(),
            groups: BTreeMap::new(),
            running: Arc::default(),
            next: 0,
            all: all.clone(),
            elected: false,
            leadership,
        };
        (Self { all, state: Mutex::new(state), failures }, receiver)
    }

    /// Adds a runnable, and starts it at once if its group runs.
    pub(super) fn add(&self, runnable: BoxedRunnable) -> Result<()> {
        let mut state = self.lock();
        if state.phase == Phase::Stopped {
            return Err(Error::setup(format!("cannot add {}: the manager is stopped", runnable.name)));
        }
        if state.runs(&runnable) {
            state.spawn(runnable, &self.failures);
        } else {
            state.waiting.push(runnable);
        }
        Ok(())
    }

    /// Marks the manager as running, until the guard is dropped. It can be started once.
    pub(super) fn begin(&self) -> Result<DropGuard> {
        let mut state = self.lock();
        if state.phase != Phase::New {
            return Err(Error::setup("a manager can be started once: make a new one"));
        }
        state.phase = Phase::Running;
        Ok(self.all.clone().drop_guard())
    }

    /// Starts what was added to a group.
    pub(super) fn start(&self, group: Group) {
        self.lock().elected |= group == Group::Elected;
        self.start_waiting(group);
    }

    /// Starts what is to stand by until the election.
    pub(super) fn stand_by(&self) {
        self.start_waiting(Group::Elected);
    }

    fn start_waiting(&self, group: Group) {
        let mut state = self.lock();
        if state.phase != Phase::Running {
            return;
        }
        state.group(group);
        let waiting = std::mem::take(&mut state.waiting);
        let (now, later) = waiting.into_iter().partition(|runnable| state.runs(runnable));
        state.waiting = later;
        let now: Vec<BoxedRunnable> = now;
        for runnable in now {
            state.spawn(runnable, &self.failures);
        }
    }

    /// Reports a failure that ends the manager.
    pub(super) fn failures(&self) -> mpsc::UnboundedSender<Error> {
        self.failures.clone()
    }

    /// The token that stops a group which runs.
    pub(super) fn stop_token(&self, group: Group) -> CancellationToken {
        self.lock().group(group).stop.clone()
    }

    /// Stops the groups one after the other, waits for each, and lets `finish` do what comes last, all within
    /// the grace period. The watches of the cache belong to the group of caches.
    pub(super) async fn stop(
        &self,
        grace: GracePeriod,
        cache: &Cache,
        finish: impl Future<Output = ()>,
    ) -> Result<()> {
        let mut groups = {
            let mut state = self.lock();
            state.phase = Phase::Stopped;
            state.waiting.clear();
            std::mem::take(&mut state.groups)
        };
        let orderly = async {
            for name in STOP_ORDER {
                let Some(group) = groups.remove(&name) else { continue };
                group.stop.cancel();
                group.tasks.close();
                group.tasks.wait().await;
                if name == Group::Caches {
                    cache.stopped().await;
                }
            }
            finish.await;
        };
        match grace {
            GracePeriod::Forever => orderly.await,
            GracePeriod::AtMost(limit) if tokio::time::timeout(limit, orderly).await.is_ok() => {}
            GracePeriod::AtMost(limit) => {
                self.all.cancel();
                return self.abandon(limit);
            }
        }
        Ok(())
    }

    /// Ends what did not end in time. Without a grace period that is no error: nobody asked to wait.
    fn abandon(&self, limit: Duration) -> Result<()> {
        let running = self.lock().running.clone();
        let running = std::mem::take(&mut *lock(&running));
        for task in running.values() {
            task.abort.abort();
        }
        if limit.is_zero() || running.is_empty() {
            return Ok(());
        }
        let grace = kube::core::Duration::from(limit).to_string();
        Err(Error::GracePeriod { grace, running: running.into_values().map(|task| task.name).collect() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

// === impl State ===

impl State {
    fn group(&mut self, group: Group) -> &mut RunningGroup {
        let all = &self.all;
        let new = || RunningGroup { stop: all.child_token(), tasks: TaskTracker::new() };
        self.groups.entry(group).or_insert_with(new)
    }

    /// Whether what is added now is started now.
    fn runs(&self, runnable: &BoxedRunnable) -> bool {
        self.groups.contains_key(&runnable.group)
            && (runnable.group != Group::Elected || self.elected || runnable.stands_by)
    }

    fn spawn(&mut self, runnable: BoxedRunnable, failures: &mpsc::UnboundedSender<Error>) {
        let BoxedRunnable { name, group, run, .. } = runnable;
        let leadership = match group {
            Group::Elected => self.leadership.clone(),
            _ => Leadership::without_election(),
        };
        let group = self.group(group);
        let (stop, tasks) = (group.stop.clone(), group.tasks.clone());
        let (id, failures, running) = (self.next, failures.clone(), self.running.clone());
        self.next += 1;
        let title = name.clone();
        // Held over the spawn, so that a task that ends at once finds its entry.
        let mut entries = lock(&self.running);
        let task = tasks.spawn(async move {
            tracing::debug!(runnable = title, "started");
            // Made inside of the guard: the closure itself may panic.
            let outcome = leadership.while_leading(async { run(stop).await });
            let outcome = AssertUnwindSafe(outcome).catch_unwind().await;
            // A lost lease is no failure of what it cuts off.
            let outcome = outcome.unwrap_or_else(|panic| {
                Some(Err(Error::other(format!("panicked: {}", panics::message(&*panic)))))
            });
            let outcome = outcome.unwrap_or(Ok(()));
            lock(&running).remove(&id);
            match outcome {
                Ok(()) => tracing::debug!(runnable = title, "ended"),
                // Nobody listens after the manager has stopped; the error was logged by then.
                Err(source) => {
                    let _ = failures.send(Error::Runnable { name: title, source: Box::new(source) });
                }
            }
        });
        entries.insert(id, Running { name, abort: task.abort_handle() });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
