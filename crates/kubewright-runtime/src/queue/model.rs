//! Tests of the queue against its description: a model that is too slow and too simple to be wrong, and every
//! schedule of a few tasks.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use kubewright_world::Random;
use proptest::prelude::*;
use tokio::time::Instant;

use super::{Backoff, InFlight, NORMAL_PRIORITY, Priority, QueueCore, RateLimiter, WorkQueue};

type Key = u8;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Add(Key, Priority),
    AddAfter(Key, u64, Priority),
    AddRateLimited(Key, Priority),
    Forget(Key),
    Get,
    /// Ends the work on the n-th held key.
    Done(usize),
    /// Lets milliseconds pass.
    Pass(u64),
    Drain,
}

fn operation() -> impl Strategy<Value = Operation> {
    let key = 0..6_u8;
    let priority = prop_oneof![Just(-100), Just(0), Just(0), Just(7)];
    prop_oneof![
        4 => (key.clone(), priority.clone()).prop_map(|(key, priority)| Operation::Add(key, priority)),
        3 => (key.clone(), 0..50_u64, priority.clone()).prop_map(|(key, delay, p)| Operation::AddAfter(key, delay, p)),
        3 => (key.clone(), priority).prop_map(|(key, priority)| Operation::AddRateLimited(key, priority)),
        1 => key.prop_map(Operation::Forget),
        6 => Just(Operation::Get),
        4 => (0..4_usize).prop_map(Operation::Done),
        4 => (0..30_u64).prop_map(Operation::Pass),
    ]
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    (prop::collection::vec(operation(), 0..120), any::<bool>()).prop_map(|(mut operations, drain)| {
        if drain {
            operations.push(Operation::Drain);
            operations.extend([Operation::Add(1, 0), Operation::Done(0), Operation::Get, Operation::Get]);
        }
        operations
    })
}

/// The queue, described by lists that are searched from end to end. Times are milliseconds.
#[derive(Default)]
struct Model {
    now: u64,
    turn: u32,
    draining: bool,
    /// In the order of becoming ready.
    ready: Vec<(Key, Priority)>,
    /// In the order of being added.
    waiting: Vec<(u64, Key, Priority)>,
    dirty: BTreeMap<Key, Priority>,
    held: Vec<Key>,
    failures: BTreeMap<Key, u32>,
    until: BTreeMap<Key, u64>,
}

impl Model {
    fn add_at(&mut self, key: Key, at: u64, priority: Priority) {
        if self.draining {
            return;
        }
        self.advance();
        if let Some(place) = self.ready.iter().position(|&(other, _)| other == key) {
            if priority > self.ready[place].1 {
                self.ready.remove(place);
                self.ready.push((key, priority));
            }
        } else if let Some(dirty) = self.dirty.get_mut(&key) {
            *dirty = priority.max(*dirty);
        } else if let Some(place) = self.waiting.iter().position(|&(_, other, _)| other == key) {
            let (old_at, _, old) = self.waiting[place];
            let priority = old.max(priority);
            if at < old_at {
                self.waiting.remove(place);
                self.enter(key, at, priority);
            } else {
                self.waiting[place].2 = priority;
            }
        } else {
            self.enter(key, at, priority);
        }
    }

    fn enter(&mut self, key: Key, at: u64, priority: Priority) {
        if at > self.now {
            self.waiting.push((at, key, priority));
        } else if self.held.contains(&key) {
            self.dirty.insert(key, priority);
        } else {
            self.ready.push((key, priority));
        }
    }

    fn add_rate_limited(&mut self, key: Key, priority: Priority) {
        if self.draining {
            return;
        }
        let until = match self.until.get(&key) {
            Some(&until) if until > self.now => until,
            _ => {
                let failures = self.failures.entry(key).or_default();
                let until = self.now + (5 << *failures);
                *failures += 1;
                self.until.insert(key, until);
                until
            }
        };
        self.add_at(key, until, priority);
    }

    fn advance(&mut self) {
        self.waiting.sort_by_key(|&(at, ..)| at);
        while self.waiting.first().is_some_and(|&(at, ..)| at <= self.now) {
            let (at, key, priority) = self.waiting.remove(0);
            self.enter(key, at, priority);
        }
    }

