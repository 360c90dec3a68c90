//! Requests per second over TLS, with many HTTP/2 clients, against our server and against another one.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use futures::future;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use serde_json::{Value, json};

use crate::{
    Result,
    cluster::ClusterProcess,
    connection::{bytes, connect, json, lines},
    queue::per_second,
    report::{Row, Unit},
};

const CLIENTS: usize = 16;
const OBJECTS: usize = 10_000;
const LISTS_PER_CLIENT: usize = 4;
const WATCHERS: usize = 100;
const WATCHED_WRITES: usize = 500;

/// The name of the other server in the table.
pub(crate) const PEER: &str = "the server of --peer-kubeconfig";

/// Figures of one server in one round, in the order of [`WHAT`].
type Figures = [f64; 6];

const WHAT: [&str; 6] =
    ["create", "get", "merge patch", "server-side apply", "list of 10,000", "watch events to 100 watchers"];

/// Measures both servers in turn, so that what else the machine does meets both.
pub(crate) async fn measure(peer: Option<&Path>, rounds: usize) -> Result<Vec<Row>> {
    let peer = match peer {
        Some(path) => Some(peer_config(path).await?),
        None => None,
    };
    let (mut ours, mut peers) = (Vec::new(), Vec::new());
    for _ in 0..rounds.max(1) {
        let cluster = ClusterProcess::start()?;
        ours.push(run(&cluster.config().await?).await?);
        drop(cluster);
        if let Some(peer) = &peer {
            peers.push(run(peer).await?);
        }
    }
    let column = |rounds: &[Figures], index: usize| rounds.iter().map(|figures| figures[index]).collect();
    Ok(WHAT
        .iter()
        .enumerate()
        .map(|(index, what)| {
            let what = format!("TLS, {CLIENTS} HTTP/2 clients: {what}");
            let row = Row::of_rounds(what, column(&ours, index), Unit::PerSecond);
            if peers.is_empty() { row } else { row.beside_rounds(PEER, column(&peers, index)) }
        })
        .collect())
}

/// How to reach the server of a kubeconfig.
pub(crate) async fn peer_config(kubeconfig: &Path) -> Result<Config> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
}

async fn run(config: &Config) -> Result<Figures> {
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(connect(config).await?);
    }
    let maps = create_namespace(&clients[0]).await?;
    let one = |index: usize| format!("{maps}/{}", name(index));

    let create = timed(&clients, OBJECTS, |client, index| {
        let path = maps.clone();
        async move { bytes(&client, "POST", &path, Some(&config_map(index))).await.map(drop) }
    });
    let create = create.await?;
    let get = timed(&clients, OBJECTS, |client, index| {
        let path = one(index);
        async move { bytes(&client, "GET", &path, None).await.map(drop) }
    });
    let get = get.await?;
    let patch = timed(&clients, OBJECTS, |client, index| {
        let (path, patch) = (one(index), json!({"data": {"patched": index.to_string()}}));
        async move { bytes(&client, "PATCH", &path, Some(&patch)).await.map(drop) }
    });
    let patch = patch.await?;
    let apply = timed(&clients, OBJECTS, |client, index| {
        let path = format!("{}?fieldManager=bench", one(index));
        let patch = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"applied": index.to_string()}});
        async move { bytes(&client, "PATCH", &path, Some(&patch)).await.map(drop) }
    });
    let apply = apply.await?;
    let list = timed(&clients, CLIENTS * LISTS_PER_CLIENT, |client, _| {
        let path = maps.clone();
        async move {
            let length = bytes(&client, "GET", &path, None).await?;
            let is_whole = length > OBJECTS * config_map(0).to_string().len();
            if is_whole { Ok(()) } else { Err(format!("the list has {length} bytes").into()) }
        }
    });
    let list = list.await?;
    let watch = watch_fan_out(&clients, &maps).await?;
    Ok([create, get, patch, apply, list, watch])
}

/// Calls per second when every client works through its share of them, one call at a time.
async fn timed<F, Fut>(clients: &[Client], calls: usize, call: F) -> Result<f64>
where
    F: Fn(Client, usize) -> Fut,
    Fut: Future<Output = Result<()>> + Send + 'static,
{
    let started = Instant::now();
    let shares = clients.iter().enumerate().map(|(share, client)| {
        let calls: Vec<Fut> =
            (share..calls).step_by(clients.len()).map(|index| call(client.clone(), index)).collect();
        tokio::spawn(async move {
            for call in calls {
                call.await?;
            }
            Result::Ok(())
        })
    });
    for share in future::join_all(shares).await {
        share??;
    }
    Ok(per_second(calls, started.elapsed()))
}

/// Events per second that arrive at all watchers together while all clients write.
async fn watch_fan_out(clients: &[Client], maps: &str) -> Result<f64> {
    let list = json(&clients[0], "GET", &format!("{maps}?limit=1"), None).await?;
    let version = list["metadata"]["resourceVersion"].as_str().unwrap_or_default();
    let path = format!("{maps}?watch=true&resourceVersion={version}&timeoutSeconds=120");
    let (open, mut wait) = tokio::sync::mpsc::unbounded_channel();
    let reads = clients.iter().cycle().take(WATCHERS).cloned().map(|client| {
        let (path, open) = (path.clone(), open.clone());
        tokio::spawn(async move {
            lines(&client, &path, WATCHED_WRITES, || {
                // Who waits for it ends no sooner.
                let _ = open.send(());
            })
            .await
        })
    });
    let reads: Vec<_> = reads.collect();
    for _ in 0..WATCHERS {
        wait.recv().await.ok_or("a watch was not opened")?;
    }
    let started = Instant::now();
    let writes = timed(clients, WATCHED_WRITES, |client, index| {
        let (path, patch) =
            (format!("{maps}/{}", name(index)), json!({"data": {"watched": index.to_string()}}));
        async move { bytes(&client, "PATCH", &path, Some(&patch)).await.map(drop) }
    });
    writes.await?;
    for read in tokio::time::timeout(Duration::from_secs(120), future::join_all(reads)).await? {
        read??;
    }
    Ok(per_second(WATCHERS * WATCHED_WRITES, started.elapsed()))
}

/// Makes a namespace with a new name, and gives the path of its ConfigMaps.
pub(crate) async fn create_namespace(client: &Client) -> Result<String> {
    let namespace = json!({"metadata": {"generateName": "kubewright-bench-"}});
    let created = json(client, "POST", "/api/v1/namespaces", Some(&namespace)).await?;
    let name = created["metadata"]["name"].as_str().unwrap_or_default();
    Ok(format!("/api/v1/namespaces/{name}/configmaps"))
}

pub(crate) fn name(index: usize) -> String {
    format!("bench-{index}")
}

pub(crate) fn config_map(index: usize) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name(index)},
        "data": {"key": "value ".repeat(40)},
    })
}
