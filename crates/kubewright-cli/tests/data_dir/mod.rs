//! `kubewright cluster --data-dir`, ended by SIGKILL again and again.
//!
//! `KUBEWRIGHT_KILL_ROUNDS` says how often (10 if it is not set), `KUBEWRIGHT_KILL_SEED` where the moments come from.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, PostParams, WatchEvent, WatchParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_world::Random;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::process::Kubewright;

const WRITERS: usize = 8;
const KEYS: u64 = 4;

/// What is known of one object.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The revision and the number of the acknowledged state; `None` if there is no object.
    acknowledged: Option<(u64, u64)>,
    /// What was asked for and not answered: the number of the object, or `None` for its removal.
    unanswered: Option<Option<u64>>,
}

/// What all clients of a round were told.
#[derive(Default)]
struct Told {
    objects: BTreeMap<String, Known>,
    writes: u64,
    revision: u64,
}

struct Running {
    kubewright: Kubewright,
    kubeconfig: Value,
}

fn start(folder: &Path, data_dir: &str) -> Kubewright {
    let arguments = ["cluster", "--secure-port=0", "--controllers=none", "--output=json"];
    let places = ["--write-kubeconfig=kubeconfig", "--data-dir", data_dir];
    Kubewright::start(&[&arguments[..], &places].concat(), folder)
}

fn start_and_wait(folder: &Path, data_dir: &str) -> Running {
    let kubewright = start(folder, data_dir);
    let _ready = kubewright.line(Duration::from_secs(60));
    let kubeconfig = std::fs::read(folder.join("kubeconfig")).expect("it is written before the line");
    Running { kubewright, kubeconfig: serde_json::from_slice(&kubeconfig).expect("JSON") }
}

async fn client(kubeconfig: &Value) -> Client {
    let config: Kubeconfig = serde_json::from_value(kubeconfig.clone()).expect("a kubeconfig");
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(config, &options).await.expect("a configuration");
    Client::try_from(config).expect("a client")
}

fn config_map(name: &str, number: u64) -> ConfigMap {
    // The same number at both ends of more than a page, so that half an object would be seen.
    let data = json!({"a": number.to_string(), "b": "x".repeat(6000), "c": number.to_string()});
    let map = json!({"metadata": {"name": name}, "data": data});
    serde_json::from_value(map).expect("a ConfigMap")
}

/// The revision and the number of an object, which is whole.
fn read(map: &ConfigMap) -> (u64, u64) {
    let data = map.data.as_ref().expect("data");
    assert_eq!(data["a"], data["c"], "half an object: {:?}", map.metadata);
    assert_eq!(data["b"].len(), 6000);
    let version = map.metadata.resource_version.as_deref().expect("a version");
    (version.parse().expect("a number"), data["a"].parse().expect("a number"))
}

/// Creates, replaces and removes objects of its own until the server is gone.
async fn write(
    client: Client,
    writer: usize,
    random: Random,
    told: Arc<Mutex<Told>>,
    enough: Arc<Notify>,
    limit: u64,
) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let mut number = random.below(u64::MAX / 2);
    loop {
        let key = format!("w{writer}-{}", random.below(KEYS));
        let there = {
            let mut told = told.lock().expect("no writer panicked");
            let known = told.objects.entry(key.clone()).or_default();
            known.acknowledged
        };
        number += 1;
        let wanted = (there.is_none() || random.below(4) != 0).then_some(number);
        told.lock().expect("no writer panicked").objects.entry(key.clone()).or_default().unanswered =
            Some(wanted);
        let parameters = PostParams::default();
        let answer = match (there, wanted) {
            (None, _) => {
                maps.create(&parameters, &config_map(&key, number)).await.map(|map| Some(read(&map)))
            }
            (Some(_), Some(_)) => {
                maps.replace(&key, &parameters, &config_map(&key, number)).await.map(|map| Some(read(&map)))
            }
            (Some(_), None) => maps.delete(&key, &DeleteParams::default()).await.map(|_| None),
        };
        let acknowledged = match answer {
            Ok(acknowledged) => acknowledged,
            Err(kube::Error::Api(status)) if status.code != 500 => panic!("{key}: {status:?}"),
            Err(_) => return,
        };
        let mut told = told.lock().expect("no writer panicked");
        told.objects.insert(key, Known { acknowledged, unanswered: None });
        told.writes += 1;
        told.revision = told.revision.max(acknowledged.map_or(0, |(revision, _)| revision));
        if told.writes == limit {
            enough.notify_one();
        }
    }
}

/// Notes the last version that a watch tells of.
async fn watch(client: Client, told: Arc<Mutex<Told>>) {
    use futures::TryStreamExt;
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    let Ok(stream) = maps.watch(&WatchParams::default(), "0").await else { return };
    let mut stream = std::pin::pin!(stream);
    while let Ok(Some(event)) = stream.try_next().await {
        if let WatchEvent::Added(map) | WatchEvent::Modified(map) | WatchEvent::Deleted(map) = event {
            let (revision, _) = read(&map);
            let mut told = told.lock().expect("no writer panicked");
            told.revision = told.revision.max(revision);
        }
    }
}