    fn get(&mut self) -> Option<(Key, Priority)> {
        self.advance();
        let priorities: BTreeSet<_> = self.ready.iter().map(|&(_, priority)| priority).collect();
        let highest = priorities.last()?;
        let mut place = self.ready.iter().position(|(_, priority)| priority == highest)?;
        if priorities.len() > 1 {
            self.turn += 1;
            if self.turn.is_multiple_of(8) {
                place = 0;
            }
        }
        let (key, priority) = self.ready.remove(place);
        self.held.push(key);
        Some((key, priority))
    }

    fn done(&mut self, key: Key) {
        self.held.retain(|&other| other != key);
        if let Some(priority) = self.dirty.remove(&key) {
            self.ready.push((key, priority));
        }
    }
}

fn limiter() -> RateLimiter {
    let backoff = Backoff::new(Duration::from_millis(5), Duration::from_secs(1000)).with_jitter(0.0);
    RateLimiter::new(backoff)
}

fn run(operations: &[Operation]) -> Result<(), TestCaseError> {
    let start = Instant::now();
    let mut queue = QueueCore::new(limiter(), Random::seeded(1));
    let mut model = Model::default();
    let time = |model: &Model| start + Duration::from_millis(model.now);
    for &operation in operations {
        let now = time(&model);
        match operation {
            Operation::Add(key, priority) => {
                queue.add(key, priority, now);
                model.add_at(key, model.now, priority);
            }
            Operation::AddAfter(key, delay, priority) => {
                queue.add_after(key, Duration::from_millis(delay), priority, now);
                model.add_at(key, model.now + delay, priority);
            }
            Operation::AddRateLimited(key, priority) => {
                queue.add_rate_limited(key, priority, now);
                model.add_rate_limited(key, priority);
            }
            Operation::Forget(key) => {
                queue.forget(&key);
                model.failures.remove(&key);
                model.until.remove(&key);
            }
            Operation::Get => {
                let (got, expected) = (queue.get(now), model.get());
                prop_assert_eq!(got, expected);
                let held: BTreeSet<_> = model.held.iter().collect();
                prop_assert_eq!(held.len(), model.held.len(), "a key is held twice");
            }
            Operation::Done(place) => {
                if let Some(&key) = model.held.get(place) {
                    queue.done(&key, now);
                    model.done(key);
                }
            }
            Operation::Pass(milliseconds) => model.now += milliseconds,
            Operation::Drain => {
                queue.shut_down_with_drain();
                model.draining = true;
                model.waiting.clear();
            }
        }
        let due = model.waiting.iter().map(|&(at, ..)| start + Duration::from_millis(at)).min();
        prop_assert_eq!(queue.next_due(), due);
        let stats = queue.stats(time(&model));
        let counts = (stats.ready, stats.waiting, stats.in_flight);
        prop_assert_eq!(counts, (model.ready.len(), model.waiting.len(), model.held.len()));
        for key in 0..6 {
            prop_assert_eq!(queue.failures(&key), model.failures.get(&key).copied().unwrap_or_default());
        }
    }
    // Whatever has happened, every pending key comes out once the workers are done and time has passed.
    for key in std::mem::take(&mut model.held) {
        queue.done(&key, time(&model));
        model.done(key);
    }
    let mut pending: BTreeSet<Key> = model.ready.iter().map(|&(key, _)| key).collect();
    pending.extend(model.waiting.iter().map(|&(_, key, _)| key));
    let end = start + Duration::from_secs(10_000);
    while let Some((key, _)) = queue.get(end) {
        prop_assert!(pending.remove(&key), "{} came out twice or without being added", key);
        queue.done(&key, end);
    }
    prop_assert!(pending.is_empty(), "never came out: {:?}", pending);
    prop_assert_eq!(queue.is_finished(), model.draining);
    Ok(())
}

proptest! {
    #[test]
    fn the_queue_does_what_the_model_does(operations in operations()) {
        run(&operations)?;
    }
}

