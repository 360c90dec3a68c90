use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap, VecDeque},
    fmt,
    hash::Hash,
    sync::Arc,
    time::Duration,
};

use kubewright_world::Random;
use tokio::time::Instant;

use super::{NoQueueMetrics, Priority, QueueMetrics, RateLimiter};

/// Of the hand-overs at which keys of several priorities are ready, every one in this many goes to the key
/// that has been ready longest, whatever its priority. This is what keeps a low priority from starving.
const TURN_OF_THE_OLDEST: u32 = 8;

/// A work queue as a synchronous structure: no lock, no timer, no waiting. The caller tells the time.
///
/// For each key it keeps at most one pending run. Adding a key that is pending moves that run to the earlier
/// of the two times and the higher of the two priorities. A key that a worker holds is never handed out; a
/// run that comes due meanwhile starts after [`QueueCore::done`].
///
/// Every operation costs a hash of the key plus at most the logarithm of the number of delayed keys.
pub struct QueueCore<K> {
    /// Where each known key lives in `entries`. Looked up, never iterated, so its order cannot reach behaviour.
    index: HashMap<K, Slot>,
    entries: Vec<Entry<K>>,
    free: Vec<Slot>,
    lanes: BTreeMap<Reverse<Priority>, Lane>,
    waiting: BTreeMap<(Instant, u64), Slot>,
    in_flight: Vec<Slot>,
    /// Numbers what becomes ready or waits. A number found in a lane that is no longer its entry's is stale.
    next_number: u64,
    contended: u32,
    phase: Phase,
    limiter: RateLimiter,
    random: Random,
    metrics: Arc<dyn QueueMetrics>,
}

/// Counts of a queue at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueStats {
    /// Keys that a worker could take now.
    pub ready: usize,
    /// Keys that wait for their time.
    pub waiting: usize,
    /// Keys that workers hold.
    pub in_flight: usize,
    /// The time that the held keys have been held so far, summed (`workqueue_unfinished_work_seconds`).
    pub unfinished: Duration,
    /// The longest of these times (`workqueue_longest_running_processor_seconds`).
    pub longest: Duration,
}

/// How it stands about a key that has failed. Made by [`QueueCore::failing`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailingKey<K> {
    /// The key.
    pub key: K,
    /// How often it has failed since it was last forgotten.
    pub failures: u32,
    /// How long until it runs again: nothing if it could run now, `None` if it does not wait for a run.
    pub due: Option<Duration>,
}

type Slot = usize;

struct Entry<K> {
    key: K,
    pending: Pending,
    held: Option<Held>,
    failures: u32,
    /// When the backoff after the last failure ends. An event may start a run before it.
    backoff_until: Option<Instant>,
}

/// The one run that is to come for a key.
#[derive(Clone, Copy, Debug)]
enum Pending {
    None,
    /// In the lane of its priority, under this number.
    Ready {
        number: u64,
        since: Instant,
        priority: Priority,
    },
    /// In `waiting`, under this time and number.
    Waiting {
        at: Instant,
        number: u64,
        priority: Priority,
    },
    /// Ready as soon as the worker that holds the key is done.
    Dirty {
        since: Instant,
        priority: Priority,
    },
}

#[derive(Clone, Copy, Debug)]
struct Held {
    since: Instant,
    /// The place in `in_flight`.
    place: usize,
}

/// The ready keys of one priority, in order. Stale elements are dropped when they reach the front.
#[derive(Default)]
struct Lane {
    queue: VecDeque<(u64, Slot)>,
    live: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// Takes nothing more, hands out what is ready.
    Draining,
    /// Takes nothing and hands out nothing.
    Stopped,
}

// === impl QueueCore ===

impl<K: Clone + Eq + Hash> QueueCore<K> {
    /// An empty queue. Jitter is drawn from `random`.
    #[must_use]
    pub fn new(limiter: RateLimiter, random: Random) -> Self {
        Self {
            index: HashMap::new(),
            entries: Vec::new(),
            free: Vec::new(),
            lanes: BTreeMap::new(),
            waiting: BTreeMap::new(),
            in_flight: Vec::new(),
            next_number: 0,
            contended: 0,
            phase: Phase::Open,
            limiter,
            random,
            metrics: Arc::new(NoQueueMetrics),
        }
    }

