//! The client against the embedded API server, in one thread under paused time.

mod client {
    mod read_your_writes;
}
#[path = "support/gate.rs"]
mod gate;

use std::time::Duration;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace},
    events::v1::Event,
};
use kube::core::PartialObjectMeta;
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    Request,
    cache::InformerOptions,
    client::{Client, ClientError, DeleteOptions, ListOptions, OperationResult, Patch},
    finalizers::contains_finalizer,
    manager::{Manager, Options},
    owner_references::set_controller_reference,
};
use kubewright_world::{Clock, Random};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

fn server() -> ApiServer {
    ApiServer::builder().clock(clock()).random(Random::seeded(7)).build()
}

fn clock() -> Clock {
    Clock::starting_at("2030-01-01T00:00:00Z".parse().expect("a timestamp"))
}

fn client(server: &ApiServer) -> Client {
    Client::new(kube::Client::new(server.service(), "default"), "operator")
}

fn config(name: &str, data: &Value) -> ConfigMap {
    let labels = json!({"app": "cart"});
    let object = json!({"metadata": {"namespace": "default", "name": name, "labels": labels}, "data": data});
    serde_json::from_value(object).expect("a config map")
}

fn key(name: &str) -> Request {
    Request::namespaced("default", name)
}

#[tokio::test(start_paused = true)]
async fn objects_are_created_changed_and_deleted() {
    let server = server();
    let client = client(&server);
    let created = client.create(&config("a", &json!({"x": "1"}))).await.expect("created");
    assert!(created.metadata.uid.is_some());
    let error = client.create(&config("a", &json!({}))).await.expect_err("it exists");
    assert!(error.is_already_exists(), "{error}");
    assert_eq!(
        error.to_string(),
        "cannot create configmaps \"default/a\": configmaps \"a\" already exists (409 AlreadyExists)"
    );

    let mut newer = created.clone();
    newer.data = Some([("x".to_owned(), "2".to_owned())].into());
    client.update(&newer).await.expect("updated");
    let error = client.update(&created).await.expect_err("it changed");
    assert!(error.is_conflict(), "{error}");

    let patched = client
        .patch::<ConfigMap>(key("a"), Patch::merge(json!({"data": {"y": "3", "x": null}})))
        .await
        .expect("patched");
    assert_eq!(patched.data, Some([("y".to_owned(), "3".to_owned())].into()));
    let tested = serde_json::from_value(json!([
        {"op": "test", "path": "/data/y", "value": "3"}, {"op": "replace", "path": "/data/y", "value": "4"}
    ]))
    .expect("a patch");
    let patched = client.patch::<ConfigMap>(key("a"), Patch::json(tested)).await.expect("patched");
    assert_eq!(patched.data, Some([("y".to_owned(), "4".to_owned())].into()));

    let wrong = DeleteOptions::default().uid("another");
    let error = client.delete::<ConfigMap>(key("a"), wrong).await.expect_err("another uid");
    assert!(error.is_conflict(), "{error}");
    assert!(client.delete::<ConfigMap>(key("a"), DeleteOptions::background()).await.expect("deleted"));
    assert!(!client.delete::<ConfigMap>(key("a"), DeleteOptions::background()).await.expect("gone"));
    assert!(client.live().get::<ConfigMap>(key("a")).await.expect("an answer").is_none());
}

