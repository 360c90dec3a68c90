//! What whoever writes a reconciler relies on.

mod support;

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::CustomResource;
use kubewright_runtime::{
    Action, Error, ObjectReconciler, Request, Result, as_reconciler,
    cache::{Cache, CacheOptions, InformerOptions},
    client::Client,
    controller::{Controller, ControllerContext, ControllerHost, ControllerRunnable, reconcile_id},
    event::{Event, Object},
    handler::{RequestQueue, enqueue_mapped, enqueue_object},
    manager::{Manager, Options},
    metrics::Metrics,
    predicate::resource_version_changed,
    queue::NORMAL_PRIORITY,
    reconcile_fn,
    source::{KindSource, Source, SourceGuard, channel},
};
use kubewright_world::{Clock, Random};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use support::{Fault, Server, config_map, eventually};
use tokio::{task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

/// The part of a manager that a controller needs.
struct Host {
    server: Server,
    context: ControllerContext,
    added: Mutex<Vec<ControllerRunnable>>,
    stop: CancellationToken,
}

impl ControllerHost for Host {
    fn controller_context(&self) -> ControllerContext {
        self.context.clone()
    }

    fn add_controller(&self, controller: ControllerRunnable) -> Result<()> {
        self.added.lock().unwrap().push(controller);
        Ok(())
    }
}

impl Host {
    fn new() -> Self {
        let server = Server::new();
        let random = Random::seeded(1);
        let metrics = Metrics::new();
        let epoch = "2030-01-01T00:00:00Z".parse().expect("a valid timestamp");
        let options = CacheOptions::default()
            .clock(Clock::starting_at(epoch))
            .random(random.fork())
            .metrics(metrics.clone());
        let context = ControllerContext::new(Cache::new(server.client(), options), random, metrics);
        Self { server, context, added: Mutex::default(), stop: CancellationToken::new() }
    }

    /// Runs the controllers that were added.
    fn start(&self) -> Vec<JoinHandle<Result<()>>> {
        self.context.cache.start(&self.stop);
        let added = std::mem::take(&mut *self.added.lock().unwrap());
        added.into_iter().map(|controller| tokio::spawn(controller.run(self.stop.clone()))).collect()
    }

    fn metric(&self, series: &str) -> String {
        let text = self.context.metrics.encode();
        let line =
            text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' ').map(str::to_owned));
        line.unwrap_or_else(|| panic!("{series} is missing in\n{text}"))
    }
}

/// When each key was reconciled, in milliseconds since the first call.
#[derive(Clone, Default)]
struct Log {
    start: Option<Instant>,
    runs: Arc<Mutex<Vec<(String, Duration)>>>,
}

impl Log {
    fn new() -> Self {
        Self { start: Some(Instant::now()), runs: Arc::default() }
    }

    fn write(&self, request: &Request) {
        let elapsed = self.start.map(|start| start.elapsed()).unwrap_or_default();
        self.runs.lock().unwrap().push((request.to_string(), elapsed));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.runs.lock().unwrap()).into_iter().map(|(key, _)| key).collect()
    }

    fn times(&self, key: &str) -> Vec<Duration> {
        self.runs.lock().unwrap().iter().filter(|(other, _)| other == key).map(|&(_, time)| time).collect()
    }

    fn len(&self) -> usize {
        self.runs.lock().unwrap().len()
    }
}

