//! Requests per second over TLS, with many clients, against our server and against another one.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt, future, stream};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::{ApiServer, listener::ListenOptions};
use serde_json::json;

use crate::{
    Result,
    queue::per_second,
    report::{Row, Unit},
};

const CLIENTS: usize = 16;
const OBJECTS: usize = 4_000;
const WATCHERS: usize = 16;
const WATCHED_WRITES: usize = 500;
const NAMESPACE: &str = "kubewright-bench";

/// Figures of one server, in the order of [`WHAT`].
type Figures = [f64; 6];

const WHAT: [(&str, Unit); 6] = [
    ("create", Unit::PerSecond),
    ("get", Unit::PerSecond),
    ("merge patch", Unit::PerSecond),
    ("server-side apply", Unit::PerSecond),
    ("list of 4,000", Unit::Milliseconds),
    ("watch events to 16 watchers", Unit::PerSecond),
];

pub(crate) async fn measure(peer: Option<&Path>) -> Result<Vec<Row>> {
    let server = ApiServer::builder().build();
    let listening = server.listen(ListenOptions::default()).await?;
    let ours = run(Kubeconfig::from_yaml(&listening.kubeconfig())?).await?;
    listening.shutdown().await;
    let peer = match peer {
        Some(path) => Some(run(Kubeconfig::read_from(path)?).await?),
        None => None,
    };
    Ok(WHAT
        .iter()
        .enumerate()
        .map(|(index, (what, unit))| {
            let row = Row::new(format!("TLS, {CLIENTS} clients: {what}"), ours[index], *unit);
            match peer {
                Some(figures) => row.beside("the server of --peer-kubeconfig", figures[index]),
                None => row,
            }
        })
        .collect())
}

async fn run(kubeconfig: Kubeconfig) -> Result<Figures> {
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    // A client keeps its own connections: as many clients, as many connections.
    let clients: Vec<Client> =
        (0..CLIENTS).map(|_| Client::try_from(config.clone())).collect::<kube::Result<_>>()?;
    let namespaces: Api<Namespace> = Api::all(clients[0].clone());
    namespaces
        .create(&PostParams::default(), &serde_json::from_value(json!({"metadata": {"name": NAMESPACE}}))?)
        .await?;
    let apis: Vec<Api<ConfigMap>> =
        clients.iter().map(|client| Api::namespaced(client.clone(), NAMESPACE)).collect();

    let create = timed(&apis, |api, index| async move {
        api.create(&PostParams::default(), &config_map(index)).await.map(drop)
    });
    let create = create.await?;
    let get = timed(&apis, |api, index| async move { api.get(&name(index)).await.map(drop) }).await?;
    let patch = timed(&apis, |api, index| async move {
        let patch = Patch::Merge(json!({"data": {"patched": index.to_string()}}));
        api.patch(&name(index), &PatchParams::default(), &patch).await.map(drop)
    });
    let patch = patch.await?;
    let apply = timed(&apis, |api, index| async move {
        let patch = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"applied": index.to_string()}});
        api.patch(&name(index), &PatchParams::apply("bench"), &Patch::Apply(patch)).await.map(drop)
    });
    let apply = apply.await?;

    let started = Instant::now();
    let listed = apis[0].list(&ListParams::default()).await?;
    let list = started.elapsed().as_secs_f64() * 1e3;
    if listed.items.len() < OBJECTS {
        return Err(format!("listed {} of {OBJECTS}", listed.items.len()).into());
    }
    let watch = watch_fan_out(&apis, listed.metadata.resource_version.as_deref().unwrap_or("0")).await?;
    namespaces.delete(NAMESPACE, &DeleteParams::background()).await?;
    Ok([create, get, patch, apply, list, watch])
}

/// Calls per second when every client works through its share of the objects, one call at a time.
async fn timed<F, Fut>(apis: &[Api<ConfigMap>], call: F) -> Result<f64>
where
    F: Fn(Api<ConfigMap>, usize) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = kube::Result<()>> + Send,
{
    let started = Instant::now();
    let shares = apis.iter().cloned().enumerate().map(|(share, api)| {
        let call = call.clone();
        tokio::spawn(async move {
            for index in (share..OBJECTS).step_by(CLIENTS) {
                call(api.clone(), index).await?;
            }
            Ok::<(), kube::Error>(())
        })
    });
    for share in future::join_all(shares).await {
        share??;
    }
    Ok(per_second(OBJECTS, started.elapsed()))
}

/// Events per second that arrive at all watchers together while one client writes.
async fn watch_fan_out(apis: &[Api<ConfigMap>], version: &str) -> Result<f64> {
    let mut watches = Vec::new();
    for api in apis.iter().cycle().take(WATCHERS) {
        watches.push(api.watch(&WatchParams::default().timeout(120), version).await?.boxed());
    }
    let started = Instant::now();
    let writes = async {
        stream::iter(0..WATCHED_WRITES)
            .map(Ok::<usize, kube::Error>)
            .try_for_each_concurrent(CLIENTS, |index| async move {
                let patch = Patch::Merge(json!({"data": {"watched": index.to_string()}}));
                apis[index % CLIENTS].patch(&name(index), &PatchParams::default(), &patch).await.map(drop)
            })
            .await
    };
    let reads = future::try_join_all(watches.into_iter().map(|mut watch| async move {
        let mut seen = 0;
        while seen < WATCHED_WRITES {
            match watch.try_next().await? {
                Some(WatchEvent::Modified(object)) if object.name_any().starts_with("bench-") => seen += 1,
                Some(_) => {}
                None => break,
            }
        }
        Ok::<usize, kube::Error>(seen)
    }));
    let ((), seen) =
        tokio::time::timeout(Duration::from_secs(120), future::try_join(writes, reads)).await??;
    Ok(per_second(seen.iter().sum(), started.elapsed()))
}

fn name(index: usize) -> String {
    format!("bench-{index}")
}

fn config_map(index: usize) -> ConfigMap {
    let mut object = ConfigMap::default();
    object.metadata.name = Some(name(index));
    object.data = Some([("key".to_owned(), "value ".repeat(40))].into());
    object
}