#[tokio::test(start_paused = true)]
async fn an_apply_that_changes_nothing_writes_nothing() {
    let server = server();
    let client = client(&server);
    let first = client.apply(&config("a", &json!({"x": "1"}))).await.expect("applied");
    let again = client.apply(&config("a", &json!({"x": "1"}))).await.expect("applied");
    assert_eq!(first.metadata.resource_version, again.metadata.resource_version);

    let other = client.clone().with_field_manager("other").with_force(false);
    let error = other.apply(&config("a", &json!({"x": "2"}))).await.expect_err("a conflict");
    assert!(error.is_conflict(), "{error}");
    assert!(error.to_string().contains("conflict with \"operator\""), "{error}");
    let taken = other.with_force(true).apply(&config("a", &json!({"x": "2"}))).await.expect("taken over");
    assert_eq!(taken.data, Some([("x".to_owned(), "2".to_owned())].into()));
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_stores_nothing() {
    let server = server();
    let client = client(&server);
    let dry = client.clone().with_dry_run();
    dry.create(&config("a", &json!({}))).await.expect("would be created");
    assert!(client.live().get::<ConfigMap>(key("a")).await.expect("an answer").is_none());
    client.create(&config("a", &json!({}))).await.expect("created");
    assert!(dry.delete::<ConfigMap>(key("a"), DeleteOptions::default()).await.expect("would be deleted"));
    assert!(client.live().get::<ConfigMap>(key("a")).await.expect("an answer").is_some());
}

#[tokio::test(start_paused = true)]
async fn lists_are_paged_selected_and_deleted() {
    let server = server();
    let client = client(&server);
    for number in 0..1001 {
        client.create(&config(&format!("c{number:04}"), &json!({}))).await.expect("created");
    }
    let mut other = config("other", &json!({}));
    other.metadata.labels = None;
    client.create(&other).await.expect("created");

    let ours = ListOptions::in_namespace("default").label("app", "cart");
    let all = client.live().list::<PartialObjectMeta<ConfigMap>>(ours.clone()).await.expect("a list");
    assert_eq!(all.len(), 1001);
    let one = ListOptions::all().field("metadata.name", "c0007");
    assert_eq!(client.live().list::<ConfigMap>(one).await.expect("a list").len(), 1);
    client.delete_all_of::<ConfigMap>(ours.clone(), DeleteOptions::default()).await.expect("deleted");
    assert!(client.live().list::<ConfigMap>(ours).await.expect("a list").is_empty());
    assert!(client.live().get::<ConfigMap>(key("other")).await.expect("an answer").is_some());
}

#[tokio::test(start_paused = true)]
async fn create_or_patch_writes_once() {
    let server = server();
    let client = client(&server);
    let mut results = Vec::new();
    for value in ["1", "1", "2"] {
        let (_, result) = client
            .create_or_patch(config("a", &json!({})), |config| {
                config.data.get_or_insert_default().insert("x".into(), value.into());
                Ok(())
            })
            .await
            .expect("no error");
        results.push(result);
    }
    assert_eq!(results, [OperationResult::Created, OperationResult::Unchanged, OperationResult::Updated]);
}

#[tokio::test(start_paused = true)]
async fn a_finalizer_keeps_an_object_until_it_is_removed() {
    let server = server();
    let client = client(&server);
    let created = client.create(&config("a", &json!({}))).await.expect("created");
    let guarded = client.add_finalizer(&created, "example.com/a").await.expect("added");
    assert!(contains_finalizer(&guarded, "example.com/a"));
    let error = client.add_finalizer(&created, "example.com/b").await.expect_err("an old version");
    assert!(error.is_conflict(), "{error}");
    assert!(client.delete::<ConfigMap>(key("a"), DeleteOptions::default()).await.expect("deleted"));
    let dying = client.live().get::<ConfigMap>(key("a")).await.expect("an answer").expect("it stays");
    assert!(dying.metadata.deletion_timestamp.is_some());
    client.remove_finalizer(&dying, "example.com/a").await.expect("removed");
    assert!(client.live().get::<ConfigMap>(key("a")).await.expect("an answer").is_none());
}

#[tokio::test(start_paused = true)]
async fn the_status_is_written_apart_and_owners_are_kept() {
    let server = server();
    let client = client(&server);
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"namespace": "default", "name": "cart"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "cart"}},
            "template": {
                "metadata": {"labels": {"app": "cart"}},
                "spec": {"containers": [{"name": "cart", "image": "cart:1"}]},
            },
        },
    }))
    .expect("a deployment");
    let mut stored = client.apply(&deployment).await.expect("applied");
    stored.status.get_or_insert_default().replicas = Some(2);
    let updated = client.status().update(&stored).await.expect("updated");
    assert_eq!(updated.status.and_then(|status| status.replicas), Some(2));
    let patched = client
        .status()
        .patch::<Deployment>(
            key("cart"),
            Patch::merge(json!({"status": {"replicas": 3}, "spec": {"replicas": 9}})),
        )
        .await
        .expect("patched");
    assert_eq!(patched.status.and_then(|status| status.replicas), Some(3));
    assert_eq!(patched.spec.replicas, Some(1), "the status endpoint leaves the spec alone");

    let mut owned = config("settings", &json!({}));
    set_controller_reference(&stored, &mut owned).expect("an owner");
    let owned = client.apply(&owned).await.expect("applied");
    assert_eq!(owned.metadata.owner_references.map(|owners| owners.len()), Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_name_is_made_by_the_server_and_a_patch_is_for_one_version() {
    let server = server();
    let client = client(&server);
    let mut nameless = config("", &json!({"x": "1"}));
    nameless.metadata.name = None;
    nameless.metadata.generate_name = Some("cart-".into());
    let created = client.create(&nameless).await.expect("created");
    let name = created.metadata.name.clone().unwrap_or_default();
    assert!(name.starts_with("cart-") && name.len() == 10, "{name}");

    let mut changed = created.clone();
    changed.data = Some([("y".to_owned(), "2".to_owned())].into());
    let version = created.metadata.resource_version.clone().unwrap_or_default();
    let patch = Patch::merge_from(&created, &changed).expect("a patch").at_version(version);
    let patched: ConfigMap = client.patch(&created, patch.clone()).await.expect("patched");
    assert_eq!(patched.data, changed.data);
    let error = client.patch::<ConfigMap>(&created, patch).await.expect_err("it changed since");
    assert!(error.is_conflict(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_missing_kind_is_told_from_a_missing_object() {
    let server = server();
    let resource =
        kube::core::ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk("example.com", "v1", "Cart"));
    let error = client(&server).dynamic(&resource).get(key("a")).await.expect_err("no such kind");
    assert!(error.is_unknown_kind(), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_manager_reads_declared_kinds_from_its_cache_and_records_events() {
    let server = server();
    let kube = kube::Client::new(server.service(), "default");
    let manager = Manager::builder(Options::default())
        .client(kube)
        .clock(clock())
        .random(Random::seeded(1))
        .build()
        .expect("a manager");
    let informer = manager.cache().declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    informer.add_index("size", |config| vec![config.data.iter().flatten().count().to_string()]);
    let client = manager.client();
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start_until(stop).await }
    });

    assert!(client.get::<ConfigMap>(key("a")).await.expect("an answer").is_none());
    client.create(&config("b", &json!({"x": "1"}))).await.expect("created");
    assert!(client.read_your_writes().get::<ConfigMap>(key("b")).await.expect("an answer").is_some());
    let created = client.create(&config("a", &json!({}))).await.expect("created");
    informer.wait_until(|informer| informer.get(&key("a")).is_some()).await;
    let read = client.get::<ConfigMap>(key("a")).await.expect("an answer").expect("an object");
    assert_eq!(read.metadata.uid, created.metadata.uid);
    let list = client.list::<ConfigMap>(ListOptions::in_namespace("default").label("app", "cart")).await;
    let names: Vec<_> =
        list.expect("a list").iter().filter_map(|config| config.metadata.name.clone()).collect();
    assert_eq!(names, ["a", "b"]);
    let list = client.list::<ConfigMap>(ListOptions::all().index("size", "1").label("app", "cart")).await;
    assert_eq!(list.expect("a list").len(), 1);
    let error = client.list::<ConfigMap>(ListOptions::all().index("color", "1")).await.expect_err("no index");
    assert!(matches!(error, ClientError::NoSuchIndex { .. }), "{error}");
    let error = client.get::<Namespace>(&Request::cluster("default")).await.expect_err("not declared");
    assert_eq!(
        error.to_string(),
        "Namespace is not in the cache: declare it on a controller with `.owns::<Namespace>()` or \
         `.watches::<Namespace>(..)`, or read it from the server with `client.live()`"
    );
    assert_eq!(manager.readiness().results().get("watch/configmaps"), Some(&Ok(())));

    let recorder = manager.recorder("cart");
    for _ in 0..3 {
        recorder.normal(&created, "Created", "CreateConfig", "created a config");
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    stop.cancel();
    running.await.expect("no panic").expect("an orderly end");
    let events = client.live().list::<Event>(ListOptions::in_namespace("default")).await.expect("a list");
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].series.as_ref().map(|series| series.count), Some(3));
    assert_eq!(events[0].reporting_controller.as_deref(), Some("cart"));
    let time = events[0].event_time.as_ref().map(|time| time.0.to_string());
    assert_eq!(time.as_deref(), Some("2030-01-01T00:00:00Z"), "the time of the first one");
}