#[test]
fn a_low_priority_key_is_served_while_a_hot_key_never_rests() {
    let now = Instant::now();
    let mut queue = QueueCore::new(limiter(), Random::seeded(1));
    queue.add(0_u32, NORMAL_PRIORITY, now);
    for key in 1..=10 {
        queue.add(key, -100, now);
    }
    let mut served = Vec::new();
    for _ in 0..80 {
        let Some((key, priority)) = queue.get(now) else { break };
        if key != 0 {
            served.push(key);
        }
        queue.done(&key, now);
        if priority == NORMAL_PRIORITY {
            queue.add(key, priority, now);
        }
    }
    // The hot key itself is the oldest ready key at first; from then on every eighth turn is a waiting key's.
    assert_eq!(served, (1..=10).collect::<Vec<_>>());
}

#[test]
fn an_event_during_backoff_is_not_a_failure() {
    let start = Instant::now();
    let at = |milliseconds| start + Duration::from_millis(milliseconds);
    let mut queue = QueueCore::new(limiter(), Random::seeded(1));
    for _ in 0..10 {
        queue.add_rate_limited("cart", NORMAL_PRIORITY, start);
        queue.add("cart", NORMAL_PRIORITY, start);
        assert!(queue.get(start).is_some(), "an event runs at once");
        queue.done(&"cart", start);
    }
    queue.add_rate_limited("cart", NORMAL_PRIORITY, at(4));
    assert_eq!(queue.failures(&"cart"), 1);
    assert_eq!(queue.next_due(), Some(at(5)), "the first backoff goes on");
    assert!(queue.get(at(5)).is_some());
    queue.done(&"cart", at(5));
    queue.add_rate_limited("cart", NORMAL_PRIORITY, at(5));
    assert_eq!((queue.failures(&"cart"), queue.next_due()), (2, Some(at(15))));
}

#[test]
fn a_key_about_which_nothing_is_left_to_know_takes_no_memory() {
    let now = Instant::now();
    let mut queue = QueueCore::new(limiter(), Random::seeded(1));
    for key in 0..1000_u32 {
        queue.add(key, NORMAL_PRIORITY, now);
        queue.get(now);
        queue.done(&key, now);
        queue.add_rate_limited(key, NORMAL_PRIORITY, now);
        queue.get(now + Duration::from_secs(1));
        queue.forget(&key);
        queue.done(&key, now);
    }
    assert_eq!(queue.entries_for_test(), (0, 1));
}

// === every schedule ===

/// Tells whether a task was woken since it last ran.
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

type GetFuture = Pin<Box<dyn Future<Output = Option<InFlight<Key>>>>>;

struct Worker {
    get: Option<GetFuture>,
    held: Option<InFlight<Key>>,
    woken: Arc<Flag>,
    /// Gives up once while it waits, as a task that is aborted.
    cancels: bool,
    ended: bool,
}

#[derive(Clone, Copy)]
enum Step {
    Produce,
    Worker(usize),
    Cancel(usize),
}

