//! The server through `kube::Client`, in one thread and under paused time.

use std::{collections::BTreeMap, pin::pin, time::Duration};

use futures::{StreamExt, TryStreamExt};
use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Event, Namespace, Pod},
        events::v1::Event as EventsEvent,
    },
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, ResourceExt,
    api::{
        DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, PropagationPolicy,
        WatchEvent, WatchParams,
    },
    core::{ApiResource, GroupVersionKind},
    runtime::{WatchStreamExt, wait, watcher},
};
use kubewright_apiserver::ApiServer;
use kubewright_world::{Clock, Random};
use serde_json::json;

fn server() -> ApiServer {
    let epoch: Timestamp = "2030-01-01T00:00:00Z".parse().expect("a timestamp");
    ApiServer::builder().clock(Clock::starting_at(epoch)).random(Random::seeded(1)).build()
}

fn client(server: &ApiServer) -> Client {
    Client::new(server.service(), "default")
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}, "data": {"key": value}})).expect("a config map")
}

fn status_of(error: &kube::Error) -> (u16, String) {
    match error {
        kube::Error::Api(status) => (status.code, status.message.clone()),
        other => panic!("no answer of the server: {other}"),
    }
}

#[tokio::test(start_paused = true)]
async fn objects_are_created_read_changed_listed_and_deleted() {
    let server = server();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&server));
    let created = maps.create(&PostParams::default(), &config_map("a", "1")).await.expect("created");
    assert_eq!(created.namespace().as_deref(), Some("default"));
    assert_eq!(
        created.creation_timestamp().map(|t| t.0.to_string()).as_deref(),
        Some("2030-01-01T00:00:00Z")
    );
    assert!(created.uid().is_some());

    let again = maps.create(&PostParams::default(), &config_map("a", "1")).await.expect_err("it is there");
    assert_eq!(status_of(&again), (409, "configmaps \"a\" already exists".to_owned()));

    let mut changed = created.clone();
    changed.data = Some(BTreeMap::from([("key".to_owned(), "2".to_owned())]));
    let changed = maps.replace("a", &PostParams::default(), &changed).await.expect("replaced");
    assert_ne!(changed.resource_version(), created.resource_version());
    let stale = maps.replace("a", &PostParams::default(), &created).await.expect_err("an old version");
    assert_eq!(
        status_of(&stale),
        (
            409,
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your \
             changes to the latest version and try again"
                .to_owned()
        )
    );

    let patch = json!({"data": {"key": "2"}});
    let same = maps.patch("a", &PatchParams::default(), &Patch::Merge(patch)).await.expect("patched");
    assert_eq!(same.resource_version(), changed.resource_version(), "nothing has changed");

    let list = maps.list(&ListParams::default()).await.expect("a list");
    assert_eq!(list.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["a"]);
    let status = maps.delete("a", &DeleteParams::default()).await.expect("deleted").right().expect("at once");
    assert!(status.is_success());
    let missing = maps.get("a").await.expect_err("it is gone");
    assert_eq!(status_of(&missing), (404, "configmaps \"a\" not found".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_list_comes_in_pages_of_one_moment() {
    let server = server();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&server));
    for name in ["a", "b", "c"] {
        maps.create(&PostParams::default(), &config_map(name, "1")).await.expect("created");
    }
    let first = maps.list(&ListParams::default().limit(2)).await.expect("a page");
    assert_eq!(first.metadata.remaining_item_count, Some(1));
    let token = first.metadata.continue_.clone().expect("more to come");
    maps.delete("c", &DeleteParams::default()).await.expect("deleted");
    let next = ListParams::default().limit(2).continue_token(&token);
    let second = maps.list(&next).await.expect("the rest");
    assert_eq!(second.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["c"]);
    assert_eq!(second.metadata.resource_version, first.metadata.resource_version);

    server.compact_now();
    let expired = maps.list(&next).await.expect_err("the moment is forgotten");
    assert_eq!(status_of(&expired).0, 410);
}

