//! Leader election between managers on one embedded server, under paused time.

mod election {
    mod graceful_stop;
    pub(crate) mod replica;
    pub(crate) mod scene;
    mod schedules;
    mod shards;
}

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use election::replica::{Condition, Network};
use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap, events::v1::Event};
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, PostParams},
};
use kubewright_apiserver::{ApiServer, User};
use kubewright_runtime::{
    Action, Clock, Error, Random, Request, Result,
    controller::Controller,
    election::FencingToken,
    manager::{Manager, Options},
    reconcile_fn,
};
use serde_json::json;
use tokio::{task::JoinHandle, time::Instant};
use tokio_util::sync::CancellationToken;

const LEASE: &str = "kubewright-leader";
/// The longest time between two attempts: the retry period and its jitter.
const RETRY: Duration = Duration::from_millis(4400);

fn server() -> ApiServer {
    let epoch = "2030-01-01T00:00:00Z".parse().expect("a timestamp");
    ApiServer::builder().clock(Clock::starting_at(epoch)).random(Random::seeded(7)).build()
}

fn candidate(name: &str, client: Client) -> Manager {
    let mut options = Options::default();
    options.leader_election.enabled = true;
    options.instance = name.to_owned();
    let seed = name.bytes().map(u64::from).sum();
    Manager::builder(options).client(client).random(Random::seeded(seed)).build().expect("a manager")
}

fn run(manager: &Manager) -> (CancellationToken, JoinHandle<Result<()>>) {
    let (manager, stop) = (manager.clone(), CancellationToken::new());
    let stopped = stop.clone();
    (stop, tokio::spawn(async move { manager.start_until(stopped).await }))
}

fn leases(server: &ApiServer) -> Api<Lease> {
    Api::default_namespaced(Client::new(server.service(), "default"))
}

async fn holder(server: &ApiServer) -> String {
    let lease = leases(server).get(LEASE).await.expect("a lease");
    lease.spec.and_then(|spec| spec.holder_identity).unwrap_or_default()
}

/// The sum of all series of a metric.
fn sum(manager: &Manager, metric: &str) -> f64 {
    let text = manager.metrics().encode();
    let series = text.lines().filter(|line| line.starts_with(&format!("{metric}{{")));
    series.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}

#[tokio::test(start_paused = true)]
async fn a_standby_is_warm_and_takes_over_when_the_leader_has_ended() {
    let server = server();
    let maps: Api<ConfigMap> = Api::default_namespaced(Client::new(server.service(), "default"));
    for name in ["a", "b", "c"] {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(name.to_owned());
        maps.create(&PostParams::default(), &map).await.expect("created");
    }
    let reconciled = Arc::new(Mutex::new(Vec::new()));
    let managers = ["one", "two"].map(|name| {
        let manager = candidate(name, Client::new(server.service(), "default"));
        let reconciled = reconciled.clone();
        let reconciler = reconcile_fn(move |request: Request| {
            reconciled.lock().expect("no panic under the lock").push((name, request.name));
            async { Ok(Action::done()) }
        });
        Controller::for_kind::<ConfigMap>(&manager).run(reconciler).expect("added");
        manager
    });
    let [one, two] = &managers;
    let (stop_one, ended_one) = run(one);
    one.leadership().elected().await;
    let (stop_two, ended_two) = run(two);
    tokio::time::sleep(Duration::from_secs(60)).await;

    let by = |name| {
        let reconciled = reconciled.lock().expect("no panic under the lock");
        reconciled.iter().filter(|(by, _)| *by == name).count()
    };
    assert_eq!((by("one"), by("two")), (3, 0));
    assert!(one.leadership().is_leader() && !two.leadership().is_leader());
    assert_eq!((sum(one, "workqueue_depth"), sum(two, "workqueue_depth")), (0.0, 3.0));
    assert_eq!(
        (sum(one, "leader_election_master_status"), sum(two, "leader_election_master_status")),
        (1.0, 0.0)
    );
    assert!(two.readiness().results().values().all(Result::is_ok), "a standby is ready");
    assert!(holder(&server).await.starts_with("one_"));

    stop_one.cancel();
    ended_one.await.expect("no panic").expect("an orderly end");
    assert!(!one.leadership().is_leader());
    assert_eq!(holder(&server).await, "", "the lease was given up");
    let began = Instant::now();
    two.leadership().elected().await;
    assert!(began.elapsed() <= RETRY, "{:?}", began.elapsed());
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(by("two"), 3, "its queue was ready");
    assert_eq!(two.leadership().fencing_token().map(FencingToken::transitions), Some(1));

    stop_two.cancel();
    ended_two.await.expect("no panic").expect("an orderly end");
    let events: Api<Event> = Api::default_namespaced(Client::new(server.service(), "default"));
    let events = events.list(&ListParams::default()).await.expect("listed");
    let mut notes: Vec<_> = events
        .iter()
        .filter(|event| event.reason.as_deref() == Some("LeaderElection"))
        .map(|event| {
            let note = event.note.clone().unwrap_or_default();
            let (name, uid) = note.split_once('_').expect("an identity");
            format!("{name} {}", uid.split_once(' ').expect("a sentence").1)
        })
        .collect();
    notes.sort();
    assert_eq!(
        notes,
        ["one became leader", "one stopped leading", "two became leader", "two stopped leading"]
    );
}