/// Compares what is there with what was told, and takes what is there for told.
async fn check(client: &Client, told: &Mutex<Told>, what: &str) {
    let maps: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let list = maps.list(&ListParams::default()).await.expect("a list");
    let version = list.metadata.resource_version.as_deref().expect("a version");
    let version: u64 = version.parse().expect("a number");
    let there: BTreeMap<String, (u64, u64)> = list
        .items
        .iter()
        .filter_map(|map| Some((map.metadata.name.clone()?, map)))
        .filter(|(name, _)| name.starts_with('w'))
        .map(|(name, map)| (name, read(map)))
        .collect();
    let mut told = told.lock().expect("no writer panicked");
    assert!(version >= told.revision, "{what}: the version {version} is older than {}", told.revision);
    let keys: BTreeSet<String> = told.objects.keys().chain(there.keys()).cloned().collect();
    for key in keys {
        let known = told.objects.get(&key).cloned().unwrap_or_default();
        let found = there.get(&key).copied();
        let is_late = known.unanswered.is_some_and(|wanted| wanted == found.map(|(_, number)| number));
        assert!(found == known.acknowledged || is_late, "{what}: {key} is {found:?}, and {known:?} was told");
        told.objects.insert(key, Known { acknowledged: found, unanswered: None });
    }
    told.revision = told.revision.max(version);
}

pub(crate) fn nothing_acknowledged_is_lost() {
    let number = |name: &str, default: u64| match std::env::var(name) {
        Ok(text) => text.parse().expect(name),
        Err(_) => default,
    };
    let (rounds, seed) = (number("KUBEWRIGHT_KILL_ROUNDS", 10), number("KUBEWRIGHT_KILL_SEED", 1));
    let random = Random::seeded(seed);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let told = Arc::new(Mutex::new(Told::default()));
    for round in 0..rounds {
        let what = format!("round {round} of seed {seed}");
        if random.below(4) == 0 {
            // Killed while it starts.
            let mut kubewright = start(folder.path(), "data");
            std::thread::sleep(Duration::from_millis(random.below(60)));
            kubewright.end(Signal::SIGKILL);
        }
        let mut running = start_and_wait(folder.path(), "data");
        let limit = 1 + random.below(150);
        runtime.block_on(async {
            let client = client(&running.kubeconfig).await;
            check(&client, &told, &what).await;
            told.lock().expect("no writer panicked").writes = 0;
            let enough = Arc::new(Notify::new());
            let watching = tokio::spawn(watch(client.clone(), told.clone()));
            let mut writing = Vec::new();
            for writer in 0..WRITERS {
                // A connection each.
                let client = self::client(&running.kubeconfig).await;
                let write = write(client, writer, random.fork(), told.clone(), enough.clone(), limit);
                writing.push(tokio::spawn(write));
            }
            enough.notified().await;
            running.kubewright.end(Signal::SIGKILL);
            for writer in writing {
                writer.await.expect("a writer ends when the server does");
            }
            watching.await.expect("a watch ends when the server does");
        });
    }
    let running = start_and_wait(folder.path(), "data");
    runtime.block_on(async {
        let client = client(&running.kubeconfig).await;
        check(&client, &told, "the last start").await;
    });
}

pub(crate) fn credentials_and_versions_go_on() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut first = start_and_wait(folder.path(), "data");
    let (uid, version, token) = runtime.block_on(async {
        let client = client(&first.kubeconfig).await;
        let accounts: Api<ServiceAccount> = Api::default_namespaced(client.clone());
        let account = serde_json::from_value(json!({"metadata": {"name": "robot"}})).expect("an account");
        let account = accounts.create(&PostParams::default(), &account).await.expect("created");
        let request = http::Request::post("/api/v1/namespaces/default/serviceaccounts/robot/token")
            .header("content-type", "application/json")
            .body(
                br#"{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}"#.to_vec(),
            )
            .expect("a request");
        let token: Value = client.request(request).await.expect("a token");
        let token = token["status"]["token"].as_str().expect("a token").to_owned();
        (account.metadata.uid, account.metadata.resource_version, token)
    });
    first.kubewright.end(Signal::SIGTERM);

    let second = start_and_wait(folder.path(), "data");
    let server = second.kubeconfig["clusters"][0]["cluster"]["server"].clone();
    let mut old = first.kubeconfig.clone();
    old["clusters"][0]["cluster"]["server"] = server;
    let mut robot = old.clone();
    robot["users"][0]["user"] = json!({ "token": token });
    runtime.block_on(async {
        let client = client(&old).await;
        let accounts: Api<ServiceAccount> = Api::default_namespaced(client.clone());
        let account =
            accounts.get("robot").await.expect("the certificate of the first start goes on to work");
        assert_eq!((account.metadata.uid, account.metadata.resource_version), (uid, version.clone()));

        use futures::TryStreamExt;
        let stream = accounts.watch(&WatchParams::default(), "1").await.expect("an answer");
        let error = std::pin::pin!(stream).try_next().await.expect("an event");
        let Some(WatchEvent::Error(status)) = error else { panic!("{error:?}") };
        assert_eq!((status.code, status.reason.as_str()), (410, "Expired"));

        let robot = self::client(&robot).await;
        let review = http::Request::post("/apis/authentication.k8s.io/v1/selfsubjectreviews")
            .header("content-type", "application/json")
            .body(br#"{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}"#.to_vec())
            .expect("a request");
        let review: Value =
            robot.request(review).await.expect("the token of the first start goes on to work");
        assert_eq!(review["status"]["userInfo"]["username"], "system:serviceaccount:default:robot");
    });

    let output = std::process::Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(["cluster", "--secure-port=0", "--controllers=none", "--data-dir", "data"])
        .current_dir(folder.path())
        .env_remove("RUST_LOG")
        .output()
        .expect("the kubewright binary runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("the data directory data is used by another process"), "{stderr}");
}