#[tokio::test(start_paused = true)]
async fn a_watch_tells_what_happens_and_ends_on_time() {
    let server = server();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&server));
    let start = maps
        .list(&ListParams::default())
        .await
        .expect("a list")
        .metadata
        .resource_version
        .expect("a version");
    let params = WatchParams::default().labels("watched=yes").timeout(10);
    let mut events = pin!(maps.watch(&params, &start).await.expect("a watch"));

    let mut labelled = config_map("a", "1");
    labelled.labels_mut().insert("watched".to_owned(), "yes".to_owned());
    maps.create(&PostParams::default(), &labelled).await.expect("created");
    maps.create(&PostParams::default(), &config_map("b", "1")).await.expect("created");
    let patch = Patch::Merge(json!({"data": {"key": "2"}}));
    maps.patch("a", &PatchParams::default(), &patch).await.expect("patched");
    let patch = Patch::Merge(json!({"metadata": {"labels": {"watched": null}}}));
    let left = maps.patch("a", &PatchParams::default(), &patch).await.expect("patched");

    let mut told = Vec::new();
    while let Some(event) = events.try_next().await.expect("an event") {
        let (kind, object) = match event {
            WatchEvent::Added(object) => ("added", object),
            WatchEvent::Modified(object) => ("modified", object),
            WatchEvent::Deleted(object) => ("deleted", object),
            // It comes shortly before the end.
            WatchEvent::Bookmark(_) => continue,
            other => panic!("unexpected: {other:?}"),
        };
        told.push((kind, object.data.unwrap_or_default()["key"].clone(), object.metadata.resource_version));
    }
    assert_eq!(
        told.iter().map(|(kind, data, _)| (*kind, data.as_str())).collect::<Vec<_>>(),
        [("added", "1"), ("modified", "2"), ("deleted", "2")]
    );
    assert_eq!(told.last().map(|(.., version)| version.clone()), Some(left.resource_version()));
}

#[tokio::test(start_paused = true)]
async fn informers_of_both_kinds_follow_through_expiry() {
    for config in [watcher::Config::default(), watcher::Config::default().streaming_lists()] {
        let server = server();
        let maps: Api<ConfigMap> = Api::default_namespaced(client(&server));
        maps.create(&PostParams::default(), &config_map("a", "1")).await.expect("created");
        let mut stream = pin!(watcher(maps.clone(), config).default_backoff());
        let mut init = Vec::new();
        loop {
            match stream.try_next().await.expect("an event").expect("more") {
                watcher::Event::InitApply(object) => init.push(object.name_any()),
                watcher::Event::InitDone => break,
                watcher::Event::Init => {}
                other => panic!("unexpected: {other:?}"),
            }
        }
        assert_eq!(init, ["a"]);
        maps.create(&PostParams::default(), &config_map("b", "1")).await.expect("created");
        let event = stream.try_next().await.expect("an event").expect("more");
        assert!(matches!(event, watcher::Event::Apply(object) if object.name_any() == "b"));

        server.compact_now();
        maps.create(&PostParams::default(), &config_map("c", "1")).await.expect("created");
        let mut after = Vec::new();
        while after.len() < 3 {
            // The expiry is an error first, then the watcher starts anew.
            if let Some(Ok(watcher::Event::InitApply(object))) = stream.next().await {
                after.push(object.name_any());
            }
        }
        assert_eq!(after, ["a", "b", "c"]);
    }
}

#[tokio::test(start_paused = true)]
async fn finalizers_hold_a_deleted_object_back() {
    let server = server();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&server));
    let mut held = config_map("a", "1");
    held.finalizers_mut().push("example.com/hold".to_owned());
    maps.create(&PostParams::default(), &held).await.expect("created");
    let going =
        maps.delete("a", &DeleteParams::default()).await.expect("deleted").left().expect("it is held");
    assert!(going.metadata.deletion_timestamp.is_some());
    assert_eq!(going.metadata.deletion_grace_period_seconds, Some(0));

    let add = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}));
    let refused = maps.patch("a", &PatchParams::default(), &add).await.expect_err("too late");
    assert_eq!(
        status_of(&refused),
        (
            422,
            "ConfigMap \"a\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object \
             is being deleted, found new finalizers []string{\"example.com/more\"}"
                .to_owned()
        )
    );
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let last = maps.patch("a", &PatchParams::default(), &release).await.expect("released");
    assert!(last.finalizers().is_empty());
    assert_eq!(maps.get_opt("a").await.expect("an answer"), None);

    maps.create(&PostParams::default(), &config_map("b", "1")).await.expect("created");
    let foreground =
        DeleteParams { propagation_policy: Some(PropagationPolicy::Foreground), ..DeleteParams::default() };
    let going =
        maps.delete("b", &foreground).await.expect("deleted").left().expect("it waits for dependents");
    assert_eq!(going.finalizers(), ["foregroundDeletion"]);
}

