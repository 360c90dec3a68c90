//! What whoever relies on the cache relies on, against a server that misbehaves.

mod support;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::api::core::v1::{ConfigMap, Secret, Service};
use kube::core::{ApiResource, DynamicObject, PartialObjectMeta};
use kubewright_runtime::{
    Request,
    cache::{Cache, CacheOptions, HandlerRegistration, Informer, InformerOptions, WatchStatus},
    event::{Event, Object},
    metrics::Metrics,
};
use kubewright_world::{Clock, Random};
use serde_json::json;
use support::{Fault, Server, config_map, eventually};
use tokio_util::sync::CancellationToken;

fn options() -> CacheOptions {
    let epoch = "2030-01-01T00:00:00Z".parse().expect("a valid timestamp");
    CacheOptions::default().clock(Clock::starting_at(epoch)).random(Random::seeded(1))
}

/// A running cache of `server`.
fn cache(server: &Server) -> Cache {
    let cache = Cache::new(server.client(), options());
    cache.start(&CancellationToken::new());
    cache
}

/// Writes events down as text.
fn record<K: Object + kube::Resource>(
    informer: &Informer<K>,
) -> (Arc<Mutex<Vec<String>>>, HandlerRegistration) {
    let log = Arc::new(Mutex::new(Vec::new()));
    let sink = log.clone();
    let registration = informer.add_handler(move |event| sink.lock().unwrap().push(format!("{event:?}")));
    (log, registration)
}

fn take(log: &Mutex<Vec<String>>) -> Vec<String> {
    std::mem::take(&mut log.lock().unwrap())
}

