use std::{
    fmt,
    hash::Hash,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use kubewright_world::Random;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

use super::{FailingKey, Priority, QueueCore, QueueMetrics, QueueStats, RateLimiter};

/// A [`QueueCore`] that tasks share: adding never waits, taking waits for a key. Clones are the same queue.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// use kubewright_runtime::queue::{NORMAL_PRIORITY, RateLimiter, WorkQueue};
/// use kubewright_world::Random;
///
/// let queue = WorkQueue::new(RateLimiter::default(), Random::seeded(1));
/// queue.add("cart", NORMAL_PRIORITY);
/// queue.add("cart", NORMAL_PRIORITY);
///
/// let work = queue.get().await.expect("the queue is open");
/// assert_eq!(*work.key(), "cart");
/// drop(work); // The work is done.
/// assert!(queue.is_empty());
/// # }
/// ```
pub struct WorkQueue<K: Clone + Eq + Hash> {
    shared: Arc<Shared<K>>,
}

/// A key that a worker holds. Dropping it ends the work, also when the worker panics or is cancelled.
pub struct InFlight<K: Clone + Eq + Hash> {
    key: K,
    priority: Priority,
    shared: Arc<Shared<K>>,
}

struct Shared<K> {
    core: Mutex<QueueCore<K>>,
    /// Has a permit, or has woken a worker that has not yet looked, whenever there is something new for an idle
    /// worker: a ready key, or an earlier time to wait for.
    changed: Notify,
    /// Tells those who wait for the end of a drain that a worker is done.
    done: Notify,
}

// === impl WorkQueue ===

impl<K: Clone + Eq + Hash> WorkQueue<K> {
    /// An empty queue that measures nothing.
    #[must_use]
    pub fn new(limiter: RateLimiter, random: Random) -> Self {
        Self::from(QueueCore::new(limiter, random))
    }

    /// An empty queue that reports to `metrics`.
    #[must_use]
    pub fn with_metrics(limiter: RateLimiter, random: Random, metrics: Arc<dyn QueueMetrics>) -> Self {
        Self::from(QueueCore::new(limiter, random).with_metrics(metrics))
    }

    /// Makes `key` ready now. See [`QueueCore::add`].
    pub fn add(&self, key: K, priority: Priority) {
        self.lock().add(key, priority, Instant::now());
        self.shared.changed.notify_one();
    }

    /// Makes `key` ready after `delay`, unless it is to run earlier anyway. See [`QueueCore::add_after`].
    pub fn add_after(&self, key: K, delay: Duration, priority: Priority) {
        self.lock().add_after(key, delay, priority, Instant::now());
        self.shared.changed.notify_one();
    }

    /// Makes `key` ready after its backoff, which grows. See [`QueueCore::add_rate_limited`].
    pub fn add_rate_limited(&self, key: K, priority: Priority) {
        self.lock().add_rate_limited(key, priority, Instant::now());
        self.shared.changed.notify_one();
    }

    /// Forgets the failures of `key`. See [`QueueCore::forget`].
    pub fn forget(&self, key: &K) {
        self.lock().forget(key);
    }

    /// How often `key` has failed since it was last forgotten.
    #[must_use]
    pub fn failures(&self, key: &K) -> u32 {
        self.lock().failures(key)
    }

    /// Waits for a key and takes it; `None` after a shutdown, once nothing is left to hand out.
    ///
    /// Cancel safe: a key is either taken and returned, or still there for the next caller.
    pub async fn get(&self) -> Option<InFlight<K>> {
        loop {
            let mut changed = pin!(self.shared.changed.notified());
            // Listen before looking, so that no change falls between the two.
            changed.as_mut().enable();
            let due = {
                let mut core = self.lock();
                if let Some((key, priority)) = core.get(Instant::now()) {
                    // This call may have consumed a wake-up that was meant for what it does not take.
                    if core.ready() > 0 || core.next_due().is_some() {
                        self.shared.changed.notify_one();
                    }
                    return Some(InFlight { key, priority, shared: self.shared.clone() });
                }
                if core.is_finished() {
                    return None;
                }
                core.next_due()
            };
            match due {
                None => changed.await,
                Some(due) => tokio::select! {
                    biased;
                    () = changed => {}
                    () = sleep_until(due) => {}
                },
            }
        }
    }

    /// Takes no more keys; [`WorkQueue::get`] still hands out what is ready. Delayed keys are dropped.
    pub fn shut_down_with_drain(&self) {
        self.lock().shut_down_with_drain();
        self.shared.changed.notify_waiters();
        self.shared.done.notify_waiters();
    }

    /// Takes no more keys and hands out no more.
    pub fn shut_down(&self) {
        self.lock().shut_down();
        self.shared.changed.notify_waiters();
        self.shared.done.notify_waiters();
    }

    /// Waits until the queue is shut down, has nothing left to hand out, and no worker holds a key.
    pub async fn drained(&self) {
        loop {
            let mut done = pin!(self.shared.done.notified());
            done.as_mut().enable();
            {
                let core = self.lock();
                if core.is_finished() && core.in_flight() == 0 {
                    return;
                }
            }
            done.await;
        }
    }

    /// The number of ready keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().ready()
    }

    /// Whether no key is ready.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The present counts.
    #[must_use]
    pub fn stats(&self) -> QueueStats {
        self.lock().stats(Instant::now())
    }

    /// How long the key has been ready that has been so longest.
    #[must_use]
    pub fn oldest(&self) -> Option<Duration> {
        self.lock().oldest(Instant::now())
    }

    /// The keys that workers hold, and for how long.
    #[must_use]
    pub fn held(&self) -> Vec<(K, Duration)> {
        self.lock().held(Instant::now())
    }

    /// The keys that have failed since they were last forgotten. See [`QueueCore::failing`].
    #[must_use]
    pub fn failing(&self) -> Vec<FailingKey<K>> {
        self.lock().failing(Instant::now())
    }

    /// A handle that does not keep the queue in memory.
    pub(crate) fn downgrade(&self) -> WeakWorkQueue<K> {
        WeakWorkQueue { shared: Arc::downgrade(&self.shared) }
    }

    fn lock(&self) -> MutexGuard<'_, QueueCore<K>> {
        self.shared.lock()
    }
}