#[tokio::test(start_paused = true)]
async fn every_object_change_and_deletion_is_reconciled() {
    let host = Host::new();
    for name in ["a", "b"] {
        host.server.put("configmaps", config_map("shop", name, "1"));
    }
    let log = Log::new();
    let (writer, informers) = (log.clone(), host.context.cache.clone());
    let reconciler = reconcile_fn(move |request: Request| {
        writer.write(&request);
        let known = informers.informer::<ConfigMap>().is_some_and(|informer| informer.has_synced());
        async move {
            assert!(known, "reconciled before the cache was synced");
            Ok(Action::done())
        }
    });
    Controller::for_kind::<ConfigMap>(&host).run(reconciler).expect("added");
    let tasks = host.start();
    eventually("the first runs", || log.len() == 2).await;
    assert_eq!(log.take(), ["shop/a", "shop/b"]);
    host.server.put("configmaps", config_map("shop", "a", "2"));
    eventually("the update", || log.len() == 1).await;
    host.server.delete("configmaps", "shop", "b");
    eventually("the deletion", || log.len() == 2).await;
    assert_eq!(log.take(), ["shop/a", "shop/b"]);
    tokio::time::sleep(Duration::from_secs(3600)).await;
    assert!(log.take().is_empty(), "nothing happened, so nothing runs");
    host.stop.cancel();
    for task in tasks {
        task.await.expect("no panic").expect("a clean end");
    }
    assert_eq!(
        host.metric(r#"controller_runtime_reconcile_total{controller="configmap",result="success"}"#),
        "4"
    );
    assert_eq!(host.metric(r#"workqueue_adds_total{controller="configmap",name="configmap"}"#), "4");
}

#[tokio::test(start_paused = true)]
async fn owners_mapped_objects_and_outside_events_are_reconciled_and_predicates_hold() {
    let host = Host::new();
    let log = Log::new();
    let writer = log.clone();
    let (sender, receiver) = channel::<ConfigMap>();
    Controller::for_kind::<ConfigMap>(&host)
        .owns::<Secret>()
        .watches::<Secret>(enqueue_mapped(|secret: &Secret| {
            let labels = secret.metadata.labels.clone().unwrap_or_default();
            labels.get("cart").map(|cart| Request::namespaced("shop", cart))
        }))
        .watches_channel(receiver, enqueue_object())
        .with_predicate::<ConfigMap>(|event: &Event<ConfigMap>| !matches!(event, Event::Create { .. }))
        .with_event_filter(resource_version_changed())
        .named("carts")
        .run(reconcile_fn(move |request| {
            writer.write(&request);
            async { Ok(Action::done()) }
        }))
        .expect("added");
    let _tasks = host.start();
    host.server.put("configmaps", config_map("shop", "new", "1"));
    eventually("the object", || {
        host.context.cache.informer::<ConfigMap>().is_some_and(|informer| informer.list(None).len() == 1)
    })
    .await;
    assert!(log.take().is_empty(), "the predicate drops creations");

    let owner =
        json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "u", "controller": true}]);
    host.server.put(
        "secrets",
        json!({"metadata": {"namespace": "shop", "name": "s", "ownerReferences": owner,
        "labels": {"cart": "mapped"}}}),
    );
    eventually("both requests", || log.len() == 2).await;
    assert_eq!(log.take(), ["shop/owner", "shop/mapped"]);

    let mut outside = ConfigMap::default();
    outside.metadata.name = Some("outside".into());
    sender.send(Arc::new(outside)).await.expect("the controller runs");
    eventually("the outside event", || log.len() == 1).await;
    assert_eq!(log.take(), ["outside"]);
    assert_eq!(host.metric(r#"controller_runtime_max_concurrent_reconciles{controller="carts"}"#), "1");
}

#[tokio::test(start_paused = true)]
async fn a_panic_a_timeout_and_a_failure_hold_up_nobody_else_and_back_off_per_key() {
    let host = Host::new();
    for name in ["fails", "good", "hangs", "panics"] {
        host.server.put("configmaps", config_map("shop", name, "1"));
    }
    let log = Log::new();
    let writer = log.clone();
    let failures = Arc::new(AtomicUsize::new(0));
    let counter = failures.clone();
    let panics = Arc::new(AtomicUsize::new(0));
    let panic_counter = panics.clone();
    let reconciler = reconcile_fn(move |request: Request| {
        writer.write(&request);
        let (counter, panic_counter) = (counter.clone(), panic_counter.clone());
        async move {
            match request.name.as_str() {
                "fails" if counter.fetch_add(1, Ordering::SeqCst) < 20 => Err(Error::other("not yet")),
                "panics" if panic_counter.fetch_add(1, Ordering::SeqCst) == 0 => panic!("a bug"),
                "hangs" => std::future::pending().await,
                _ => Ok(Action::done()),
            }
        }
    });
    let timeout = Duration::from_secs(10);
    Controller::for_kind::<ConfigMap>(&host)
        .max_concurrent_reconciles(2)
        .reconcile_timeout(timeout)
        .run(reconciler)
        .expect("added");
    let tasks = host.start();
    eventually("the first failures", || log.times("shop/fails").len() == 8).await;
    for round in 0..50 {
        let before = log.times("shop/good").len();
        host.server.put("configmaps", config_map("shop", "good", &round.to_string()));
        let took = eventually("the good one", || log.times("shop/good").len() > before).await;
        assert!(took <= Duration::from_millis(10), "the good one waited {took:?}");
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let a_long_time = Duration::from_secs(3 * 3600);
    tokio::time::sleep(a_long_time).await;

    // The failing key: 20 failures, each delay twice the last, less jitter, then a success and no more.
    let times = log.times("shop/fails");
    assert_eq!(times.len(), 21);
    for (place, pair) in times.windows(2).enumerate() {
        let full = Duration::from_millis((5_u64 << place).min(1_000_000));
        let delay = pair[1] - pair[0];
        // Timers have a resolution of a millisecond, and the key may wait for one of two workers.
        let most = full + Duration::from_millis(2) + if place < 12 { timeout } else { Duration::ZERO };
        assert!(delay >= full.mul_f64(0.8) && delay <= most, "delay {place}: {delay:?} of {full:?}");
    }
    // The panicking key was tried again after its own first backoff.
    let times = log.times("shop/panics");
    assert_eq!(times.len(), 2);
    assert!(times[1] - times[0] <= Duration::from_millis(10), "{times:?}");
    // The hanging key was cancelled each time, after the limit.
    let times = log.times("shop/hangs");
    assert!(times.len() > 10 && times[1] - times[0] >= timeout, "{times:?}");

    assert_eq!(host.metric(r#"controller_runtime_reconcile_panics_total{controller="configmap"}"#), "1");
    let timeouts: usize = host
        .metric(r#"controller_runtime_reconcile_timeouts_total{controller="configmap"}"#)
        .parse()
        .expect("a number");
    assert!(timeouts >= times.len() - 1);
    let errors: usize = host
        .metric(r#"controller_runtime_reconcile_errors_total{controller="configmap"}"#)
        .parse()
        .expect("a number");
    assert_eq!(errors, 20 + 1 + timeouts);
    host.stop.cancel();
    for task in tasks {
        task.await.expect("no panic").expect("a clean end");
    }
}

#[tokio::test(start_paused = true)]
async fn results_decide_what_happens_next() {
    let host = Host::new();
    for name in ["after", "backoff", "terminal"] {
        host.server.put("configmaps", config_map("shop", name, "1"));
    }
    let log = Log::new();
    let writer = log.clone();
    let reconciler = reconcile_fn(move |request: Request| {
        writer.write(&request);
        async move {
            match request.name.as_str() {
                "after" => Ok(Action::requeue_after(Duration::from_secs(60))),
                "backoff" => Ok(Action::requeue()),
                _ => Err(Error::terminal("the spec contradicts itself")),
            }
        }
    });
    Controller::for_kind::<ConfigMap>(&host).run(reconciler).expect("added");
    let _tasks = host.start();
    tokio::time::sleep(Duration::from_secs(605)).await;
    let after = log.times("shop/after");
    assert_eq!(after.len(), 11);
    assert!(after.windows(2).all(|pair| (pair[1] - pair[0]).as_millis().abs_diff(60_000) <= 2), "{after:?}");
    let backoff = log.times("shop/backoff");
    assert!((16..=19).contains(&backoff.len()), "doubles from 5 ms: {backoff:?}");
    assert_eq!(log.times("shop/terminal").len(), 1);
    let result = |result: &str| {
        host.metric(&format!(
            r#"controller_runtime_reconcile_total{{controller="configmap",result="{result}"}}"#
        ))
    };
    assert_eq!((result("requeue_after"), result("error")), ("11".into(), "1".into()));
    assert_eq!(
        host.metric(r#"controller_runtime_terminal_reconcile_errors_total{controller="configmap"}"#),
        "1"
    );

    // The next event tries the terminal one again.
    host.server.put("configmaps", config_map("shop", "terminal", "2"));
    eventually("the next try", || log.times("shop/terminal").len() == 2).await;
}

#[tokio::test(start_paused = true)]
async fn one_key_runs_once_at_a_time_and_again_if_it_changed_meanwhile() {
    let host = Host::new();
    for number in 0..6 {
        host.server.put("configmaps", config_map("shop", &format!("c{number}"), "1"));
    }
    let running: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let (runs, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counts, total, peak) = (running.clone(), runs.clone(), most.clone());
    let reconciler = reconcile_fn(move |request: Request| {
        let (counts, total, peak) = (counts.clone(), total.clone(), peak.clone());
        async move {
            {
                let mut counts = counts.lock().unwrap();
                let count = counts.entry(request.name.clone()).or_default();
                *count += 1;
                assert_eq!(*count, 1, "{request} runs twice at once");
                peak.fetch_max(counts.values().sum(), Ordering::SeqCst);
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
            *counts.lock().unwrap().get_mut(&request.name).expect("counted") -= 1;
            total.fetch_add(1, Ordering::SeqCst);
            Ok(Action::done())
        }
    });
    Controller::for_kind::<ConfigMap>(&host).max_concurrent_reconciles(3).run(reconciler).expect("added");
    let _tasks = host.start();
    tokio::time::sleep(Duration::from_millis(500)).await;
    for number in 0..10 {
        host.server.put("configmaps", config_map("shop", "c0", &number.to_string()));
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(most.load(Ordering::SeqCst), 3);
    assert_eq!(runs.load(Ordering::SeqCst), 7, "six objects, and once more for all ten changes of one");
}

#[tokio::test(start_paused = true)]
async fn a_stop_lets_running_reconciliations_end_and_gives_up_after_the_limit() {
    for (takes, ends) in [(Duration::from_secs(20), true), (Duration::from_secs(40), false)] {
        let host = Host::new();
        for name in ["a", "b"] {
            host.server.put("configmaps", config_map("shop", name, "1"));
        }
        let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (begin, end) = (begun.clone(), ended.clone());
        let reconciler = reconcile_fn(move |_| {
            let (begin, end) = (begin.clone(), end.clone());
            async move {
                begin.fetch_add(1, Ordering::SeqCst);
                tokio::time::sleep(takes).await;
                end.fetch_add(1, Ordering::SeqCst);
                Ok(Action::done())
            }
        });
        Controller::for_kind::<ConfigMap>(&host).run(reconciler).expect("added");
        let mut tasks = host.start();
        eventually("the first run", || begun.load(Ordering::SeqCst) == 1).await;
        let start = Instant::now();
        host.stop.cancel();
        let result = tasks.remove(0).await.expect("no panic");
        assert_eq!(begun.load(Ordering::SeqCst), 1, "what waits is not begun");
        assert_eq!(ended.load(Ordering::SeqCst), usize::from(ends));
        match result {
            Ok(()) => assert!(ends && start.elapsed() <= takes),
            Err(error) => {
                assert!(!ends && error.to_string().contains("shop/a"), "{error}");
                assert_eq!(start.elapsed(), Duration::from_secs(30));
                tokio::time::sleep(takes).await;
                assert_eq!(ended.load(Ordering::SeqCst), 0, "it was cancelled");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_cache_that_does_not_sync_ends_the_controller_with_the_reason() {
    let host = Host::new();
    host.server.set("secrets", Fault::Forbidden);
    Controller::for_kind::<ConfigMap>(&host)
        .owns::<Secret>()
        .run(reconcile_fn(|_| async { panic!("must not run") }))
        .expect("added");
    let start = Instant::now();
    let error = host.start().remove(0).await.expect("no panic").expect_err("secrets are not listed");
    assert_eq!(start.elapsed().as_secs(), 120);
    let message = error.to_string();
    assert!(message.contains("secrets") && message.contains("+kubebuilder:rbac"), "{message}");
}

#[tokio::test(start_paused = true)]
async fn mistakes_of_the_builder_are_named() {
    let host = Host::new();
    let reconciler = || reconcile_fn(|_| async { Ok(Action::done()) });
    let error = Controller::for_kind::<ConfigMap>(&host)
        .with_predicate::<Secret>(resource_version_changed())
        .run(reconciler())
        .expect_err("secrets are not watched");
    assert!(error.to_string().contains("Secret") && error.to_string().contains("ConfigMap"), "{error}");
    let error = Controller::for_kind::<ConfigMap>(&host)
        .max_concurrent_reconciles(0)
        .run(reconciler())
        .expect_err("no worker");
    assert!(error.to_string().contains("at least 1"), "{error}");
    assert!(Controller::for_kind::<ConfigMap>(&host).named("").run(reconciler()).is_err());
    let error = Controller::for_kind::<ConfigMap>(&host)
        .serves::<Note>()
        .run(reconciler())
        .expect_err("another kind");
    assert!(error.to_string().contains("Note of the group \"example.com\""), "{error}");
}

/// NoteSpec is what is written.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.com", version = "v1", kind = "Note", namespaced)]
struct NoteSpec {
    text: String,
}

mod v1alpha1 {
    use super::*;

    /// NoteSpec is what was written.
    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "example.com", version = "v1alpha1", kind = "Note", namespaced, storage = false)]
    pub(super) struct NoteSpec {
        text: String,
    }
}

#[tokio::test]
async fn a_controller_registers_all_versions_of_its_kind() {
    let options = Options::from_command_line(["operator", "crd"]).expect("valid flags");
    let manager = Manager::new(options).await.expect("a manager without a cluster");
    Controller::new::<Note>(&manager)
        .serves::<v1alpha1::Note>()
        .run(reconcile_fn(|_| async { Ok(Action::done()) }))
        .expect("a controller");
    let definitions = manager.crds().definitions().expect("they are right");
    assert_eq!(definitions.len(), 1);
    let versions: Vec<_> = definitions[0].spec.versions.iter().map(|version| version.name.as_str()).collect();
    assert_eq!(versions, ["v1", "v1alpha1"]);
}

#[tokio::test(start_paused = true)]
async fn objects_from_the_start_wait_behind_real_changes() {
    let host = Host::new();
    for number in 0..30 {
        host.server.put("configmaps", config_map("shop", &format!("c{number:02}"), "1"));
    }
    let log = Log::new();
    let writer = log.clone();
    let reconciler = reconcile_fn(move |request| {
        writer.write(&request);
        async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(Action::done())
        }
    });
    Controller::for_kind::<ConfigMap>(&host)
        .with_informer(InformerOptions::<ConfigMap>::new().namespace("shop"))
        .run(reconciler)
        .expect("added");
    let _tasks = host.start();
    tokio::time::sleep(Duration::from_millis(2500)).await;
    host.server.put("configmaps", config_map("shop", "c29", "2"));
    tokio::time::sleep(Duration::from_secs(40)).await;
    assert_eq!(log.take()[..5], ["shop/c00", "shop/c01", "shop/c02", "shop/c29", "shop/c03"]);
    assert!(host.server.requests().iter().all(|request| request.starts_with("/api/v1/namespaces/shop/")));
}

/// A source that asks for one request as it starts.
struct Once(Request);

impl Source for Once {
    fn start(self: Box<Self>, queue: RequestQueue, _: Duration) -> BoxFuture<'static, Result<SourceGuard>> {
        queue.add(self.0, NORMAL_PRIORITY);
        Box::pin(std::future::ready(Ok(SourceGuard::new(()))))
    }
}

#[tokio::test(start_paused = true)]
async fn a_source_of_ones_own_and_an_informer_of_another_cache_feed_the_queue() {
    let host = Host::new();
    let elsewhere = Server::new();
    elsewhere.put("configmaps", config_map("other", "config", "1"));
    let other = Cache::new(elsewhere.client(), CacheOptions::default().random(Random::seeded(2)));
    let configs = other.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    other.start(&host.stop);
    let log = Log::new();
    let writer = log.clone();
    Controller::for_kind::<ConfigMap>(&host)
        .source(Once(Request::cluster("once")))
        .source(KindSource::of_informer(configs, enqueue_object()))
        .with_event_filter(|_: &Event<dyn Object>| false)
        .run(reconcile_fn(move |request| {
            writer.write(&request);
            async { Ok(Action::done()) }
        }))
        .expect("added");
    let _tasks = host.start();
    eventually("both requests", || log.len() == 2).await;
    assert_eq!(log.take(), ["once", "other/config"], "event filters are not for them");
}

#[tokio::test(start_paused = true)]
async fn a_panic_that_is_not_recovered_ends_the_controller() {
    let host = Host::new();
    host.server.put("configmaps", config_map("shop", "a", "1"));
    Controller::for_kind::<ConfigMap>(&host)
        .recover_panic(false)
        .run(reconcile_fn(|request: Request| async move {
            request.name.strip_prefix("cart-").expect("a bug");
            Ok(Action::done())
        }))
        .expect("added");
    let task = host.start().remove(0);
    let end = task.await.expect_err("it panics");
    assert_eq!(end.into_panic().downcast_ref::<String>().map(String::as_str), Some("a bug"));
    assert_eq!(host.metric(r#"controller_runtime_reconcile_panics_total{controller="configmap"}"#), "1");
}

#[tokio::test(start_paused = true)]
async fn each_reconciliation_knows_its_id() {
    let host = Host::new();
    for name in ["a", "b"] {
        host.server.put("configmaps", config_map("shop", name, "1"));
    }
    let ids = Arc::new(Mutex::new(Vec::new()));
    let writer = ids.clone();
    let reconciler = reconcile_fn(move |_| {
        let writer = writer.clone();
        async move {
            writer.lock().unwrap().push(reconcile_id().expect("one runs"));
            Ok(Action::done())
        }
    });
    Controller::for_kind::<ConfigMap>(&host).run(reconciler).expect("added");
    let _tasks = host.start();
    eventually("both", || ids.lock().unwrap().len() == 2).await;
    let ids = ids.lock().unwrap().clone();
    assert_ne!(ids[0], ids[1]);
    assert_eq!(ids[0].len(), 36, "a UUID: {ids:?}");
    assert_eq!(reconcile_id(), None);
}

#[tokio::test(start_paused = true)]
async fn an_object_reconciler_is_asked_for_what_is_there() {
    struct Noting(Log);

    impl ObjectReconciler for Noting {
        type Object = ConfigMap;

        async fn reconcile(&self, config: Arc<ConfigMap>) -> Result<Action> {
            self.0.write(&Request::of(&*config));
            Ok(Action::done())
        }
    }

    let host = Host::new();
    host.server.put("configmaps", config_map("shop", "a", "1"));
    let client = Client::new(host.server.client(), "test").with_cache(host.context.cache.clone());
    let log = Log::new();
    Controller::for_kind::<ConfigMap>(&host).run(as_reconciler(client, Noting(log.clone()))).expect("added");
    let _tasks = host.start();
    let series = r#"controller_runtime_reconcile_total{controller="configmap",result="success"}"#;
    eventually("the object", || host.metric(series) == "1").await;
    host.server.delete("configmaps", "shop", "a");
    eventually("the deletion", || host.metric(series) == "2").await;
    assert_eq!(log.take(), ["shop/a"]);
}

#[tokio::test(start_paused = true)]
async fn two_runs_of_one_seed_are_equal() {
    async fn run() -> Vec<String> {
        let host = Host::new();
        for number in 0..20 {
            host.server.put("configmaps", config_map("shop", &format!("c{number}"), "1"));
        }
        let log = Log::new();
        let writer = log.clone();
        let reconciler = reconcile_fn(move |request: Request| {
            writer.write(&request);
            let even = request.name.len().is_multiple_of(2);
            async move {
                tokio::time::sleep(Duration::from_millis(3)).await;
                if even {
                    Err(Error::other("no"))
                } else {
                    Ok(Action::requeue_after(Duration::from_millis(70)))
                }
            }
        });
        Controller::for_kind::<ConfigMap>(&host).max_concurrent_reconciles(4).run(reconciler).expect("added");
        let _tasks = host.start();
        for round in 0..100 {
            tokio::time::sleep(Duration::from_millis(37)).await;
            host.server.put("configmaps", config_map("shop", &format!("c{}", round % 20), "2"));
            if round % 30 == 0 {
                host.server.cut("configmaps");
            }
        }
        let runs = log.runs.lock().unwrap().clone();
        runs.into_iter().map(|(key, time)| format!("{key} {time:?}")).collect()
    }
    let first = run().await;
    assert!(first.len() > 500);
    assert_eq!(first, run().await);
}
