//! The work queue: hand-overs per second, alone and with many keys in flight, and many keys worked on at once.

use std::{
    convert::Infallible,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    core::ObjectMeta,
    runtime::{
        controller::{Action, Config, applier},
        reflector::{self, ObjectRef},
        scheduler::{ScheduleRequest, debounced_scheduler},
        watcher::Event,
    },
};
use kubewright_runtime::{
    Request,
    queue::{Backoff, NORMAL_PRIORITY, RateLimiter, WorkQueue},
};
use kubewright_world::Random;

use crate::{
    Result,
    peers::{Framework, Programs},
    report::{Row, Unit},
};

const KEYS: usize = 200_000;
/// How many other keys are in flight. The program of controller-runtime knows these too.
const IN_FLIGHT: [usize; 3] = [0, 1_000, 20_000];
/// How many keys are worked on at once, and how long each.
const TOGETHER: usize = 20_000;
const EACH: Duration = Duration::from_millis(100);

const KUBE_RS: &str = "kube-rs";

pub(crate) async fn measure(programs: &Programs, rounds: usize) -> Result<Vec<Row>> {
    let (mut ours, mut go, mut scheduler) = (Vec::new(), Vec::new(), Vec::new());
    let mut kube_together = Vec::new();
    let with_peers = programs.runtimes().count() > 1;
    for _ in 0..rounds.max(1) {
        let mut figures = Vec::new();
        for in_flight in IN_FLIGHT {
            figures.push(cycles(in_flight).await);
        }
        figures.push(together().await?);
        ours.push(figures);
        scheduler.push(kube_scheduler(KEYS).await);
        if with_peers {
            go.push(controller_runtime(programs)?);
            kube_together.push(kube_together_seconds().await?);
        }
    }
    let column = |rounds: &[Vec<f64>], index: usize| -> Vec<f64> {
        rounds.iter().filter_map(|figures| figures.get(index).copied()).collect()
    };
    let mut rows = Vec::new();
    for (index, in_flight) in IN_FLIGHT.into_iter().enumerate() {
        let what = match in_flight {
            0 => "queue: add + get + done".to_owned(),
            more => format!("queue: add + get + done, {more} keys in flight"),
        };
        let mut row = Row::of_rounds(what, column(&ours, index), Unit::PerSecond);
        if with_peers {
            row = row.beside_rounds(Framework::ControllerRuntime.name(), column(&go, index));
        }
        if in_flight == 0 {
            row = row.beside_rounds(format!("{KUBE_RS}'s scheduler, add + get"), scheduler.clone());
        }
        rows.push(row);
    }
    let what = format!("{TOGETHER} keys worked on at once, {} ms each", EACH.as_millis());
    let mut row = Row::of_rounds(what, column(&ours, IN_FLIGHT.len()), Unit::Seconds);
    if with_peers {
        row = row
            .beside_rounds(Framework::ControllerRuntime.name(), column(&go, IN_FLIGHT.len()))
            .beside_rounds(KUBE_RS, kube_together);
    }
    rows.push(row);
    Ok(rows)
}

/// The figures of controller-runtime's queue, in the same order.
fn controller_runtime(programs: &Programs) -> Result<Vec<f64>> {
    let output = Command::new(programs.path(Framework::ControllerRuntime)?).arg("queue").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().map(str::parse).collect::<std::result::Result<_, _>>()?)
}

/// Seconds until many keys have been worked on, all at once, as a controller with as many workers does.
async fn together() -> Result<f64> {
    let queue = WorkQueue::new(RateLimiter::new(Backoff::default()), Random::seeded(1));
    let keys: Vec<Request> = (0..TOGETHER).map(|index| key("key", index)).collect();
    let started = Instant::now();
    for key in keys {
        queue.add(key, NORMAL_PRIORITY);
    }
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..TOGETHER {
        let work = queue.get().await.ok_or("the queue has ended")?;
        tasks.spawn(async move {
            tokio::time::sleep(EACH).await;
            // Dropping what was taken is `done`.
            drop(work);
        });
    }
    tasks.join_all().await;
    Ok(started.elapsed().as_secs_f64())
}

/// The same through what kube-rs's `Controller` runs its reconciler with.
async fn kube_together_seconds() -> Result<f64> {
    let (store, mut writer) = reflector::store();
    let map = |index: usize| ConfigMap {
        metadata: ObjectMeta {
            namespace: Some("default".to_owned()),
            name: Some(format!("key-{index}")),
            ..Default::default()
        },
        ..Default::default()
    };
    writer.apply_watcher_event(&Event::Init);
    for index in 0..TOGETHER {
        writer.apply_watcher_event(&Event::InitApply(map(index)));
    }
    writer.apply_watcher_event(&Event::InitDone);
    let keys: Vec<_> =
        (0..TOGETHER).map(|index| Ok::<_, Infallible>(ObjectRef::from_obj(&map(index)))).collect();
    let started = Instant::now();
    let reconcile = |_: Arc<ConfigMap>, _: Arc<()>| {
        // In a task, as the controller does it.
        let work = tokio::spawn(tokio::time::sleep(EACH));
        work.map(|_| Ok::<_, Infallible>(Action::await_change()))
    };
    let policy = |_: Arc<ConfigMap>, _: &Infallible, _: Arc<()>| Action::await_change();
    // Without an end, since what is in flight is dropped when the requests end.
    let requests = stream::iter(keys).chain(stream::pending());
    applier(reconcile, policy, Arc::new(()), store, requests, Config::default())
        .take(TOGETHER)
        .try_for_each(|_| std::future::ready(Ok(())))
        .await?;
    Ok(started.elapsed().as_secs_f64())
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
