//! Reads that must show one's own writes, over a watch that is held up.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        autoscaling::v1::Scale,
        core::v1::{ConfigMap, Pod, Secret},
    },
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::{Resource, core::Expression};
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    Action, Request, Result,
    cache::{Informer, InformerOptions},
    client::{Client, ClientError, DeleteOptions, Kind, ListOptions, Patch},
    controller::Controller,
    manager::{Manager, Options},
    owner_references::set_controller_reference,
    reconcile_fn,
};
use kubewright_world::Random;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::super::{clock, config, gate::Gate, key, server};

/// A manager whose cache has kind `K`, and a gate before its watch.
struct World {
    server: ApiServer,
    gate: Gate,
    manager: Manager,
    client: Client,
    stop: CancellationToken,
}

impl World {
    async fn with<K>(options: InformerOptions<K>) -> (Self, Informer<K>)
    where
        K: Resource + DeserializeOwned + Send + Sync + 'static,
    {
        let world = Self::slow(Duration::ZERO);
        let informer = world.manager.cache().declare(options).expect("declared");
        world.start();
        informer.wait_for_sync().await;
        // The watch that follows the list is open as well.
        tokio::time::sleep(Duration::from_millis(1)).await;
        (world, informer)
    }

    fn slow(delay: Duration) -> Self {
        let (server, gate) = (server(), Gate::slow(delay));
        let manager = Manager::builder(Options::default())
            .client(gate.client(&server))
            .clock(clock())
            .random(Random::seeded(1))
            .build()
            .expect("a manager");
        let client = manager.client();
        Self { server, gate, manager, client, stop: CancellationToken::new() }
    }

    fn start(&self) {
        let (manager, stop) = (self.manager.clone(), self.stop.clone());
        tokio::spawn(async move { manager.start_until(stop).await });
    }

    /// Somebody else, who has no cache.
    fn other(&self) -> Client {
        Client::new(kube::Client::new(self.server.service(), "default"), "other")
    }

    /// Lets `write` happen while the watch is held up, and expects a read of `key` to wait until it is not.
    async fn shows<K: Kind>(
        &self,
        key: &Request,
        write: impl Future<Output = Result<(), ClientError>>,
    ) -> Option<Arc<K>> {
        self.gate.close();
        write.await.expect("written");
        let read = self.client.read_your_writes();
        let mut waiting = std::pin::pin!(read.get::<K>(key));
        let early = timeout(Duration::from_secs(1), &mut waiting).await;
        assert!(early.is_err(), "a stale read: {early:?}");
        self.gate.open();
        let start = Instant::now();
        let read = waiting.await.expect("it came");
        assert!(start.elapsed() < Duration::from_millis(10), "{:?}", start.elapsed());
        read
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

fn typed<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).expect("an object of its kind")
}

fn deployment() -> Deployment {
    typed(json!({
        "metadata": {"namespace": "default", "name": "a", "labels": {"app": "a"}},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "a"}},
            "template": {
                "metadata": {"labels": {"app": "a"}},
                "spec": {"containers": [{"name": "a", "image": "a"}]},
            },
        },
    }))
}

fn pod(name: &str) -> Pod {
    typed(json!({
        "metadata": {"namespace": "default", "name": name},
        "spec": {"containers": [{"name": "a", "image": "a"}], "nodeName": "worker"},
    }))
}

fn version<K: Resource>(object: Option<&Arc<K>>) -> Option<&str> {
    object.and_then(|object| object.meta().resource_version.as_deref())
}