#[tokio::test(start_paused = true)]
async fn the_election_may_be_held_in_another_cluster_and_labels_its_lease() {
    let (work, home) = (server(), server());
    let mut options = Options::default();
    options.leader_election.enabled = true;
    options.leader_election.lease_labels = [("team".to_owned(), "shop".to_owned())].into();
    let manager = Manager::builder(options)
        .client(Client::new(work.service(), "default"))
        .election_client(Client::new(home.service(), "kube-system"))
        .random(Random::seeded(1))
        .build()
        .expect("a manager");
    let (stop, ended) = run(&manager);
    manager.leadership().elected().await;
    let leases: Api<Lease> = Api::namespaced(Client::new(home.service(), "default"), "kube-system");
    let lease = leases.get(LEASE).await.expect("a lease, in the namespace of its connection");
    assert_eq!(lease.labels().get("team").map(String::as_str), Some("shop"));
    let elsewhere: Api<Lease> = Api::all(Client::new(work.service(), "default"));
    assert!(elsewhere.list(&ListParams::default()).await.expect("listed").items.is_empty());
    stop.cancel();
    ended.await.expect("no panic").expect("an orderly end");
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_given_up_after_the_leader_work_has_ended() {
    let server = server();
    let manager = candidate("one", Client::new(server.service(), "default"));
    manager
        .add("work", |stop: CancellationToken| async move {
            stop.cancelled().await;
            tokio::time::sleep(Duration::from_secs(20)).await;
            Ok(())
        })
        .expect("added");
    let (stop, ended) = run(&manager);
    manager.leadership().elected().await;
    stop.cancel();
    // Longer than the lease: it is renewed until the end.
    tokio::time::sleep(Duration::from_secs(19)).await;
    assert!(manager.leadership().is_leader());
    assert!(holder(&server).await.starts_with("one_"));
    ended.await.expect("no panic").expect("an orderly end");
    assert_eq!(holder(&server).await, "");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_another_holds_is_left_alone() {
    let server = server();
    let manager = candidate("one", Client::new(server.service(), "default"));
    let (alive, dropped) = tokio::sync::oneshot::channel::<()>();
    manager
        .add("work", |_: CancellationToken| async move {
            let _alive = alive;
            std::future::pending().await
        })
        .expect("added");
    let (_stop, ended) = run(&manager);
    manager.leadership().elected().await;
    tokio::time::sleep(Duration::from_secs(1)).await;

    let mut lease = leases(&server).get(LEASE).await.expect("a lease");
    lease.spec.as_mut().expect("a spec").holder_identity = Some("usurper".to_owned());
    leases(&server).replace(LEASE, &PostParams::default(), &lease).await.expect("replaced");
    let began = Instant::now();
    assert!(dropped.await.is_err(), "the work is cut off");
    assert!(began.elapsed() <= Duration::from_secs(2), "{:?}", began.elapsed());
    let error = ended.await.expect("no panic").expect_err("it lost the lease");
    assert_eq!(
        error.to_string(),
        "leader election lost: the lease default/kubewright-leader: it is held by usurper"
    );
    assert!(matches!(error, Error::LeaderElectionLost { .. }));
    assert_eq!(holder(&server).await, "usurper");
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_is_cut_off_stops_before_its_lease_ends() {
    for condition in [Condition::Hangs, Condition::Refuses, Condition::LosesAnswers] {
        let server = server();
        let network = Network::new(Random::seeded(3));
        let manager = candidate("one", network.client(&server));
        let acted = Arc::new(Mutex::new(Instant::now()));
        let acting = acted.clone();
        manager
            .add("work", |_: CancellationToken| async move {
                loop {
                    *acting.lock().expect("no panic under the lock") = Instant::now();
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            })
            .expect("added");
        let (_stop, ended) = run(&manager);
        manager.leadership().elected().await;
        tokio::time::sleep(Duration::from_secs(31)).await;
        network.set(condition);
        let cut = Instant::now();
        let error = ended.await.expect("no panic").expect_err("it lost the lease").to_string();
        assert!(error.contains("it could not be renewed within 10s"), "{error}");
        let acted = *acted.lock().expect("no panic under the lock") - cut;
        let limits = Duration::from_millis(7500)..=Duration::from_secs(10);
        assert!(limits.contains(&acted), "{condition:?}: {acted:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_standby_that_is_stopped_starts_no_leader_work() {
    let server = server();
    let one = candidate("one", Client::new(server.service(), "default"));
    let (stop_one, ended_one) = run(&one);
    one.leadership().elected().await;
    let two = candidate("two", Client::new(server.service(), "default"));
    let started = Arc::new(Mutex::new(false));
    let starting = started.clone();
    two.add("work", |_: CancellationToken| async move {
        *starting.lock().expect("no panic under the lock") = true;
        Ok(())
    })
    .expect("added");
    let (stop_two, ended_two) = run(&two);
    tokio::time::sleep(Duration::from_secs(10)).await;
    stop_two.cancel();
    ended_two.await.expect("no panic").expect("an orderly end");
    assert!(!*started.lock().expect("no panic under the lock"));
    assert!(holder(&server).await.starts_with("one_"), "the lease of the other is left alone");
    stop_one.cancel();
    ended_one.await.expect("no panic").expect("an orderly end");
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_deleted_is_no_chance_for_others() {
    let server = server();
    let [one, two] = ["one", "two"].map(|name| candidate(name, Client::new(server.service(), "default")));
    let (_stop_one, _ended_one) = run(&one);
    one.leadership().elected().await;
    let (_stop_two, _ended_two) = run(&two);
    tokio::time::sleep(Duration::from_secs(10)).await;
    for _ in 0..20 {
        leases(&server).delete(LEASE, &Default::default()).await.expect("deleted");
        tokio::time::sleep(Duration::from_millis(3700)).await;
        assert!(one.leadership().is_leader() && !two.leadership().is_leader());
        assert!(holder(&server).await.starts_with("one_"));
    }
}

/// What the generated role of an operator allows, and nothing else.
#[tokio::test(start_paused = true)]
async fn few_permissions_are_enough_and_missing_ones_are_named() {
    let server = server();
    let user = |name: &str| User { name: name.to_owned(), ..User::default() };
    for object in [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
            "metadata": {"name": "leader-election-role", "namespace": "default"},
            "rules": [
                {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "create", "update"]},
                {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
            ],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "leader-election-rolebinding", "namespace": "default"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "leader-election-role",
            },
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "operator"}],
        }),
    ] {
        server.create(object).expect("a valid object");
    }
    let stranger = candidate("stranger", Client::new(server.service_as(user("stranger")), "default"));
    let (_stop, _ended) = run(&stranger);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let results = stranger.readiness().results();
    let reason = results["leader-election"].clone().expect_err("it has no permission");
    assert!(reason.contains("leases") && reason.contains("verbs=get"), "{reason}");

    let operator = candidate("operator", Client::new(server.service_as(user("operator")), "default"));
    let (stop, ended) = run(&operator);
    operator.leadership().elected().await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(operator.leadership().is_leader());
    stop.cancel();
    ended.await.expect("no panic").expect("an orderly end");
    assert_eq!(holder(&server).await, "");
    let events: Api<Event> = Api::default_namespaced(Client::new(server.service(), "default"));
    let events = events.list(&ListParams::default()).await.expect("listed");
    assert_eq!(events.iter().filter(|event| event.name_any().starts_with(LEASE)).count(), 2);
}