    /// Reports to `metrics` from now on.
    #[must_use]
    pub fn with_metrics(mut self, metrics: Arc<dyn QueueMetrics>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Makes `key` ready now. Does nothing after a shutdown.
    pub fn add(&mut self, key: K, priority: Priority, now: Instant) {
        if self.phase == Phase::Open {
            let slot = self.slot(key);
            self.schedule(slot, now, priority, now);
        }
    }

    /// Makes `key` ready after `delay`, unless it is to run earlier anyway.
    pub fn add_after(&mut self, key: K, delay: Duration, priority: Priority, now: Instant) {
        if self.phase == Phase::Open {
            if !delay.is_zero() {
                self.metrics.retried();
            }
            let slot = self.slot(key);
            self.schedule(slot, later(now, delay), priority, now);
        }
    }

    /// Makes `key` ready after its backoff, which this call makes longer.
    ///
    /// If an event let the key run before an earlier backoff was over, then a failure of that run says nothing
    /// new: the backoff does not grow, and its end stays where it was. So a stream of events cannot push a
    /// failing key to the longest delay within moments.
    pub fn add_rate_limited(&mut self, key: K, priority: Priority, now: Instant) {
        if self.phase != Phase::Open {
            return;
        }
        self.metrics.retried();
        let slot = self.slot(key);
        let entry = &mut self.entries[slot];
        let until = match entry.backoff_until {
            Some(until) if until > now => until,
            _ => {
                let delay = self.limiter.delay(entry.failures, &self.random, now);
                entry.failures = entry.failures.saturating_add(1);
                let until = later(now, delay);
                entry.backoff_until = Some(until);
                until
            }
        };
        self.schedule(slot, until, priority, now);
    }

    /// Forgets the failures of `key`: its next backoff is the shortest. Does not touch a pending run.
    pub fn forget(&mut self, key: &K) {
        if let Some(&slot) = self.index.get(key) {
            let entry = &mut self.entries[slot];
            entry.failures = 0;
            entry.backoff_until = None;
            self.release(slot);
        }
    }

    /// How often `key` has failed since it was last forgotten.
    #[must_use]
    pub fn failures(&self, key: &K) -> u32 {
        self.index.get(key).map_or(0, |&slot| self.entries[slot].failures)
    }

    /// Hands out the next ready key with the priority it had; the caller holds it until [`QueueCore::done`].
    pub fn get(&mut self, now: Instant) -> Option<(K, Priority)> {
        if self.phase == Phase::Stopped {
            return None;
        }
        self.advance(now);
        let (slot, since, priority) = self.pop()?;
        self.metrics.waited(now.saturating_duration_since(since));
        let place = self.in_flight.len();
        self.in_flight.push(slot);
        let entry = &mut self.entries[slot];
        entry.pending = Pending::None;
        entry.held = Some(Held { since: now, place });
        Some((entry.key.clone(), priority))
    }

    /// Ends the work on `key`. A run that came due meanwhile becomes ready. Does nothing if nobody holds `key`.
    pub fn done(&mut self, key: &K, now: Instant) {
        let Some(&slot) = self.index.get(key) else { return };
        let Some(held) = self.entries[slot].held.take() else { return };
        self.metrics.worked(now.saturating_duration_since(held.since));
        self.in_flight.swap_remove(held.place);
        if let Some(&moved) = self.in_flight.get(held.place)
            && let Some(other) = &mut self.entries[moved].held
        {
            other.place = held.place;
        }
        if let Pending::Dirty { since, priority } = self.entries[slot].pending {
            self.enter_lane(slot, since, priority);
        }
        self.release(slot);
    }

    /// When the next delayed key comes due, if one waits.
    #[must_use]
    pub fn next_due(&self) -> Option<Instant> {
        self.waiting.first_key_value().map(|(&(at, _), _)| at)
    }

    /// The number of ready keys of this priority.
    #[must_use]
    pub fn depth(&self, priority: Priority) -> usize {
        self.lanes.get(&Reverse(priority)).map_or(0, |lane| lane.live)
    }

    /// The number of ready keys. Delayed keys that came due count after the next add or get.
    #[must_use]
    pub fn ready(&self) -> usize {
        self.lanes.values().map(|lane| lane.live).sum()
    }

    /// The number of keys that are held.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// The present counts. Costs a look at each held key.
    #[must_use]
    pub fn stats(&self, now: Instant) -> QueueStats {
        let held = |slot: &Slot| {
            let since = self.entries[*slot].held.map_or(now, |held| held.since);
            now.saturating_duration_since(since)
        };
        QueueStats {
            ready: self.ready(),
            waiting: self.waiting.len(),
            in_flight: self.in_flight.len(),
            unfinished: self.in_flight.iter().map(held).sum(),
            longest: self.in_flight.iter().map(held).max().unwrap_or_default(),
        }
    }

    /// How long the key has been ready that has been so longest.
    #[must_use]
    pub fn oldest(&self, now: Instant) -> Option<Duration> {
        // Within a lane by number, which is not by time: a key keeps its time when it changes the lane.
        let ready = self.lanes.values().flat_map(|lane| lane.queue.iter());
        let since = ready.filter_map(|&(number, slot)| match self.entries[slot].pending {
            Pending::Ready { number: current, since, .. } if current == number => Some(since),
            _ => None,
        });
        since.min().map(|since| now.saturating_duration_since(since))
    }

    /// The keys that workers hold, and for how long.
    #[must_use]
    pub fn held(&self, now: Instant) -> Vec<(K, Duration)> {
        let held = self.in_flight.iter().filter_map(|&slot| {
            let entry = &self.entries[slot];
            Some((entry.key.clone(), now.saturating_duration_since(entry.held?.since)))
        });
        held.collect()
    }

    /// The keys that have failed since they were last forgotten, in no order. Looks at every known key.
    #[must_use]
    pub fn failing(&self, now: Instant) -> Vec<FailingKey<K>> {
        // What was released has no failures.
        let failing = self.entries.iter().filter(|entry| entry.failures > 0);
        let failing = failing.map(|entry| {
            let due = match entry.pending {
                Pending::None => None,
                Pending::Ready { .. } | Pending::Dirty { .. } => Some(Duration::ZERO),
                Pending::Waiting { at, .. } => Some(at.saturating_duration_since(now)),
            };
            FailingKey { key: entry.key.clone(), failures: entry.failures, due }
        });
        failing.collect()
    }

    /// Takes no more keys and drops the delayed ones, but still hands out what is ready, including keys that
    /// are held now and were added again.
    pub fn shut_down_with_drain(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Draining;
            for (_, slot) in std::mem::take(&mut self.waiting) {
                self.entries[slot].pending = Pending::None;
                self.release(slot);
            }
        }
    }

