//! The work queue: hand-overs per second, alone and with many keys in flight.

use std::time::{Duration, Instant};

use futures::{StreamExt, stream};
use kube::runtime::scheduler::{ScheduleRequest, debounced_scheduler};
use kubewright_runtime::{
    Request,
    queue::{Backoff, NORMAL_PRIORITY, RateLimiter, WorkQueue},
};
use kubewright_world::Random;

use crate::report::{Row, Unit};

const KEYS: usize = 200_000;

pub(crate) async fn measure() -> Vec<Row> {
    let mut rows = Vec::new();
    let peer = kube_scheduler(KEYS).await;
    rows.push(
        Row::new("queue: add + get + done", cycles(0).await, Unit::PerSecond)
            .beside("kube-runtime's scheduler, add + get", peer),
    );
    for in_flight in [1_000, 20_000] {
        let what = format!("queue: add + get + done, {in_flight} keys in flight");
        rows.push(Row::new(what, cycles(in_flight).await, Unit::PerSecond));
    }
    rows
}

/// Hand-overs per second while `in_flight` other keys are held by workers.
async fn cycles(in_flight: usize) -> f64 {
    let queue = WorkQueue::new(RateLimiter::new(Backoff::default()), Random::seeded(1));
    let mut held = Vec::new();
    for index in 0..in_flight {
        queue.add(key("held", index), NORMAL_PRIORITY);
        held.extend(queue.get().await);
    }
    let keys: Vec<Request> = (0..KEYS).map(|index| key("key", index)).collect();
    let started = Instant::now();
    // In batches, so that the queue is neither always empty nor ever growing.
    for batch in keys.chunks(1000) {
        for key in batch {
            queue.add(key.clone(), NORMAL_PRIORITY);
        }
        for _ in batch {
            // Dropping what was taken is `done`.
            drop(queue.get().await);
        }
    }
    per_second(KEYS, started.elapsed())
}

/// The same through the scheduler of kube-runtime's Controller, which has no `done`.
async fn kube_scheduler(keys: usize) -> f64 {
    let now = tokio::time::Instant::now();
    let requests: Vec<_> =
        (0..keys).map(|index| ScheduleRequest { message: key("key", index), run_at: now }).collect();
    let started = Instant::now();
    // Without an end, since the scheduler drops what it still holds when its requests end.
    let requests = stream::iter(requests).chain(stream::pending());
    let taken = debounced_scheduler(requests, Duration::ZERO).take(keys).count().await;
    per_second(taken, started.elapsed())
}

fn key(prefix: &str, index: usize) -> Request {
    Request::namespaced("default", format!("{prefix}-{index}"))
}

pub(crate) fn per_second(count: usize, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64()
}