#[tokio::test(start_paused = true)]
async fn the_status_is_written_apart_and_does_not_count_as_a_generation() {
    let server = server();
    let deployments: Api<Deployment> = Api::default_namespaced(client(&server));
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": {"app": "d"}},
            "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
        "status": {"replicas": 7},
    }))
    .expect("a deployment");
    let created = deployments.create(&PostParams::default(), &deployment).await.expect("created");
    assert_eq!(created.metadata.generation, Some(1));
    assert_eq!(created.status.and_then(|status| status.replicas), None);

    let patch = Patch::Merge(json!({"spec": {"replicas": 3}, "status": {"replicas": 3}}));
    let status = deployments.patch_status("d", &PatchParams::default(), &patch).await.expect("patched");
    assert_eq!(status.metadata.generation, Some(1));
    assert_eq!(status.status.and_then(|status| status.replicas), Some(3));
    assert_ne!(status.spec.replicas, Some(3));

    let spec = deployments.patch("d", &PatchParams::default(), &patch).await.expect("patched");
    assert_eq!(spec.metadata.generation, Some(2));
    assert_eq!(spec.spec.replicas, Some(3));
}

fn widgets() -> CustomResourceDefinition {
    serde_json::from_value(json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "properties": {
                        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
                    },
                }},
            }],
        },
    }))
    .expect("a CRD")
}

fn widget_api(server: &ApiServer) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("example.com", "v1", "Widget");
    Api::default_namespaced_with(client(server), &ApiResource::from_gvk(&kind))
}

fn widget(name: &str) -> DynamicObject {
    serde_json::from_value(json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": {"size": 1},
    }))
    .expect("a widget")
}

#[tokio::test(start_paused = true)]
async fn a_custom_resource_is_served_as_soon_as_its_definition_is_there() {
    let server = server();
    let crds: Api<CustomResourceDefinition> = Api::all(client(&server));
    let widgets_api = widget_api(&server);
    widgets_api.list(&ListParams::default()).await.expect_err("not served yet");
    crds.create(&PostParams::default(), &widgets()).await.expect("created");
    wait::await_condition(crds.clone(), "widgets.example.com", wait::conditions::is_crd_established())
        .await
        .expect("established");

    let created = widgets_api.create(&PostParams::default(), &widget("w")).await.expect("created");
    assert_eq!(created.metadata.generation, Some(1));
    let patch = Patch::Merge(json!({"status": {"ready": true}, "spec": {"size": 2}}));
    let status = widgets_api.patch_status("w", &PatchParams::default(), &patch).await.expect("patched");
    assert_eq!((&status.data["status"]["ready"], &status.data["spec"]["size"]), (&json!(true), &json!(1)));
    let spec = widgets_api.patch("w", &PatchParams::default(), &patch).await.expect("patched");
    assert_eq!(spec.metadata.generation, Some(2));

    let hold = Patch::Merge(json!({"metadata": {"finalizers": ["example.com/hold"]}}));
    widgets_api.patch("w", &PatchParams::default(), &hold).await.expect("patched");
    let going = crds.delete("widgets.example.com", &DeleteParams::default()).await.expect("deleted");
    assert!(going.is_left());
    let refused = widgets_api.create(&PostParams::default(), &widget("x")).await.expect_err("it is late");
    assert_eq!(
        status_of(&refused),
        (
            403,
            "widgets.example.com \"x\" is forbidden: create not allowed while custom resource definition is \
             terminating"
                .to_owned()
        )
    );
    let release = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    widgets_api.patch("w", &PatchParams::default(), &release).await.expect("released");
    assert_eq!(crds.get_opt("widgets.example.com").await.expect("an answer"), None);
    widgets_api.list(&ListParams::default()).await.expect_err("not served any more");
}