    /// Takes no more keys and hands out no more: what is pending is dropped.
    pub fn shut_down(&mut self) {
        self.shut_down_with_drain();
        self.phase = Phase::Stopped;
        for (priority, _) in std::mem::take(&mut self.lanes) {
            self.metrics.depth(priority.0, 0);
        }
        for slot in 0..self.entries.len() {
            self.entries[slot].pending = Pending::None;
        }
    }

    /// Whether [`QueueCore::get`] will never again hand out a key.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        match self.phase {
            Phase::Open => false,
            Phase::Draining => {
                self.lanes.is_empty()
                    && !self
                        .in_flight
                        .iter()
                        .any(|&slot| matches!(self.entries[slot].pending, Pending::Dirty { .. }))
            }
            Phase::Stopped => true,
        }
    }

    /// Makes the delayed keys whose time has come ready, in the order of their times.
    fn advance(&mut self, now: Instant) {
        while let Some(first) = self.waiting.first_entry()
            && first.key().0 <= now
        {
            let slot = first.remove();
            let Pending::Waiting { at, priority, .. } = self.entries[slot].pending else { continue };
            self.come_due(slot, at, priority);
        }
    }

    /// Moves the pending run of an entry to the earlier time and the higher priority.
    fn schedule(&mut self, slot: Slot, at: Instant, priority: Priority, now: Instant) {
        // Keys that came due before this add are before it in the order.
        self.advance(now);
        let due = at <= now;
        match self.entries[slot].pending {
            Pending::None if due => self.come_due(slot, now, priority),
            Pending::None => self.wait(slot, at, priority),
            Pending::Waiting { at: old_at, number, priority: old } => {
                let priority = old.max(priority);
                if due {
                    self.waiting.remove(&(old_at, number));
                    self.come_due(slot, now, priority);
                } else if at < old_at {
                    self.waiting.remove(&(old_at, number));
                    self.wait(slot, at, priority);
                } else {
                    self.entries[slot].pending = Pending::Waiting { at: old_at, number, priority };
                }
            }
            Pending::Ready { since, priority: old, .. } if priority > old => {
                self.leave_lane(old);
                // It goes to the end of its new lane, so it does not overtake those that were as urgent before.
                self.enter_lane(slot, since, priority);
            }
            Pending::Dirty { since, priority: old } if priority > old => {
                self.entries[slot].pending = Pending::Dirty { since, priority };
            }
            Pending::Ready { .. } | Pending::Dirty { .. } => {}
        }
    }

    /// Makes an entry ready, or dirty if its key is held.
    fn come_due(&mut self, slot: Slot, since: Instant, priority: Priority) {
        self.metrics.added();
        if self.entries[slot].held.is_some() {
            self.entries[slot].pending = Pending::Dirty { since, priority };
        } else {
            self.enter_lane(slot, since, priority);
        }
    }

    fn wait(&mut self, slot: Slot, at: Instant, priority: Priority) {
        let number = self.number();
        self.waiting.insert((at, number), slot);
        self.entries[slot].pending = Pending::Waiting { at, number, priority };
    }

    fn enter_lane(&mut self, slot: Slot, since: Instant, priority: Priority) {
        let number = self.number();
        let lane = self.lanes.entry(Reverse(priority)).or_default();
        lane.queue.push_back((number, slot));
        lane.live += 1;
        self.metrics.depth(priority, lane.live);
        self.entries[slot].pending = Pending::Ready { number, since, priority };
    }

    /// Counts one key less in a lane; its element there becomes stale or was popped.
    fn leave_lane(&mut self, priority: Priority) {
        if let Some(lane) = self.lanes.get_mut(&Reverse(priority)) {
            lane.live = lane.live.saturating_sub(1);
            self.metrics.depth(priority, lane.live);
            if lane.live == 0 {
                self.lanes.remove(&Reverse(priority));
            }
        }
    }

    /// Takes the next ready entry out of its lane.
    fn pop(&mut self) -> Option<(Slot, Instant, Priority)> {
        let first = self.lanes.first_key_value().map(|(&priority, _)| priority)?;
        let mut chosen = first;
        if self.lanes.len() > 1 {
            self.contended = (self.contended + 1) % TURN_OF_THE_OLDEST;
            if self.contended == 0 {
                let entries = &self.entries;
                let front = |(priority, lane): (&Reverse<Priority>, &mut Lane)| {
                    Some((lane.front(entries)?.0, *priority))
                };
                chosen =
                    self.lanes.iter_mut().filter_map(front).min().map_or(first, |(_, priority)| priority);
            }
        }
        let lane = self.lanes.get_mut(&chosen)?;
        let (_, slot) = lane.front(&self.entries)?;
        lane.queue.pop_front();
        self.leave_lane(chosen.0);
        match self.entries[slot].pending {
            Pending::Ready { since, priority, .. } => Some((slot, since, priority)),
            _ => None,
        }
    }

    fn slot(&mut self, key: K) -> Slot {
        if let Some(&slot) = self.index.get(&key) {
            return slot;
        }
        let entry =
            Entry { key: key.clone(), pending: Pending::None, held: None, failures: 0, backoff_until: None };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.entries[slot] = entry;
                slot
            }
            None => {
                self.entries.push(entry);
                self.entries.len() - 1
            }
        };
        self.index.insert(key, slot);
        slot
    }

    /// Forgets an entry about which there is nothing left to know.
    fn release(&mut self, slot: Slot) {
        let entry = &self.entries[slot];
        if matches!(entry.pending, Pending::None)
            && entry.held.is_none()
            && entry.failures == 0
            && self.index.remove(&entry.key).is_some()
        {
            self.free.push(slot);
        }
    }

    /// The number of known keys, and of slots that were ever needed at once.
    #[cfg(test)]
    pub(super) fn entries_for_test(&self) -> (usize, usize) {
        (self.index.len(), self.entries.len())
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }
}

impl<K> fmt::Debug for QueueCore<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueCore")
            .field("ready", &self.lanes.values().map(|lane| lane.live).sum::<usize>())
            .field("waiting", &self.waiting.len())
            .field("in_flight", &self.in_flight.len())
            .finish_non_exhaustive()
    }
}

// === impl Lane ===

impl Lane {
    /// The first element that is not stale.
    fn front<K>(&mut self, entries: &[Entry<K>]) -> Option<(u64, Slot)> {
        while let Some(&(number, slot)) = self.queue.front() {
            if matches!(entries[slot].pending, Pending::Ready { number: current, .. } if current == number) {
                return Some((number, slot));
            }
            self.queue.pop_front();
        }
        None
    }
}

/// `now + delay`, or a time that no process lives to see.
fn later(now: Instant, delay: Duration) -> Instant {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    now + delay.min(CENTURY)
}
