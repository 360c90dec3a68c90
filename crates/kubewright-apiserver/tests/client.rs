//! The server through `kube::Client`, in one thread and under paused time.

mod client {
    mod apply;
    mod custom_resources;
    mod subresources;
}

use std::{collections::BTreeMap, pin::pin, time::Duration};

use futures::{StreamExt, TryStreamExt};
use jiff::Timestamp;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Event, Namespace, Pod},
    events::v1::Event as EventsEvent,
};
use kube::{
    Api, Client, ResourceExt,
    api::{
        DeleteParams, ListParams, Patch, PatchParams, PostParams, PropagationPolicy, WatchEvent, WatchParams,
    },
    runtime::{WatchStreamExt, watcher},
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