#[tokio::test(start_paused = true)]
async fn events_are_the_same_in_both_groups() {
    let server = server();
    let event: EventsEvent = serde_json::from_value(json!({
        "metadata": {"generateName": "e-"},
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"},
        "note": "hello", "reason": "Greeted", "type": "Normal", "action": "Greet",
        "reportingController": "example.com/greeter", "reportingInstance": "g",
        "eventTime": "2030-01-01T00:00:00.000000Z",
    }))
    .expect("an event");
    let new: Api<EventsEvent> = Api::default_namespaced(client(&server));
    let created = new.create(&PostParams::default(), &event).await.expect("created");
    let old: Api<Event> = Api::default_namespaced(client(&server));
    let same = old.list(&ListParams::default().fields("involvedObject.name=p")).await.expect("a list");
    assert_eq!(same.items.len(), 1);
    assert_eq!(same.items[0].message.as_deref(), Some("hello"));
    assert_eq!(same.items[0].name_any(), created.name_any());
}

#[tokio::test(start_paused = true)]
async fn namespaces_must_be_there_and_not_about_to_go() {
    let server = server();
    let elsewhere: Api<ConfigMap> = Api::namespaced(client(&server), "elsewhere");
    let missing =
        elsewhere.create(&PostParams::default(), &config_map("a", "1")).await.expect_err("no namespace");
    assert_eq!(status_of(&missing), (404, "namespaces \"elsewhere\" not found".to_owned()));

    let namespaces: Api<Namespace> = Api::all(client(&server));
    let namespace: Namespace =
        serde_json::from_value(json!({"metadata": {"name": "elsewhere"}})).expect("a namespace");
    let created = namespaces.create(&PostParams::default(), &namespace).await.expect("created");
    assert_eq!(created.labels().get("kubernetes.io/metadata.name").map(String::as_str), Some("elsewhere"));
    elsewhere.create(&PostParams::default(), &config_map("a", "1")).await.expect("created");
    let going = namespaces.delete("elsewhere", &DeleteParams::default()).await.expect("deleted").left();
    let phase = going.and_then(|going| going.status).and_then(|status| status.phase);
    assert_eq!(phase.as_deref(), Some("Terminating"));
    let refused =
        elsewhere.create(&PostParams::default(), &config_map("b", "1")).await.expect_err("it is late");
    assert_eq!(status_of(&refused).0, 403);
}

#[tokio::test(start_paused = true)]
async fn a_running_pod_is_given_grace() {
    let server = server();
    let pods: Api<Pod> = Api::default_namespaced(client(&server));
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
    }))
    .expect("a pod");
    pods.create(&PostParams::default(), &pod).await.expect("created");
    let going =
        pods.delete("p", &DeleteParams::default()).await.expect("deleted").left().expect("it has grace");
    assert_eq!(going.metadata.deletion_grace_period_seconds, Some(30));
    let now = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::default() };
    let gone = pods.delete("p", &now).await.expect("deleted").left().expect("a pod is answered as it was");
    assert_eq!(gone.metadata.deletion_grace_period_seconds, Some(0));
    assert!(pods.get_opt("p").await.expect("an answer").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_server_goes_on_from_a_snapshot() {
    let before = server();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&before));
    maps.create(&PostParams::default(), &config_map("a", "1")).await.expect("created");
    let version = maps
        .list(&ListParams::default())
        .await
        .expect("a list")
        .metadata
        .resource_version
        .expect("a version");
    let mut open = pin!(maps.watch(&WatchParams::default(), &version).await.expect("a watch"));
    let snapshot = before.snapshot();
    before.close();
    assert!(open.try_next().await.expect("a clean end").is_none());
    maps.get("a").await.expect_err("the server is closed");

    let after = ApiServer::builder().restore(snapshot).build();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&after));
    assert_eq!(maps.get("a").await.expect("kept").data, config_map("a", "1").data);
    let mut events = pin!(maps.watch(&WatchParams::default(), &version).await.expect("a watch"));
    maps.create(&PostParams::default(), &config_map("b", "1")).await.expect("created");
    let event = events.try_next().await.expect("an event").expect("more");
    assert!(matches!(event, WatchEvent::Added(object) if object.name_any() == "b"));
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_in_time() {
    let server = server();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&server));
    let mut events = pin!(maps.watch(&WatchParams::default().timeout(290), "1").await.expect("a watch"));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let namespaces: Api<Namespace> = Api::all(client(&server));
    let other: Namespace =
        serde_json::from_value(json!({"metadata": {"name": "other"}})).expect("a namespace");
    let latest = namespaces.create(&PostParams::default(), &other).await.expect("created").resource_version();
    let event = events.try_next().await.expect("an event").expect("more");
    let WatchEvent::Bookmark(bookmark) = event else { panic!("unexpected: {event:?}") };
    assert_eq!(Some(bookmark.metadata.resource_version), latest);
}

