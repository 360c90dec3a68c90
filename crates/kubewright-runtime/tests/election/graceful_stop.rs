//! The end of a leader under load: readiness fails first, running reconciliations end or are cut off at the deadline, no
//! other begins, and the lease goes last.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube::{Api, Client};
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    Action, Clock, Error, Random, Request, Result,
    controller::Controller,
    manager::{GracePeriod, Manager, Options},
    reconcile_fn,
};
use serde_json::json;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const WORKERS: usize = 10;
/// More than can be reconciled before the end.
const OBJECTS: usize = 200;
/// How often the observer looks.
const STEP: Duration = Duration::from_millis(10);
const RECONCILIATION: Duration = Duration::from_secs(3);

/// What the reconciler did, in its order, and when.
type Log = Arc<Mutex<Vec<(Instant, What)>>>;

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Began,
    Ended,
    Cut,
}

/// A reconciliation that says how it came to its end.
struct Reconciliation {
    log: Log,
    ended: bool,
}

impl Reconciliation {
    fn note(log: &Log, what: What) {
        log.lock().expect("no panic under the lock").push((Instant::now(), what));
    }
}

impl Drop for Reconciliation {
    fn drop(&mut self) {
        Self::note(&self.log, if self.ended { What::Ended } else { What::Cut });
    }
}

/// How the end went.
struct End {
    result: Result<()>,
    /// When it was asked for, and when it had come.
    asked: Instant,
    came: Instant,
    log: Vec<(Instant, What)>,
    /// When readiness failed and when the lease was free, if it was.
    unready: Instant,
    released: Option<Instant>,
}

/// Runs a leader under load, whose reconciliations take `takes`, and stops it.
async fn stop_under_load(takes: Duration, grace: Duration) -> End {
    let epoch = "2030-01-01T00:00:00Z".parse().expect("a timestamp");
    let server = ApiServer::builder().clock(Clock::starting_at(epoch)).random(Random::seeded(7)).build();
    for number in 0..OBJECTS {
        let metadata = json!({"name": format!("map-{number}"), "namespace": "default"});
        server
            .create(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}))
            .expect("a valid object");
    }
    let mut options = Options::default();
    options.leader_election.enabled = true;
    options.graceful_shutdown_timeout = GracePeriod::AtMost(grace);
    let client = Client::new(server.service(), "default");
    let manager = Manager::builder(options)
        .client(client.clone())
        .random(Random::seeded(5))
        .build()
        .expect("a manager");
    let log = Log::default();
    let noted = log.clone();
    let reconciler = reconcile_fn(move |_: Request| {
        let log = noted.clone();
        async move {
            Reconciliation::note(&log, What::Began);
            let mut reconciliation = Reconciliation { log, ended: false };
            sleep(takes).await;
            reconciliation.ended = true;
            Ok(Action::done())
        }
    });
    Controller::for_kind::<ConfigMap>(&manager)
        .max_concurrent_reconciles(WORKERS)
        .run(reconciler)
        .expect("added");
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { (manager.start_until(stop).await, Instant::now()) }
    });
    manager.leadership().elected().await;
    sleep(RECONCILIATION / 2).await;

    let observer = tokio::spawn({
        let (manager, leases) = (manager.clone(), Api::<Lease>::default_namespaced(client));
        async move {
            while manager.readiness().results()["shutdown"].is_ok() {
                sleep(STEP).await;
            }
            let unready = Instant::now();
            let is_free =
                |lease: Lease| lease.spec.and_then(|spec| spec.holder_identity) == Some(String::new());
            for _ in 0..3_000 {
                if is_free(leases.get("kubewright-leader").await.expect("a lease")) {
                    return (unready, Some(Instant::now()));
                }
                sleep(STEP).await;
            }
            (unready, None)
        }
    });
    let asked = Instant::now();
    stop.cancel();
    let (result, came) = running.await.expect("no panic");
    let (unready, released) = observer.await.expect("no panic");
    let log = log.lock().expect("no panic under the lock").clone();
    End { result, asked, came, log, unready, released }
}

fn count(log: &[(Instant, What)], what: What) -> usize {
    log.iter().filter(|(_, noted)| *noted == what).count()
}

#[tokio::test(start_paused = true)]
async fn running_reconciliations_end_before_the_lease_goes() {
    let end = stop_under_load(RECONCILIATION, Duration::from_secs(30)).await;
    end.result.expect("an orderly end");
    assert_eq!(
        [What::Began, What::Ended, What::Cut].map(|what| count(&end.log, what)),
        [WORKERS, WORKERS, 0]
    );
    let last = end.log.last().expect("some were running").0;
    let released = end.released.expect("it was given up");
    assert!(end.unready - end.asked <= STEP, "readiness fails at once");
    assert!(end.unready < last && last <= released && released <= end.came + STEP);
    assert!(end.came - last < Duration::from_millis(100), "nothing more is waited for");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_is_cut_off_and_the_lease_is_left_to_end() {
    let grace = Duration::from_secs(5);
    let end = stop_under_load(Duration::from_secs(3600), grace).await;
    let error = end.result.expect_err("too late");
    assert!(matches!(&error, Error::GracePeriod { .. }), "{error}");
    assert_eq!(end.came - end.asked, grace);
    assert_eq!(
        [What::Began, What::Ended, What::Cut].map(|what| count(&end.log, what)),
        [WORKERS, 0, WORKERS]
    );
    assert!(
        end.log.iter().all(|(time, what)| *what != What::Cut || *time - end.asked <= grace),
        "{:?}",
        end.log
    );
    assert!(end.unready - end.asked <= STEP, "readiness fails at once");
    // Nobody saw that the work has ended, so the next leader waits for its time.
    assert_eq!(end.released, None);
}