/// What [`WorkQueue::downgrade`] returns.
pub(crate) struct WeakWorkQueue<K> {
    shared: Weak<Shared<K>>,
}

impl<K: Clone + Eq + Hash> WeakWorkQueue<K> {
    /// The queue, if somebody still has it.
    pub(crate) fn upgrade(&self) -> Option<WorkQueue<K>> {
        Some(WorkQueue { shared: self.shared.upgrade()? })
    }
}

impl<K> Shared<K> {
    fn lock(&self) -> MutexGuard<'_, QueueCore<K>> {
        // Nothing of the core panics halfway but an allocation or a metrics sink; carry on after either.
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash> From<QueueCore<K>> for WorkQueue<K> {
    fn from(core: QueueCore<K>) -> Self {
        let shared = Shared { core: Mutex::new(core), changed: Notify::new(), done: Notify::new() };
        Self { shared: Arc::new(shared) }
    }
}

impl<K: Clone + Eq + Hash> Clone for WorkQueue<K> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<K: Clone + Eq + Hash> fmt::Debug for WorkQueue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lock().fmt(f)
    }
}

// === impl InFlight ===

impl<K: Clone + Eq + Hash> InFlight<K> {
    /// The key to work on.
    #[must_use]
    pub fn key(&self) -> &K {
        &self.key
    }

    /// The priority with which it was queued.
    #[must_use]
    pub fn priority(&self) -> Priority {
        self.priority
    }
}