#[tokio::test(start_paused = true)]
async fn a_read_waits_for_the_last_write_of_its_key_of_any_sort() {
    let (world, _informer) = World::with(InformerOptions::<Deployment>::new()).await;
    let (client, key) = (world.client.clone(), key("a"));
    let mut last = String::new();
    for sort in ["create", "update", "patch", "apply", "status", "status apply", "scale", "dynamic"] {
        let write = async {
            let mut object = deployment();
            object.metadata.resource_version = Some(last.clone()).filter(|version| !version.is_empty());
            object.metadata.annotations = Some([("sort".to_owned(), sort.to_owned())].into());
            let patch = Patch::merge(json!({"metadata": {"annotations": {"sort": sort}}}));
            let status = json!({"replicas": 1, "observedGeneration": sort.len()});
            let written = match sort {
                "create" => client.create(&object).await?.metadata,
                "update" => client.update(&object).await?.metadata,
                "patch" => client.patch::<Deployment>(&key, patch).await?.metadata,
                "apply" => {
                    object.metadata.resource_version = None;
                    client.apply(&object).await?.metadata
                }
                "status" => {
                    client
                        .status()
                        .patch::<Deployment>(&key, Patch::merge(json!({"status": status})))
                        .await?
                        .metadata
                }
                "status apply" => {
                    object.status = Some(typed(status));
                    client.status().apply(&object).await?.metadata
                }
                "scale" => {
                    let patch = Patch::merge(json!({"spec": {"replicas": 2}}));
                    client.subresource("scale").patch::<Deployment, Scale>(&key, patch).await?.metadata
                }
                _ => {
                    let resource = kube::core::ApiResource::erase::<Deployment>(&());
                    client.dynamic(&resource).patch(&key, patch).await?.metadata
                }
            };
            last = written.resource_version.expect("a version");
            Ok(())
        };
        let read = world.shows::<Deployment>(&key, write).await;
        assert_eq!(version(read.as_ref()), Some(&*last), "{sort}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_deleted_is_not_read_any_more_whatever_the_server_answers() {
    let (world, _informer) = World::with(InformerOptions::<ConfigMap>::new()).await;
    let client = world.client.clone();
    let delete =
        async |name: &str| client.delete::<ConfigMap>(key(name), DeleteOptions::default()).await.map(drop);

    client.create(&config("a", &json!({}))).await.expect("created");
    client.read_your_writes().get::<ConfigMap>(key("a")).await.expect("shown").expect("an object");
    assert!(world.shows::<ConfigMap>(&key("a"), delete("a")).await.is_none(), "answered with a status");

    // One with a finalizer stays, and goes with the last finalizer: the answer to that has the version before.
    let mut kept = config("b", &json!({}));
    kept.metadata.finalizers = Some(vec!["example.com/x".into()]);
    client.create(&kept).await.expect("created");
    let read = world.shows::<ConfigMap>(&key("b"), delete("b")).await.expect("still there");
    assert!(read.metadata.deletion_timestamp.is_some());
    let release = async {
        let patch = Patch::merge(json!({"metadata": {"finalizers": null}}));
        client.patch::<ConfigMap>(key("b"), patch).await.map(drop)
    };
    assert!(world.shows::<ConfigMap>(&key("b"), release).await.is_none());

    // Another one under the same name is no stale one.
    client.create(&config("c", &json!({}))).await.expect("created");
    let again = async {
        delete("c").await?;
        client.create(&config("c", &json!({"x": "2"}))).await.map(drop)
    };
    let read = world.shows::<ConfigMap>(&key("c"), again).await.expect("the second one");
    assert_eq!(read.data.as_ref().map(|data| data["x"].as_str()), Some("2"));

    // One that the cache has yet to hear of: it comes and goes.
    world.gate.close();
    world.other().create(&config("d", &json!({}))).await.expect("created");
    assert!(world.shows::<ConfigMap>(&key("d"), delete("d")).await.is_none());
    assert!(client.get::<ConfigMap>(key("d")).await.expect("an answer").is_none());

    // A whole collection.
    client.create(&config("e", &json!({}))).await.expect("created");
    client.create(&kept_as("f")).await.expect("created");
    let all = async {
        let selection = ListOptions::in_namespace("default");
        client.delete_all_of::<ConfigMap>(selection, DeleteOptions::default()).await
    };
    assert!(world.shows::<ConfigMap>(&key("e"), all).await.is_none());
    let list = client.read_your_writes().list::<ConfigMap>(ListOptions::all()).await.expect("shown");
    assert_eq!(list.len(), 1);
    assert!(list[0].metadata.deletion_timestamp.is_some());
}

fn kept_as(name: &str) -> ConfigMap {
    let mut kept = config(name, &json!({}));
    kept.metadata.finalizers = Some(vec!["example.com/x".into()]);
    kept
}

#[tokio::test(start_paused = true)]
async fn an_eviction_is_answered_with_a_status_and_awaited() {
    let (world, _informer) = World::with(InformerOptions::<Pod>::new()).await;
    let client = world.client.clone();
    client.create(&pod("a")).await.expect("created");
    client.read_your_writes().get::<Pod>(key("a")).await.expect("shown").expect("a pod");
    let evict = async {
        let body = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a", "namespace": "default"}});
        client.subresource("eviction").create::<Pod, Value>(key("a"), &body).await.map(drop)
    };
    let read = world.shows::<Pod>(&key("a"), evict).await;
    assert!(read.is_none_or(|pod| pod.metadata.deletion_timestamp.is_some()));
}

#[tokio::test(start_paused = true)]
async fn a_deletion_whose_event_comes_before_its_answer_is_seen() {
    let (world, informer) = World::with(InformerOptions::<ConfigMap>::new()).await;
    for name in ["a", "b", "c"] {
        world.client.create(&config(name, &json!({}))).await.expect("created");
        informer.wait_until(|informer| informer.get(&key(name)).is_some()).await;
        let deletion = world.client.delete::<ConfigMap>(key(name), DeleteOptions::default());
        let gone = informer.wait_until(|informer| informer.get(&key(name)).is_none());
        // The event first: the answer is looked at when the informer has seen it.
        let ((), deleted) = tokio::join!(biased; gone, deletion);
        assert!(deleted.expect("deleted"));
        let read = timeout(Duration::from_millis(1), async {
            world.client.read_your_writes().get::<ConfigMap>(key(name)).await
        });
        assert!(read.await.expect("at once").expect("an answer").is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_that_waits_in_vain_says_for_what_and_how_long() {
    let (world, _informer) = World::with(InformerOptions::<ConfigMap>::new()).await;
    world.gate.close();
    let written = world.client.create(&config("a", &json!({}))).await.expect("created");
    world.client.create(&config("b", &json!({}))).await.expect("created");
    let start = Instant::now();
    let read = world.client.read_your_writes().within(Duration::from_secs(2));
    let error = read.get::<ConfigMap>(key("a")).await.expect_err("it does not come");
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    assert!(error.is_stale(), "{error}");
    let version = written.metadata.resource_version.as_deref().unwrap_or_default();
    let seen = version.parse::<u64>().expect("a number") - 1;
    assert_eq!(
        error.to_string(),
        format!(
            "the cache of ConfigMap has not shown the write of \"default/a\" at resourceVersion {version}; its watch has \
             come to resourceVersion {seen}, within 2000ms"
        )
    );
    let error = read.list::<ConfigMap>(ListOptions::all()).await.expect_err("they do not come").to_string();
    assert!(error.contains(" and another write; its watch "), "{error}");
    world.gate.open();
    assert_eq!(read.list::<ConfigMap>(ListOptions::all()).await.expect("shown").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_changes_nothing_is_not_awaited() {
    let (world, _informer) = World::with(InformerOptions::<ConfigMap>::new()).await;
    let client = &world.client;
    client.apply(&config("a", &json!({"x": "1"}))).await.expect("applied");
    client.read_your_writes().get::<ConfigMap>(key("a")).await.expect("shown");
    world.gate.close();
    client.apply(&config("a", &json!({"x": "1"}))).await.expect("applied");
    client.create(&config("a", &json!({}))).await.expect_err("it exists");
    client.clone().with_dry_run().create(&config("b", &json!({}))).await.expect("checked");
    client.clone().with_dry_run().apply(&config("a", &json!({"x": "2"}))).await.expect("checked");
    client.delete::<ConfigMap>(key("a"), DeleteOptions::default().dry_run()).await.expect("checked");
    assert!(!client.delete::<ConfigMap>(key("c"), DeleteOptions::default()).await.expect("an answer"));
    world.other().create(&config("d", &json!({}))).await.expect("created");
    let at_once = timeout(Duration::from_millis(1), async {
        client.read_your_writes().list::<ConfigMap>(ListOptions::all()).await
    });
    assert_eq!(at_once.await.expect("nothing to wait for").expect("a list").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_list_waits_for_all_writes_of_its_kind_in_its_namespace_and_for_no_others() {
    let (world, _informer) = World::with(InformerOptions::<ConfigMap>::new()).await;
    let secrets = world.manager.cache().declare(InformerOptions::<Secret>::new()).expect("declared");
    secrets.wait_for_sync().await;
    let client = &world.client;
    world.gate.close();
    for name in ["a", "b", "c"] {
        client.create(&config(name, &json!({}))).await.expect("created");
    }
    let read = client.read_your_writes().within(Duration::from_secs(1));
    let at_once =
        |list: ListOptions| timeout(Duration::from_millis(1), async { read.list::<ConfigMap>(list).await });
    assert!(
        at_once(ListOptions::in_namespace("other"))
            .await
            .expect("nothing to wait for")
            .expect("a list")
            .is_empty()
    );
    read.get::<ConfigMap>(key("z")).await.expect("nothing to wait for");
    read.list::<Secret>(ListOptions::all()).await.expect("nothing to wait for");
    assert!(at_once(ListOptions::in_namespace("default")).await.is_err());
    world.gate.open();
    let list = read.list::<ConfigMap>(ListOptions::in_namespace("default").label("app", "cart")).await;
    assert_eq!(list.expect("shown").len(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_a_label_selector_leaves_out_is_not_awaited_and_what_it_lost_is() {
    let options = InformerOptions::<ConfigMap>::new().labels(Expression::Equal("app".into(), "cart".into()));
    let (world, _informer) = World::with(options).await;
    let client = world.client.clone();
    let mut outside = config("a", &json!({}));
    outside.metadata.labels = None;
    let read = client.read_your_writes();
    let at_once = async || {
        timeout(Duration::from_millis(1), read.list::<ConfigMap>(ListOptions::all()))
            .await
            .expect("at once")
            .expect("a list")
    };
    world.gate.close();
    client.create(&outside).await.expect("created");
    assert!(at_once().await.is_empty());
    client.delete::<ConfigMap>(key("a"), DeleteOptions::default()).await.expect("deleted");
    assert!(at_once().await.is_empty());
    world.gate.open();

    client.create(&config("b", &json!({}))).await.expect("created");
    read.get::<ConfigMap>(key("b")).await.expect("shown").expect("an object");
    let leave = async {
        let patch = Patch::merge(json!({"metadata": {"labels": {"app": "other"}}}));
        client.patch::<ConfigMap>(key("b"), patch).await.map(drop)
    };
    assert!(world.shows::<ConfigMap>(&key("b"), leave).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn what_a_field_selector_leaves_out_is_awaited_to_the_deadline_and_the_next_bookmark() {
    let (world, _informer) = World::with(InformerOptions::<ConfigMap>::new().fields("metadata.name=a")).await;
    let client = &world.client;
    client.create(&config("b", &json!({}))).await.expect("created");
    let error = client.read_your_writes().get::<ConfigMap>(key("b")).await.expect_err("it never comes");
    let text = "and sees objects with metadata.name=a alone: read others with `client.live()`";
    assert!(error.to_string().contains(text), "{error}");
    // The server tells each minute how far it is.
    tokio::time::sleep(Duration::from_secs(65)).await;
    assert!(client.read_your_writes().get::<ConfigMap>(key("b")).await.expect("known").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_gap_in_the_watch_leaves_nothing_awaited() {
    let (world, _informer) = World::with(InformerOptions::<ConfigMap>::new()).await;
    let client = &world.client;
    client.create(&config("a", &json!({}))).await.expect("created");
    client.read_your_writes().get::<ConfigMap>(key("a")).await.expect("shown");
    world.gate.close();
    client.delete::<ConfigMap>(key("a"), DeleteOptions::default()).await.expect("deleted");
    client.create(&config("b", &json!({}))).await.expect("created");
    client.delete::<ConfigMap>(key("b"), DeleteOptions::default()).await.expect("deleted");
    // The watch ends unread, and what happened meanwhile is forgotten by the server: the objects are listed anew.
    tokio::time::sleep(Duration::from_secs(400)).await;
    world.server.compact_now();
    world.gate.open();
    let read = client.read_your_writes().within(Duration::from_secs(120));
    let list = read.list::<ConfigMap>(ListOptions::all()).await;
    assert!(list.expect("shown").is_empty());
}

/// Keeps as many Secrets without names of their own as a ConfigMap asks for, over a watch that is late, and returns
/// how many were created.
async fn created_children(wanted: usize, careful: bool) -> usize {
    let world = World::slow(Duration::from_millis(300));
    let client = world.client.clone();
    let created = Arc::new(AtomicUsize::new(0));
    let reconciler = {
        let (client, created) = (client.clone(), created.clone());
        reconcile_fn(move |request: Request| {
            let (client, created) = (client.clone(), created.clone());
            async move {
                let Some(owner) = client.get::<ConfigMap>(&request).await? else { return Ok(Action::done()) };
                let children = ListOptions::in_namespace(request.namespace());
                let children = match careful {
                    true => client.read_your_writes().list::<Secret>(children).await?,
                    false => client.list::<Secret>(children).await?,
                };
                let wanted: usize =
                    owner.data.as_ref().map_or("0", |data| &data["children"]).parse().unwrap_or(0);
                for _ in children.len()..wanted {
                    let metadata = ObjectMeta {
                        generate_name: Some(format!("{}-", request.name)),
                        namespace: request.namespace.clone(),
                        ..ObjectMeta::default()
                    };
                    let mut child = Secret { metadata, ..Secret::default() };
                    set_controller_reference(&*owner, &mut child)?;
                    client.create(&child).await?;
                    created.fetch_add(1, Ordering::Relaxed);
                }
                for child in children.iter().skip(wanted) {
                    client.delete::<Secret>(&**child, DeleteOptions::default()).await?;
                }
                Ok(Action::done())
            }
        })
    };
    Controller::for_kind::<ConfigMap>(&world.manager).owns::<Secret>().run(reconciler).expect("added");
    world.start();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let other = world.other();
    let mut owner = config("a", &json!({"children": wanted.to_string()}));
    other.create(&owner).await.expect("created");
    // Touched meanwhile, so that it is reconciled while its children are on their way.
    for touch in 0..20 {
        owner.metadata.annotations = Some([("touch".to_owned(), touch.to_string())].into());
        other.apply(&owner).await.expect("touched");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    let secrets = other.live().list::<Secret>(ListOptions::in_namespace("default")).await.expect("a list");
    assert_eq!(secrets.len(), wanted);
    created.load(Ordering::Relaxed)
}

#[tokio::test(start_paused = true)]
async fn a_reconciler_that_creates_children_needs_no_expectations_of_its_own() {
    assert_eq!(created_children(5, true).await, 5);
    assert!(created_children(5, false).await > 5, "without it, a stale list has it create more");
}