#[tokio::test(start_paused = true)]
async fn two_runs_of_one_seed_are_equal() {
    async fn run() -> String {
        let server = server();
        let maps: Api<ConfigMap> = Api::default_namespaced(client(&server));
        let mut map = config_map("", "1");
        map.metadata.name = None;
        map.metadata.generate_name = Some("a-".to_owned());
        for _ in 0..3 {
            maps.create(&PostParams::default(), &map).await.expect("created");
        }
        let list = maps.list(&ListParams::default()).await.expect("a list");
        serde_json::to_string(&list).expect("JSON")
    }
    assert_eq!(run().await, run().await);
}

fn strict_widgets() -> CustomResourceDefinition {
    let mut crd = widgets();
    crd.spec.versions[0].schema = serde_json::from_value(json!({"openAPIV3Schema": {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["size"],
                "properties": {
                    "size": {"type": "integer", "minimum": 1, "maximum": 3},
                    "color": {"type": "string", "default": "red"},
                },
            },
            "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}},
        },
    }}))
    .expect("a schema");
    crd
}

#[tokio::test(start_paused = true)]
async fn custom_resources_are_pruned_defaulted_and_checked() {
    let server = server();
    let crds: Api<CustomResourceDefinition> = Api::all(client(&server));
    crds.create(&PostParams::default(), &strict_widgets()).await.expect("created");
    let api = widget_api(&server);

    let mut wrong = widget("w");
    wrong.data["spec"] = json!({"size": 4});
    let refused = api.create(&PostParams::default(), &wrong).await.expect_err("out of bounds");
    assert_eq!(
        status_of(&refused),
        (
            422,
            "Widget.example.com \"w\" is invalid: spec.size: Invalid value: 4: spec.size in body should be less than \
             or equal to 3"
                .to_owned()
        )
    );
    let refused = api.create(&PostParams::default(), &widget("Bad_Name")).await.expect_err("a bad name");
    assert_eq!(status_of(&refused).0, 422);

    let mut unknown = widget("w");
    unknown.data["spec"] = json!({"size": 1, "sise": 2});
    let created = api.create(&PostParams::default(), &unknown).await.expect("created");
    assert_eq!(created.data["spec"], json!({"size": 1, "color": "red"}));
    let same = api.get("w").await.expect("there");
    assert_eq!(same.metadata.resource_version, created.metadata.resource_version);

    let patch = Patch::Merge(json!({"spec": {"size": null}}));
    let refused = api.patch("w", &PatchParams::default(), &patch).await.expect_err("it is required");
    assert_eq!(status_of(&refused).1, "Widget.example.com \"w\" is invalid: spec.size: Required value");
    let patch = Patch::Merge(json!({"spec": {"sise": 3}}));
    let strict =
        PatchParams { field_validation: Some(kube::api::ValidationDirective::Strict), ..Default::default() };
    let refused = api.patch("w", &strict, &patch).await.expect_err("an unknown field");
    assert_eq!(status_of(&refused).0, 422);
    assert!(status_of(&refused).1.contains("unknown field \"spec.sise\""), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn appliers_own_what_they_apply() {
    let server = server();
    let crds: Api<CustomResourceDefinition> = Api::all(client(&server));
    crds.create(&PostParams::default(), &strict_widgets()).await.expect("created");
    let api = widget_api(&server);
    let apply = |size: i64| {
        Patch::Apply(json!({
            "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": size},
        }))
    };
    let one = api.patch("w", &PatchParams::apply("one"), &apply(1)).await.expect("applied");
    assert_eq!(one.data["spec"], json!({"size": 1, "color": "red"}));
    tokio::time::advance(Duration::from_secs(5)).await;
    let again = api.patch("w", &PatchParams::apply("one"), &apply(1)).await.expect("applied");
    assert_eq!(again.metadata, one.metadata, "nothing has changed");

    let conflict = api.patch("w", &PatchParams::apply("two"), &apply(2)).await.expect_err("it is owned");
    assert_eq!(
        status_of(&conflict),
        (409, "Apply failed with 1 conflict: conflict with \"one\": .spec.size".to_owned())
    );
    let two = api.patch("w", &PatchParams::apply("two").force(), &apply(2)).await.expect("forced");
    assert_eq!(two.metadata.generation, Some(2));
    let managers: Vec<_> = two.managed_fields().iter().filter_map(|entry| entry.manager.as_deref()).collect();
    assert_eq!(managers, ["two"]);

    let status = Patch::Apply(json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "status": {"ready": true},
    }));
    let ready = api.patch_status("w", &PatchParams::apply("three"), &status).await.expect("applied");
    assert_eq!((&ready.data["status"]["ready"], &ready.data["spec"]["size"]), (&json!(true), &json!(2)));
    let own = ready.managed_fields().iter().find(|entry| entry.manager.as_deref() == Some("three"));
    assert_eq!(own.and_then(|entry| entry.subresource.as_deref()), Some("status"));
}