impl<K: Clone + Eq + Hash> Drop for InFlight<K> {
    fn drop(&mut self) {
        let finished = {
            let mut core = self.shared.lock();
            core.done(&self.key, Instant::now());
            core.is_finished()
        };
        self.shared.changed.notify_one();
        self.shared.done.notify_waiters();
        if finished {
            // All workers that waited for the last held key of a drain must see that nothing comes any more.
            self.shared.changed.notify_waiters();
        }
    }
}

impl<K: Clone + Eq + Hash + fmt::Debug> fmt::Debug for InFlight<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFlight")
            .field("key", &self.key)
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{LOW_PRIORITY, NORMAL_PRIORITY};

    fn queue() -> WorkQueue<&'static str> {
        WorkQueue::new(RateLimiter::default(), Random::seeded(1))
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_worker_gets_a_delayed_key_on_time_and_an_earlier_one_earlier() {
        let queue = queue();
        let start = Instant::now();
        queue.add_after("cart", Duration::from_secs(60), NORMAL_PRIORITY);
        let worker = tokio::spawn({
            let queue = queue.clone();
            async move { queue.get().await.map(|work| (*work.key(), start.elapsed())) }
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
        queue.add_after("cart", Duration::from_secs(4), NORMAL_PRIORITY);
        assert_eq!(worker.await.expect("no panic"), Some(("cart", Duration::from_secs(5))));
        assert_eq!(queue.stats().waiting, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_drain_hands_out_what_is_ready_and_waits_for_the_held_key() {
        let queue = queue();
        queue.add("one", NORMAL_PRIORITY);
        queue.add("two", LOW_PRIORITY);
        queue.add_after("later", Duration::from_secs(1), NORMAL_PRIORITY);
        let one = queue.get().await.expect("a key");
        queue.add("one", NORMAL_PRIORITY);
        queue.shut_down_with_drain();
        queue.add("three", NORMAL_PRIORITY);

        let two = queue.get().await.expect("a key");
        assert_eq!((*one.key(), *two.key()), ("one", "two"));
        let end = tokio::spawn({
            let queue = queue.clone();
            async move {
                // "one" was added while it was held: it comes once more, then nothing.
                let again = queue.get().await.map(|work| *work.key());
                (again, queue.get().await.is_none())
            }
        });
        drop(two);
        drop(one);
        assert_eq!(end.await.expect("no panic"), (Some("one"), true));
        queue.drained().await;
    }

    #[tokio::test(start_paused = true)]
    async fn it_tells_what_is_ready_held_and_failing() {
        let queue = queue();
        assert_eq!((queue.oldest(), queue.held(), queue.failing()), (None, vec![], vec![]));
        queue.add("one", NORMAL_PRIORITY);
        queue.add("two", LOW_PRIORITY);
        tokio::time::sleep(Duration::from_secs(2)).await;
        let one = queue.get().await.expect("a key");
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert_eq!(queue.held(), [("one", Duration::from_secs(3))]);
        assert_eq!(queue.oldest(), Some(Duration::from_secs(5)), "that of two");

        queue.add_rate_limited("one", NORMAL_PRIORITY);
        drop(one);
        let failing = queue.failing();
        assert_eq!((failing.len(), failing[0].key, failing[0].failures), (1, "one", 1));
        assert!(failing[0].due.is_some_and(|due| !due.is_zero() && due < Duration::from_secs(1)));
        queue.forget(&"one");
        assert_eq!(queue.failing(), []);
    }

    #[tokio::test(start_paused = true)]
    async fn an_immediate_shutdown_ends_all_workers() {
        let queue = queue();
        let workers: Vec<_> = (0..3)
            .map(|_| {
                let queue = queue.clone();
                tokio::spawn(async move { queue.get().await.is_none() })
            })
            .collect();
        tokio::task::yield_now().await;
        queue.shut_down();
        queue.add("late", NORMAL_PRIORITY);
        for worker in workers {
            assert!(worker.await.expect("no panic"));
        }
        queue.drained().await;
    }
}