/// Runs one schedule: at each point `choose(n)` picks which of the n possible steps comes next.
///
/// Panics if a key is held twice, if a key is not handed out after its last add, or if a worker does not end.
async fn run_schedule(producer: &[Operation], cancels: bool, mut choose: impl FnMut(usize) -> usize) {
    let queue: WorkQueue<Key> = WorkQueue::new(limiter(), Random::seeded(1));
    let mut produced = 0;
    // For each key, whether it was handed out since it was last added.
    let mut served: BTreeMap<Key, bool> = BTreeMap::new();
    let worker = |cancels| Worker {
        get: None,
        held: None,
        woken: Arc::new(Flag(AtomicBool::new(true))),
        cancels,
        ended: false,
    };
    let mut workers = [worker(cancels), worker(false)];
    let mut idle_time = 0;
    loop {
        let mut steps = Vec::new();
        if produced < producer.len() {
            steps.push(Step::Produce);
        }
        for (place, worker) in workers.iter().enumerate() {
            if !worker.ended && (worker.held.is_some() || worker.woken.0.load(Ordering::SeqCst)) {
                steps.push(Step::Worker(place));
            }
            if worker.cancels && worker.get.is_some() {
                steps.push(Step::Cancel(place));
            }
        }
        if steps.is_empty() {
            // Nothing moves by itself: let time pass, first for delayed keys, then end.
            if idle_time < 3 {
                idle_time += 1;
                tokio::time::advance(Duration::from_millis(10)).await;
                continue;
            }
            break;
        }
        match steps[choose(steps.len())] {
            Step::Produce => {
                match producer[produced] {
                    Operation::Add(key, priority) => {
                        queue.add(key, priority);
                        served.insert(key, false);
                    }
                    Operation::AddAfter(key, delay, priority) => {
                        queue.add_after(key, Duration::from_millis(delay), priority);
                        served.insert(key, false);
                    }
                    Operation::Drain => queue.shut_down_with_drain(),
                    _ => unreachable!("not an operation of a producer"),
                }
                produced += 1;
            }
            Step::Cancel(place) => {
                workers[place].get = None;
                workers[place].cancels = false;
                workers[place].ended = true;
            }
            Step::Worker(place) if workers[place].held.is_some() => {
                workers[place].held = None;
                workers[place].woken.0.store(true, Ordering::SeqCst);
            }
            Step::Worker(place) => {
                let worker = &mut workers[place];
                worker.woken.0.store(false, Ordering::SeqCst);
                let queue = queue.clone();
                let get = worker.get.get_or_insert_with(|| Box::pin(async move { queue.get().await }));
                let waker = Waker::from(worker.woken.clone());
                if let Poll::Ready(work) = get.as_mut().poll(&mut Context::from_waker(&waker)) {
                    worker.get = None;
                    worker.ended = work.is_none();
                    worker.held = work;
                    if let Some(key) = workers[place].held.as_ref().map(|work| *work.key()) {
                        served.insert(key, true);
                        let holders = workers.iter().filter_map(|worker| worker.held.as_ref());
                        assert_eq!(
                            holders.filter(|work| *work.key() == key).count(),
                            1,
                            "{key} is held twice"
                        );
                    }
                }
            }
        }
    }
    let drained = producer.iter().any(|operation| matches!(operation, Operation::Drain));
    assert!(served.values().all(|&served| served), "an added key was not handed out: {served:?}");
    assert_eq!(workers.iter().all(|worker| worker.ended), drained, "workers end exactly after a drain");
}

/// Runs all schedules, depth first, and returns how many there are.
fn every_schedule(producer: &[Operation], cancels: bool) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    let mut path: Vec<(usize, usize)> = Vec::new();
    let mut count = 0;
    loop {
        let mut depth = 0;
        runtime.block_on(run_schedule(producer, cancels, |options| {
            if depth == path.len() {
                path.push((0, options));
            }
            depth += 1;
            path[depth - 1].0
        }));
        count += 1;
        // Go back to the last point with an option not yet taken.
        while path.last().is_some_and(|&(taken, options)| taken + 1 == options) {
            path.pop();
        }
        match path.last_mut() {
            Some(last) => last.0 += 1,
            None => return count,
        }
    }
}

#[test]
fn no_schedule_of_two_workers_loses_a_wake_up() {
    use Operation::{Add, AddAfter, Drain};
    assert!(every_schedule(&[Add(1, 0), Add(2, 0), Add(1, 0)], false) > 100);
    assert!(every_schedule(&[AddAfter(1, 10, 0), Add(2, 0), AddAfter(3, 5, 0)], false) > 100);
    assert!(every_schedule(&[Add(1, 0), Add(1, 0), AddAfter(1, 10, 0)], false) > 100);
    assert!(every_schedule(&[Add(1, 0), Add(2, 0), Drain], false) > 100);
}

#[test]
fn no_schedule_with_a_cancelled_worker_loses_a_key() {
    use Operation::{Add, AddAfter};
    assert!(every_schedule(&[Add(1, 0), Add(2, 0), Add(1, 0)], true) > 100);
    assert!(every_schedule(&[AddAfter(1, 10, 0), Add(2, 0)], true) > 100);
}