#[tokio::test(start_paused = true)]
async fn built_in_kinds_are_applied_by_their_list_keys() {
    let server = server();
    let api: Api<Deployment> = Api::default_namespaced(client(&server));
    let apply = |container: &str| {
        Patch::Apply(json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"},
            "spec": {
                "selector": {"matchLabels": {"app": "d"}},
                "template": {
                    "metadata": {"labels": {"app": "d"}},
                    "spec": {"containers": [{"name": container, "image": "i"}]},
                },
            },
        }))
    };
    api.patch("d", &PatchParams::apply("one"), &apply("a")).await.expect("applied");
    let both = api.patch("d", &PatchParams::apply("two").force(), &apply("b")).await.expect("applied");
    let names = |deployment: &Deployment| {
        let spec = deployment.spec.template.spec.clone().expect("a pod spec");
        spec.containers.into_iter().map(|container| container.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&both), ["a", "b"]);
    let one = api.patch("d", &PatchParams::apply("two"), &apply("c")).await.expect("applied");
    assert_eq!(names(&one), ["a", "c"], "what an applier does not mention any more goes");
}

#[tokio::test(start_paused = true)]
async fn writers_are_told_apart_in_managed_fields() {
    let server = server();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&server));
    let params = PostParams { field_manager: Some("tester".to_owned()), ..PostParams::default() };
    let created = maps.create(&params, &config_map("a", "1")).await.expect("created");
    let entry = &created.managed_fields()[0];
    assert_eq!((entry.manager.as_deref(), entry.operation.as_deref()), (Some("tester"), Some("Update")));
    assert_eq!(
        serde_json::to_value(&entry.fields_v1).expect("JSON"),
        json!({"f:data": {".": {}, "f:key": {}}})
    );
}

