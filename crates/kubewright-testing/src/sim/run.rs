use std::{
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use kubewright_runtime::{Random, Result, manager::Manager};
use tokio::time::{Instant, sleep};

use super::{
    Schedule,
    state::{State, state_of},
};
use crate::{
    Operator, TestCluster, simulate,
    transport::{Faults, Injected},
};

/// How one run ended.
pub(super) struct Outcome {
    /// The state in the end, or why there is none.
    pub(super) end: Result<State, String>,
    /// Everything that went over the wire.
    pub(super) history: String,
    /// What went wrong.
    pub(super) faults: Injected,
    /// The number of the operator's writes.
    pub(super) writes: u64,
}

/// A pod that ended is started again after that.
const RESTART: Duration = Duration::from_secs(1);
/// How long faults may go on after the scenario.
const AFTERMATH: Duration = Duration::from_secs(30);
/// Longer than the longest backoff of the queue: what has not changed for so long does not change any more.
const QUIET: Duration = Duration::from_secs(20 * 60);
/// Longer than the other backoffs, and than what the cluster's controllers wait for.
const SHORT: Duration = Duration::from_secs(60);
/// How often a cluster may still have changed.
const PATIENCE: usize = 12;

/// Runs a scenario and its operator under a schedule.
pub(super) fn run<R, S>(register: &R, scenario: &S, faults: Faults, schedule: &Schedule) -> Outcome
where
    R: Fn(&Manager) -> Result<()>,
    S: AsyncFn(&TestCluster),
{
    // Outside, so that it is there when the scenario panics.
    let seen = RefCell::new((String::new(), Injected::default()));
    let writes = Cell::new(0);
    let simulation = async {
        let cluster = TestCluster::builder().seed(schedule.seed).start().await;
        let _notes = Notes { cluster: &cluster, seen: &seen };
        let limit = schedule.first.unwrap_or(usize::MAX);
        let mut operator = start(&cluster, register, schedule.crash.unwrap_or_default());
        cluster.install_all(operator.manager().crds()).await;
        cluster.conditions().set(schedule.faults(faults), limit);
        let began = Instant::now();
        let acting = async {
            scenario(&cluster).await;
            // What the scenario did last is to be met by faults as well.
            sleep(AFTERMATH.mul_f64(Random::seeded(schedule.seed).unit())).await;
            // Nothing that comes later is to make up for what was lost.
            cluster.set_faults(Faults::none());
            quiet(&cluster, began).await
        };
        let mut acting = std::pin::pin!(acting);
        let end = loop {
            tokio::select! {
                biased;
                end = &mut acting => break end,
                () = operator.died() => writes.set(writes.get() + operator.writes()),
            }
            tokio::select! {
                biased;
                end = &mut acting => break end,
                () = sleep(RESTART) => operator = start(&cluster, register, 0),
            }
        };
        let state = end?;
        writes.set(writes.get() + operator.writes());
        settled(&operator)?;
        let stopped = operator.stop().await;
        stopped.map_err(|error| format!("the operator does not stop cleanly: {error:?}"))?;
        Ok(state)
    };
    let end = catch_unwind(AssertUnwindSafe(|| simulate(simulation)));
    let end = end.unwrap_or_else(|panic| Err(message_of(&*panic)));
    let (history, faults) = seen.into_inner();
    Outcome { end, history, faults, writes: writes.get() }
}

/// Keeps what happened, also when the scenario panics.
struct Notes<'a> {
    cluster: &'a TestCluster,
    seen: &'a RefCell<(String, Injected)>,
}

impl Drop for Notes<'_> {
    fn drop(&mut self) {
        *self.seen.borrow_mut() = (self.cluster.history().text(), self.cluster.conditions().injected());
    }
}

fn start<R>(cluster: &TestCluster, register: &R, last_write: u64) -> Operator
where
    R: Fn(&Manager) -> Result<()>,
{
    cluster.operator("operator").dies_after_write(last_write).run(register)
}

/// Waits until nothing changes any more.
async fn quiet(cluster: &TestCluster, began: Instant) -> Result<State, String> {
    let mut last = None;
    // A backoff doubles, so none is much longer than all that came before.
    let pause = QUIET.min(2 * began.elapsed() + SHORT);
    for _ in 0..PATIENCE {
        sleep(pause).await;
        let state = state_of(&cluster.client()).await;
        let state = state.map_err(|error| format!("the cluster cannot be read: {error}"))?;
        match last {
            Some(last) if last == state => return Ok(state),
            _ => last = Some(state),
        }
    }
    Err(format!("the cluster does not come to rest: {PATIENCE} times, it still changed within {pause:?}"))
}

/// Whether the operator has seen everything and has nothing left to do.
fn settled(operator: &Operator) -> Result<(), String> {
    let failing = |(name, result): (String, Result<(), String>)| Some((name, result.err()?));
    if let Some((check, reason)) = operator.manager().readiness().results().into_iter().find_map(failing) {
        return Err(format!("the operator is not ready in the end: {check}: {reason}"));
    }
    let metrics = operator.manager().metrics().encode();
    let waits = |line: &&str| line.starts_with("workqueue_depth{") && !line.ends_with(" 0");
    match metrics.lines().find(waits) {
        Some(line) => Err(format!("a queue is not empty in the end: {line}")),
        None => Ok(()),
    }
}

fn message_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}
