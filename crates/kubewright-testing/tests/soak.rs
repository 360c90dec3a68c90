//! A week of churn in virtual time: memory and tasks stay as many as they were, and in the end nothing is left.
//!
//! `KUBEWRIGHT_SOAK_OBJECTS` and `KUBEWRIGHT_SOAK_CHANGES` (an hour) make it larger.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use kubewright_cluster::Selection;
use kubewright_runtime::{
    Action, Error, Random, Request, cache::InformerOptions, controller::Controller, reconcile_fn,
};
use kubewright_testing::{TestCluster, simulate, transport::Faults};
use serde_json::json;
use tokio::time::{Instant, sleep};

const HOUR: Duration = Duration::from_secs(3600);
const DAYS: u64 = 7;
/// Long enough for every backoff that the faults lead to.
const QUIET: Duration = Duration::from_secs(300);

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

/// What the process has, at a quiet moment.
#[derive(Debug)]
struct Sample {
    tasks: usize,
    /// Bytes of memory, on Linux.
    memory: u64,
}

impl Sample {
    async fn take() -> Self {
        sleep(QUIET).await;
        let pages = std::fs::read_to_string("/proc/self/statm").ok();
        let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok()).unwrap_or_default();
        Self { tasks: tokio::runtime::Handle::current().metrics().num_alive_tasks(), memory: pages * 4096 }
    }
}

async fn create(maps: &Api<ConfigMap>, name: &str) {
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..Default::default() };
    let data = Some([("text".to_owned(), "x".repeat(500))].into());
    let map = ConfigMap { metadata, data, ..Default::default() };
    maps.create(&PostParams::default(), &map).await.expect("created");
}

async fn change(maps: &Api<ConfigMap>, name: &str, random: &Random) {
    if random.below(4) == 0 {
        maps.delete(name, &DeleteParams::default()).await.expect("deleted");
        create(maps, name).await;
    } else {
        let patch = Patch::Merge(json!({"data": {"number": random.below(1000).to_string()}}));
        maps.patch(name, &PatchParams::default(), &patch).await.expect("patched");
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "the measures are what the test shows")]
fn a_week_of_churn_leaves_nothing_behind() {
    let (objects, changes) = (number("KUBEWRIGHT_SOAK_OBJECTS", 150), number("KUBEWRIGHT_SOAK_CHANGES", 12));
    simulate(async move {
        let faults = Faults { restarts: 0, compactions: 0, ..Faults::storm() };
        let cluster = TestCluster::builder().controllers(Selection::None).without_history().faults(faults);
        let cluster = cluster.start().await;
        let attempts = Arc::new(Mutex::new(Vec::new()));
        let failing = Arc::new(AtomicBool::new(false));
        let (seen, fails) = (attempts.clone(), failing.clone());
        let mut informer = None;
        let operator = cluster.run("operator", |manager| {
            informer = Some(manager.cache().declare(InformerOptions::<ConfigMap>::new())?);
            let (client, random) = (manager.client(), manager.random().fork());
            Controller::for_kind::<ConfigMap>(manager).max_concurrent_reconciles(4).run(reconcile_fn(
                move |request: Request| {
                    let (client, broken) = (client.clone(), random.below(20) == 0);
                    if fails.load(Ordering::Relaxed) {
                        seen.lock().expect("no panic under the lock").push(Instant::now());
                    }
                    let broken = broken || fails.load(Ordering::Relaxed);
                    async move {
                        // Asks the server, so that there is something to go wrong.
                        client.live().get::<ConfigMap>(&request).await?;
                        if broken { Err(Error::other("out of luck")) } else { Ok(Action::done()) }
                    }
                },
            ))
        });
        let informer = informer.expect("declared");
        let (maps, random) = (Api::<ConfigMap>::default_namespaced(cluster.client()), Random::seeded(3));
        for number in 0..objects {
            create(&maps, &format!("map-{number}")).await;
        }

        let mut samples = Vec::new();
        for hour in 1..=DAYS * 24 {
            for _ in 0..changes {
                change(&maps, &format!("map-{}", random.below(objects)), &random).await;
                sleep(HOUR / u32::try_from(changes).expect("small")).await;
            }
            match hour % 24 {
                8 => cluster.server().compact_now(),
                16 => cluster.restart_server(),
                0 => samples.push(Sample::take().await),
                _ => {}
            }
        }
        println!("{objects} objects, {} changes, {DAYS} days: {samples:?}", changes * DAYS * 24);
        let (first, last) = (&samples[0], &samples[samples.len() - 1]);
        assert!(samples.iter().all(|sample| sample.tasks == first.tasks), "{samples:?}");
        assert!(last.memory <= first.memory + first.memory / 10 + (4 << 20), "{samples:?}");

        // A failure is the first again: whatever came before is forgotten.
        cluster.set_faults(Faults::none());
        failing.store(true, Ordering::Relaxed);
        change(&maps, "map-0", &random).await;
        sleep(Duration::from_millis(50)).await;
        failing.store(false, Ordering::Relaxed);
        let attempts = attempts.lock().expect("no panic under the lock").clone();
        assert!(attempts[1] - attempts[0] < Duration::from_millis(15), "{attempts:?}");

        maps.delete_collection(&DeleteParams::default(), &Default::default()).await.expect("deleted");
        let end = Sample::take().await;
        assert_eq!(end.tasks, first.tasks);
        assert!(informer.list(None).is_empty(), "the cache is empty");
        let metrics = operator.manager().metrics().encode();
        let of_queues = |line: &&str| {
            line.starts_with("workqueue_depth{") || line.starts_with("workqueue_unfinished_work_seconds{")
        };
        assert!(
            metrics.lines().filter(of_queues).all(|line| line.ends_with(" 0") || line.ends_with(" 0.0")),
            "{metrics}"
        );
        operator.stop().await.expect("it stops cleanly");
    });
}