#[tokio::test(start_paused = true)]
async fn users_may_do_what_rbac_allows() {
    use k8s_openapi::api::{
        authentication::v1::TokenRequest,
        core::v1::ServiceAccount,
        rbac::v1::{Role, RoleBinding},
    };
    use kubewright_apiserver::User;

    let server = server();
    let jane = User { name: "jane".to_owned(), ..User::default() };
    let maps: Api<ConfigMap> =
        Api::default_namespaced(Client::new(server.service_as(jane.clone()), "default"));
    let refused = maps.list(&ListParams::default()).await.expect_err("nothing is allowed");
    assert_eq!(
        status_of(&refused),
        (
            403,
            "configmaps is forbidden: User \"jane\" cannot list resource \"configmaps\" in API group \"\" in the \
             namespace \"default\""
                .to_owned()
        )
    );
    let roles: Api<Role> = Api::default_namespaced(client(&server));
    let role: Role = serde_json::from_value(json!({
        "metadata": {"name": "reader"},
        "rules": [
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]},
            {"apiGroups": ["rbac.authorization.k8s.io"], "resources": ["roles"], "verbs": ["create"]},
        ],
    }))
    .expect("a role");
    roles.create(&PostParams::default(), &role).await.expect("created");
    let bindings: Api<RoleBinding> = Api::default_namespaced(client(&server));
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": {"name": "readers"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "jane"},
            {"kind": "ServiceAccount", "name": "robot", "namespace": "default"},
        ],
    }))
    .expect("a binding");
    bindings.create(&PostParams::default(), &binding).await.expect("created");
    maps.list(&ListParams::default()).await.expect("allowed");

    let roles_of_jane: Api<Role> = Api::default_namespaced(Client::new(server.service_as(jane), "default"));
    let mut more = role;
    more.metadata.name = Some("more".to_owned());
    more.rules.as_mut().expect("rules")[0].verbs.push("delete".to_owned());
    let refused = roles_of_jane.create(&PostParams::default(), &more).await.expect_err("more than she has");
    assert!(
        status_of(&refused).1.contains("is attempting to grant RBAC permissions not currently held"),
        "{refused}"
    );

    // A token of a service account, as over the network.
    let accounts: Api<ServiceAccount> = Api::default_namespaced(client(&server));
    let account: ServiceAccount =
        serde_json::from_value(json!({"metadata": {"name": "robot"}})).expect("an account");
    accounts.create(&PostParams::default(), &account).await.expect("created");
    let request: TokenRequest =
        serde_json::from_value(json!({"spec": {"audiences": []}})).expect("a request");
    let token =
        accounts.create_token_request("robot", &PostParams::default(), &request).await.expect("a token");
    let token = token.status.expect("a status").token.expect("a token");
    let send = async |authorization: Option<String>| {
        use tower::ServiceExt;
        let mut request = http::Request::get("/api/v1/namespaces/default/configmaps");
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        let request = request.body(http_body_util::Empty::<bytes::Bytes>::new()).expect("a request");
        server.authenticating_service().oneshot(request).await.expect("an answer").status().as_u16()
    };
    assert_eq!(send(Some(format!("Bearer {token}"))).await, 200);
    assert_eq!(send(Some("Bearer nonsense".to_owned())).await, 401);
    assert_eq!(send(None).await, 403);
}

#[tokio::test(start_paused = true)]
async fn pods_are_bound_and_evicted() {
    use k8s_openapi::api::policy::v1::PodDisruptionBudget;
    use kube::api::EvictParams;

    let server = server();
    let pods: Api<Pod> = Api::default_namespaced(client(&server));
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "p", "labels": {"app": "p"}}, "spec": {"containers": [{"name": "c", "image": "i"}]},
    }))
    .expect("a pod");
    pods.create(&PostParams::default(), &pod).await.expect("created");
    let bind = async || {
        let body = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}});
        let request = http::Request::post("/api/v1/namespaces/default/pods/p/binding")
            .body(serde_json::to_vec(&body).expect("JSON"))
            .expect("a request");
        client(&server).request::<serde_json::Value>(request).await
    };
    bind().await.expect("bound");
    let bound = pods.get("p").await.expect("there");
    assert_eq!(bound.spec.and_then(|spec| spec.node_name).as_deref(), Some("n"));
    let again = bind().await.expect_err("it is bound");
    assert_eq!(
        status_of(&again).1,
        "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n\""
    );

    let budgets: Api<PodDisruptionBudget> = Api::default_namespaced(client(&server));
    let budget: PodDisruptionBudget = serde_json::from_value(json!({
        "metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "p"}}},
    }))
    .expect("a budget");
    budgets.create(&PostParams::default(), &budget).await.expect("created");
    let set = async |allowed: i32| {
        let status = json!({"status": {
            "observedGeneration": 1, "disruptionsAllowed": allowed, "desiredHealthy": 1, "currentHealthy": 1,
        }});
        budgets.patch_status("b", &PatchParams::default(), &Patch::Merge(status)).await.expect("patched");
    };
    let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    pods.patch_status("p", &PatchParams::default(), &Patch::Merge(ready)).await.expect("patched");
    set(0).await;
    let refused = pods.evict("p", &EvictParams::default()).await.expect_err("the budget is used up");
    assert_eq!(status_of(&refused).0, 429);
    set(1).await;
    pods.evict("p", &EvictParams::default()).await.expect("evicted");
    assert!(pods.get("p").await.expect("it has grace").metadata.deletion_timestamp.is_some());
}