fn value(object: &ConfigMap) -> &str {
    object.data.as_ref().and_then(|data| data.get("value")).map(String::as_str).unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn an_informer_follows_its_objects() {
    let server = Server::new();
    server.put("configmaps", config_map("shop", "cart", "1"));
    server.put("configmaps", config_map("bank", "till", "1"));
    let cache = cache(&server);
    assert!(cache.informer::<ConfigMap>().is_none(), "a read declares nothing");
    let informer = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    let (log, _registration) = record(&informer);
    informer.wait_for_sync().await;
    assert_eq!(take(&log), ["Create(bank/till, initial)", "Create(shop/cart, initial)"]);

    server.put("configmaps", config_map("shop", "cart", "2"));
    server.put("configmaps", config_map("shop", "basket", "1"));
    server.delete("configmaps", "bank", "till");
    eventually("the deletion", || informer.list(Some("bank")).is_empty()).await;
    assert_eq!(take(&log), ["Update(shop/cart)", "Create(shop/basket)", "Delete(bank/till)"]);

    let names: Vec<_> = informer.list(None).iter().map(|object| Request::of(&**object).to_string()).collect();
    assert_eq!(names, ["shop/basket", "shop/cart"]);
    let cart = informer.get(&Request::namespaced("shop", "cart")).expect("in the cache");
    assert_eq!(value(&cart), "2");
    assert!(informer.get(&Request::cluster("cart")).is_none());

    // A late handler is told of what is there, and a removed one of nothing.
    let (late, late_registration) = record(&informer);
    assert_eq!(take(&late), ["Create(shop/basket, initial)", "Create(shop/cart, initial)"]);
    drop(late_registration);
    server.delete("configmaps", "shop", "cart");
    eventually("the deletion", || informer.list(None).len() == 1).await;
    assert_eq!((take(&log), take(&late)), (vec!["Delete(shop/cart)".to_owned()], vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_always_forbidden_delays_no_other_and_is_named() {
    let server = Server::new();
    server.set("secrets", Fault::Forbidden);
    let cache = cache(&server);
    let secrets = cache.declare(InformerOptions::<Secret>::new()).expect("declared");
    let informer = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    informer.wait_for_sync().await;
    let (log, _registration) = record(&informer);
    for number in 0..40 {
        server.put("configmaps", config_map("shop", "cart", &number.to_string()));
        let took = eventually("the event", || !take(&log).is_empty()).await;
        assert!(took <= Duration::from_millis(10), "event {number} took {took:?}");
        tokio::time::sleep(Duration::from_secs(7)).await;
    }

    assert!(!secrets.has_synced() && !cache.has_synced());
    let failing: Vec<_> = cache.watches().into_iter().filter(|watch| !watch.is_healthy()).collect();
    assert_eq!(failing.len(), 1);
    assert_eq!((failing[0].resource.kind.as_str(), failing[0].synced), ("Secret", false));
    assert_eq!(failing[0].since.to_string(), "2030-01-01T00:00:00Z");
    let error = cache.wait_for_sync(Duration::from_secs(120)).await.expect_err("secrets are not listed");
    let message = error.to_string();
    assert!(message.contains("secrets: cannot list secrets"), "{message}");
    assert!(message.contains("+kubebuilder:rbac:groups=\"\",resources=secrets,verbs=list"), "{message}");

    // It comes back by itself, within its longest backoff.
    server.clear("secrets", Fault::Forbidden);
    let took = eventually("the sync", || cache.has_synced()).await;
    assert!(took <= Duration::from_secs(60), "{took:?}");
    assert!(cache.watches().iter().all(WatchStatus::is_healthy));
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_watch_after_a_good_list_is_unhealthy_but_synced() {
    let server = Server::new();
    server.put("configmaps", config_map("shop", "cart", "1"));
    server.set("configmaps", Fault::WatchForbidden);
    let cache = cache(&server);
    let informer = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    informer.wait_for_sync().await;
    eventually("the failure", || !informer.watches()[0].is_healthy()).await;
    let status = &informer.watches()[0];
    assert!(status.synced);
    assert!(status.last_error.as_ref().is_some_and(|error| error.contains("verbs=watch")), "{status}");
    let lists = server.requests().iter().filter(|request| !request.contains("watch=true")).count();
    tokio::time::sleep(Duration::from_secs(300)).await;
    let requests = server.requests();
    assert_eq!(
        requests.iter().filter(|request| !request.contains("watch=true")).count(),
        lists,
        "no list in vain"
    );
    assert!(requests.len() < 25, "backs off: {} requests in 5 minutes", requests.len());
}

#[tokio::test(start_paused = true)]
async fn an_object_that_does_not_fit_is_set_aside_and_heals() {
    let server = Server::new();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let sink = reports.clone();
    let metrics = Metrics::new();
    let hook = move |object: &kubewright_runtime::cache::Undecodable| {
        sink.lock().unwrap().push(format!("{} {}: {}", object.resource.kind, object.request, object.error));
    };
    let cache = Cache::new(server.client(), options().on_undecodable(hook).metrics(metrics.clone()));
    cache.start(&CancellationToken::new());
    let bad = |name: &str| json!({"metadata": {"namespace": "shop", "name": name}, "data": {"value": 7}});
    server.put("configmaps", config_map("shop", "a", "1"));
    server.put("configmaps", bad("b"));
    server.put("configmaps", config_map("shop", "c", "1"));
    let informer = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    let (log, _registration) = record(&informer);
    informer.wait_for_sync().await;
    assert_eq!(take(&log), ["Create(shop/a, initial)", "Create(shop/c, initial)"]);
    assert_eq!(
        take(&reports),
        ["ConfigMap shop/b: data.value: invalid type: integer `7`, expected a string"]
    );
    assert_eq!(informer.undecodable().len(), 1);
    assert_eq!(informer.watches()[0].undecodable, 1);

    // A good object turns bad while it is watched: the last good version stays, others go on.
    server.put("configmaps", bad("a"));
    server.put("configmaps", config_map("shop", "c", "2"));
    eventually("the update of c", || !log.lock().unwrap().is_empty()).await;
    assert_eq!(take(&log), ["Update(shop/c)"]);
    let a = informer.get(&Request::namespaced("shop", "a")).expect("the last good version");
    assert_eq!(value(&a), "1");
    assert_eq!(take(&reports).len(), 1);

    // Both are mended.
    server.put("configmaps", config_map("shop", "b", "1"));
    server.put("configmaps", config_map("shop", "a", "2"));
    eventually("the update of a", || log.lock().unwrap().len() == 2).await;
    assert_eq!(take(&log), ["Create(shop/b)", "Update(shop/a)"]);
    assert!(informer.undecodable().is_empty());
    assert_eq!(informer.watches()[0].undecodable, 0);

    // One turns bad and is deleted so.
    server.put("configmaps", bad("c"));
    server.delete("configmaps", "shop", "c");
    eventually("the deletion", || !log.lock().unwrap().is_empty()).await;
    assert_eq!(take(&log), ["Delete(shop/c, state unknown)"]);
    assert!(informer.undecodable().is_empty());
    let text = metrics.encode();
    let series = "kubewright_watch_undecodable_objects_total{group=\"\",kind=\"ConfigMap\",namespace=\"\",selector=\"\",version=\"v1\"} 3";
    assert!(text.lines().any(|line| line == series), "{text}");
}

/// Makes changes while the watch is away, and expects each to arrive as what it was.
async fn misses_nothing(
    server: &Server,
    informer: &Informer<ConfigMap>,
    lose: impl FnOnce(),
    state_unknown: bool,
) {
    let (log, registration) = record(informer);
    take(&log);
    lose();
    server.put("configmaps", config_map("shop", "changed", "2"));
    server.put("configmaps", config_map("shop", "created", "1"));
    server.delete("configmaps", "shop", "deleted");
    server.delete("configmaps", "shop", "replaced");
    server.put("configmaps", config_map("shop", "replaced", "2"));
    if state_unknown {
        server.compact("configmaps");
    }
    eventually("the changes", || {
        informer.get(&Request::namespaced("shop", "replaced")).is_some_and(|object| value(&object) == "2")
    })
    .await;
    let mut events = take(&log);
    events.sort();
    let unknown = if state_unknown { ", state unknown" } else { "" };
    let mut expected = [
        "Update(shop/changed)".to_owned(),
        "Create(shop/created)".to_owned(),
        format!("Delete(shop/deleted{unknown})"),
        format!("Delete(shop/replaced{unknown})"),
        "Create(shop/replaced)".to_owned(),
    ];
    expected.sort();
    assert_eq!(events, expected);
    assert!(informer.get(&Request::namespaced("shop", "deleted")).is_none());
    drop(registration);
}

async fn watched() -> (Server, Cache, Informer<ConfigMap>) {
    let server = Server::new();
    for name in ["changed", "deleted", "replaced", "same"] {
        server.put("configmaps", config_map("shop", name, "1"));
    }
    let cache = cache(&server);
    let informer = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    eventually("the watch", || server.watchers("configmaps") == 1).await;
    (server, cache, informer)
}

#[tokio::test(start_paused = true)]
async fn a_cut_connection_misses_nothing() {
    let (server, _cache, informer) = watched().await;
    misses_nothing(&server, &informer, || server.cut("configmaps"), false).await;
    assert_eq!(
        server.requests().iter().filter(|request| !request.contains("watch=true")).count(),
        1,
        "one list"
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_the_server_ends_misses_nothing() {
    let (server, _cache, informer) = watched().await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    misses_nothing(&server, &informer, || server.close("configmaps"), false).await;
}

#[tokio::test(start_paused = true)]
async fn a_compacted_version_misses_nothing_and_objects_that_stayed_keep_their_memory() {
    let (server, _cache, informer) = watched().await;
    let same = informer.get(&Request::namespaced("shop", "same")).expect("in the cache");
    misses_nothing(&server, &informer, || server.cut("configmaps"), true).await;
    let after = informer.get(&Request::namespaced("shop", "same")).expect("in the cache");
    assert!(Arc::ptr_eq(&same, &after));
}

#[tokio::test(start_paused = true)]
async fn a_410_at_the_start_of_a_watch_misses_nothing() {
    let (server, _cache, informer) = watched().await;
    server.set("configmaps", Fault::GoneAtStart);
    misses_nothing(&server, &informer, || server.cut("configmaps"), true).await;
    assert!(informer.watches()[0].is_healthy(), "{}", informer.watches()[0]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_each_watch_at_once_is_left_in_peace() {
    let server = Server::new();
    server.set("configmaps", Fault::ClosesWatches);
    let cache = cache(&server);
    let informer = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    informer.wait_for_sync().await;
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert!(server.requests().len() < 25, "{} requests in 5 minutes", server.requests().len());
    let status = &informer.watches()[0];
    assert!(
        status.last_error.as_ref().is_some_and(|error| error.contains("closed the watch at once")),
        "{status}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_is_given_up_and_a_list_without_an_answer_too() {
    let (server, _cache, informer) = watched().await;
    tokio::time::sleep(Duration::from_secs(310)).await;
    let watches = server.requests().iter().filter(|request| request.contains("watch=true")).count();
    assert_eq!(watches, 2, "the server forgot to end the first");
    assert!(informer.watches()[0].is_healthy());

    server.set("secrets", Fault::ListsHang);
    let cache = cache(&server);
    let secrets = cache.declare(InformerOptions::<Secret>::new()).expect("declared");
    tokio::time::sleep(Duration::from_secs(91)).await;
    let status = &secrets.watches()[0];
    assert!(
        status.last_error.as_ref().is_some_and(|error| error.contains("no answer within 90s")),
        "{status}"
    );
}

#[tokio::test(start_paused = true)]
async fn lists_come_in_pages_and_start_over_when_a_page_expires() {
    let server = Server::new();
    for number in 0..7 {
        server.put("configmaps", config_map("shop", &format!("c{number}"), "1"));
    }
    let cache = cache(&server);
    let informer = cache.declare(InformerOptions::<ConfigMap>::new().page_size(Some(3))).expect("declared");
    informer.wait_for_sync().await;
    assert_eq!(informer.list(None).len(), 7);
    let lists = |server: &Server| -> Vec<bool> {
        let requests = server.requests();
        let lists = requests.iter().filter(|request| !request.contains("watch=true"));
        lists.map(|request| request.contains("limit=3")).collect()
    };
    assert_eq!(lists(&server), [true, true, true]);

    let server = Server::new();
    for number in 0..7 {
        server.put("secrets", config_map("shop", &format!("c{number}"), "1"));
    }
    server.set("secrets", Fault::PagesExpire);
    let cache = self::cache(&server);
    let informer = cache.declare(InformerOptions::<Secret>::new().page_size(Some(3))).expect("declared");
    informer.wait_for_sync().await;
    assert_eq!(informer.undecodable().len() + informer.list(None).len(), 7);
    assert_eq!(lists(&server), [true, true, false], "the second try comes in one piece");
}

#[tokio::test(start_paused = true)]
async fn a_streaming_list_is_a_watch_and_falls_back_to_a_list() {
    for refused in [false, true] {
        let server = Server::new();
        server.put("configmaps", config_map("shop", "cart", "1"));
        if refused {
            server.set("configmaps", Fault::NoStreamingLists);
        }
        let cache = cache(&server);
        let informer =
            cache.declare(InformerOptions::<ConfigMap>::new().streaming_lists()).expect("declared");
        let (log, _registration) = record(&informer);
        informer.wait_for_sync().await;
        assert_eq!(take(&log), ["Create(shop/cart, initial)"]);
        server.put("configmaps", config_map("shop", "cart", "2"));
        eventually("the update", || !log.lock().unwrap().is_empty()).await;
        assert_eq!(take(&log), ["Update(shop/cart)"]);
        let lists = server.requests().iter().filter(|request| !request.contains("watch=true")).count();
        assert_eq!(lists, usize::from(refused));
        assert!(informer.watches()[0].is_healthy());
    }
}

#[tokio::test(start_paused = true)]
async fn informers_are_shared_by_selection_and_can_be_removed() {
    let server = Server::new();
    let cache = cache(&server);
    let one = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    let two = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    let filtered =
        cache.declare(InformerOptions::<ConfigMap>::new().fields("metadata.name=cart")).expect("declared");
    assert!(cache.declare(InformerOptions::<ConfigMap>::new().transform(|_| {})).is_err());
    eventually("the watches", || server.watchers("configmaps") == 2).await;
    assert!(filtered.is_filtered() && !cache.informer::<ConfigMap>().expect("declared").is_filtered());
    drop(two);
    cache.remove(&one);
    eventually("the end of a watch", || server.watchers("configmaps") == 1).await;
    assert!(cache.informer::<ConfigMap>().expect("the other one").is_filtered());
    cache.remove(&filtered);
    eventually("the end of the other watch", || server.watchers("configmaps") == 0).await;
    assert!(cache.informer::<ConfigMap>().is_none() && cache.has_synced());
}

#[tokio::test(start_paused = true)]
async fn each_namespace_has_its_own_watch_and_reads_see_them_as_one() {
    let server = Server::new();
    for namespace in ["bank", "shop", "zoo"] {
        server.put("configmaps", config_map(namespace, "c", "1"));
    }
    let namespaces = ["shop".to_owned(), "bank".to_owned()];
    let cache = Cache::new(server.client(), options().namespaces(namespaces));
    let stop = CancellationToken::new();
    cache.start(&stop);
    let informer = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    cache.wait_for_sync(Duration::from_secs(1)).await.expect("synced");
    let names = |informer: &Informer<ConfigMap>| -> Vec<String> {
        informer.list(None).iter().map(|object| Request::of(&**object).to_string()).collect()
    };
    assert_eq!(names(&informer), ["bank/c", "shop/c"]);
    assert!(informer.covers(Some("shop")) && !informer.covers(Some("zoo")) && !informer.covers(None));
    eventually("the watches", || server.watchers("configmaps") == 2).await;

    // A relist of one namespace leaves the other alone.
    server.cut("configmaps");
    server.delete("configmaps", "bank", "c");
    server.compact("configmaps");
    eventually("the deletion", || names(&informer) == ["shop/c"]).await;
    stop.cancel();
    cache.stopped().await;
    assert_eq!(server.watchers("configmaps"), 0);
}

#[tokio::test(start_paused = true)]
async fn indexes_follow_the_objects() {
    let server = Server::new();
    server.put("configmaps", config_map("shop", "a", "red"));
    server.put("configmaps", config_map("shop", "b", "blue"));
    let cache = cache(&server);
    let informer = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    informer.wait_for_sync().await;
    informer.add_index("value", |object| vec![value(object).to_owned()]);
    let names = |colour: &str| -> Vec<String> {
        let found = informer.by_index("value", colour).expect("the index is there");
        found.iter().filter_map(|object| object.metadata.name.clone()).collect()
    };
    assert_eq!((names("red"), names("blue")), (vec!["a".to_owned()], vec!["b".to_owned()]));
    server.put("configmaps", config_map("shop", "a", "blue"));
    eventually("the update", || names("red").is_empty()).await;
    assert_eq!(names("blue"), ["a", "b"]);
    server.delete("configmaps", "shop", "b");
    eventually("the deletion", || names("blue") == ["a"]).await;
    let error = informer.by_index("colour", "red").expect_err("there is no such index");
    assert!(error.to_string().contains("colour"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_panicking_handler_or_index_harms_nobody_else() {
    let server = Server::new();
    let cache = cache(&server);
    let informer = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    let _bad = informer.add_handler(|_: &Event<ConfigMap>| panic!("a bad handler"));
    informer.add_index("bad", |_| panic!("a bad index"));
    let (log, _registration) = record(&informer);
    informer.wait_for_sync().await;
    server.put("configmaps", config_map("shop", "a", "1"));
    server.put("configmaps", config_map("shop", "b", "1"));
    eventually("both events", || log.lock().unwrap().len() == 2).await;
    assert!(informer.by_index("bad", "x").expect("an empty index").is_empty());
}

#[tokio::test(start_paused = true)]
async fn metadata_and_dynamic_objects_have_informers_of_their_own() {
    let server = Server::new();
    server.put(
        "services",
        json!({"metadata": {"namespace": "shop", "name": "web"}, "spec": {"type": "ClusterIP"}}),
    );
    let cache = cache(&server);
    let metadata = cache.declare(InformerOptions::<PartialObjectMeta<Service>>::new()).expect("declared");
    let kind = ApiResource::erase::<Service>(&());
    let options = InformerOptions::<DynamicObject>::dynamic(&kind, kube::discovery::Scope::Namespaced);
    let dynamic = cache.declare(options).expect("declared");
    cache.wait_for_sync(Duration::from_secs(1)).await.expect("synced");
    let request = Request::namespaced("shop", "web");
    assert_eq!(
        metadata.get(&request).and_then(|object| object.metadata.name.clone()).as_deref(),
        Some("web")
    );
    let object = dynamic.get(&request).expect("in the cache");
    assert_eq!(object.data["spec"]["type"], "ClusterIP");
    let types = object.types.clone().expect("list items are given their type");
    assert_eq!((types.api_version.as_str(), types.kind.as_str()), ("v1", "Service"));
    assert!(cache.informer_of::<DynamicObject>(&kind).is_some() && cache.informer::<Service>().is_none());
}

#[tokio::test(start_paused = true)]
async fn two_runs_of_one_seed_make_equal_requests_at_equal_times() {
    async fn run() -> Vec<String> {
        let (server, cache, informer) = watched().await;
        server.set("secrets", Fault::Forbidden);
        let _secrets = cache.declare(InformerOptions::<Secret>::new()).expect("declared");
        let (log, _registration) = record(&informer);
        let start = tokio::time::Instant::now();
        let mut history = Vec::new();
        for round in 0..200 {
            tokio::time::sleep(Duration::from_millis(1700)).await;
            match round % 5 {
                0 => server.cut("configmaps"),
                3 => server.compact("configmaps"),
                _ => {}
            }
            server.put("configmaps", config_map("shop", "same", &round.to_string()));
            history.push(format!("{:?} {:?} {:?}", start.elapsed(), server.requests().last(), take(&log)));
        }
        history.extend(server.requests());
        history
    }
    let first = run().await;
    let second = run().await;
    assert_eq!(first, second);
}