#[tokio::test(start_paused = true)]
async fn the_number_of_replicas_has_an_endpoint_of_its_own() {
    let server = server();
    let deployments: Api<Deployment> = Api::default_namespaced(client(&server));
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"name": "d"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "d"}},
            "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    }))
    .expect("a deployment");
    deployments.create(&PostParams::default(), &deployment).await.expect("created");
    let patch = Patch::Merge(json!({"spec": {"replicas": 4}}));
    let scale = deployments.patch_scale("d", &PatchParams::default(), &patch).await.expect("scaled");
    assert_eq!(scale.spec.and_then(|spec| spec.replicas), Some(4));
    assert_eq!(scale.status.and_then(|status| status.selector).as_deref(), Some("app=d"));
    let scaled = deployments.get("d").await.expect("there");
    assert_eq!((scaled.spec.replicas, scaled.metadata.generation), (Some(4), Some(2)));
    let wrong = Patch::Merge(json!({"spec": {"replicas": -1}}));
    let refused = deployments.patch_scale("d", &PatchParams::default(), &wrong).await.expect_err("negative");
    assert_eq!(
        status_of(&refused).1,
        "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    );
}

#[tokio::test(start_paused = true)]
async fn tables_show_rows() {
    let server = server();
    let maps: Api<ConfigMap> = Api::default_namespaced(client(&server));
    maps.create(&PostParams::default(), &config_map("a", "1")).await.expect("created");
    let request = http::Request::get("/api/v1/namespaces/default/configmaps")
        .header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json")
        .body(Vec::new())
        .expect("a request");
    let table: serde_json::Value = client(&server).request(request).await.expect("a table");
    assert_eq!(table["kind"], "Table");
    assert_eq!(table["rows"][0]["cells"], json!(["a", 1, "0s"]));
}

#[tokio::test(start_paused = true)]
async fn several_versions_are_views_of_what_is_stored() {
    let server = server();
    let mut crd = strict_widgets();
    let mut beta = crd.spec.versions[0].clone();
    beta.name = "v1beta1".to_owned();
    beta.storage = false;
    beta.deprecated = Some(true);
    crd.spec.versions.push(beta);
    let crds: Api<CustomResourceDefinition> = Api::all(client(&server));
    crds.create(&PostParams::default(), &crd).await.expect("created");
    let beta_kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1beta1", "Widget"));
    let beta: Api<DynamicObject> = Api::default_namespaced_with(client(&server), &beta_kind);
    let mut old = widget("w");
    old.types.as_mut().expect("types").api_version = "example.com/v1beta1".to_owned();
    let created = beta.create(&PostParams::default(), &old).await.expect("created");
    let api_version = |object: &DynamicObject| object.types.as_ref().expect("types").api_version.clone();
    assert_eq!(api_version(&created), "example.com/v1beta1");
    let stored = widget_api(&server).get("w").await.expect("the same object");
    assert_eq!(api_version(&stored), "example.com/v1");
    assert_eq!(stored.data["spec"], json!({"size": 1, "color": "red"}));
    assert_eq!(stored.metadata.resource_version, created.metadata.resource_version);

    // A default that comes later is seen in what was stored before.
    let patch = json!([{
        "op": "add",
        "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/shape",
        "value": {"type": "string", "default": "round"},
    }]);
    let patch: Patch<()> = Patch::Json(serde_json::from_value(patch).expect("a patch"));
    crds.patch("widgets.example.com", &PatchParams::default(), &patch).await.expect("patched");
    let read = widget_api(&server).get("w").await.expect("the same object");
    assert_eq!(read.data["spec"], json!({"size": 1, "color": "red", "shape": "round"}));
    assert_eq!(read.metadata.resource_version, stored.metadata.resource_version);
}

#[tokio::test(start_paused = true)]
async fn rules_are_evaluated() {
    let server = server();
    let mut crd = serde_json::to_value(strict_widgets()).expect("JSON");
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["x-kubernetes-validations"] =
        json!([{"rule": "self.size < 3", "message": "too big"}]);
    let crd: CustomResourceDefinition = serde_json::from_value(crd).expect("a CRD");
    let crds: Api<CustomResourceDefinition> = Api::all(client(&server));
    crds.create(&PostParams::default(), &crd).await.expect("created");
    let mut big = widget("w");
    big.data["spec"]["size"] = json!(3);
    let refused = widget_api(&server).create(&PostParams::default(), &big).await.expect_err("too big");
    assert_eq!(
        status_of(&refused),
        (422, "Widget.example.com \"w\" is invalid: spec: Invalid value: too big".to_owned())
    );
}
