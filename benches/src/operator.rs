//! The Memcached operator from nothing to steady state.

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client, CustomResourceExt, Resource, ResourceExt,
    api::{ListParams, PostParams, WatchEvent, WatchParams},
};
use kubewright_apiserver::{ApiServer, listener::ListenOptions};
use kubewright_runtime::manager::{Manager, Options};
use memcached_operator::api::v1alpha1::{Memcached, MemcachedSpec};

use crate::{
    Result,
    process::{self, Usage},
    report::{Row, Unit},
};

/// Set to a kubeconfig, this variable makes the binary the operator instead of the measurement.
pub(crate) const PROCESS: &str = "KUBEWRIGHT_BENCH_OPERATOR";

/// The figures of the same operator on controller-runtime with a real API server, for 10,000 objects, measured
/// on a machine with 2 cores: seconds, CPU seconds and MiB.
const GO: (&str, [f64; 3]) = ("Go operator on kube-apiserver, measured apart", [128.0, 28.6, 201.0]);
const GO_OBJECTS: usize = 10_000;

/// How long it may take before it counts as stuck.
const STUCK_AFTER: Duration = Duration::from_secs(600);

pub(crate) async fn measure(objects: usize) -> Result<Vec<Row>> {
    // No workload controllers, as on a kube-apiserver alone: what is measured is the operator.
    let server = ApiServer::builder().build();
    let listening = server.listen(ListenOptions::default()).await?;
    let folder = std::env::temp_dir().join(format!("kubewright-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let kubeconfig = folder.join("kubeconfig");
    listening.write_kubeconfig(&kubeconfig)?;

    let client = Client::new(server.service(), "default");
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(&PostParams::default(), &Memcached::crd()).await?;
    let api: Api<Memcached> = Api::default_namespaced(client);
    stream::iter(0..objects)
        .map(|index| {
            let object = Memcached::new(
                &format!("memcached-{index}"),
                MemcachedSpec { size: 2, container_port: 11211 },
            );
            let api = api.clone();
            async move { api.create(&PostParams::default(), &object).await.map(drop) }
        })
        .buffered(16)
        .try_collect::<()>()
        .await?;

    let started = Instant::now();
    let operator = OperatorProcess::start(&kubeconfig)?;
    tokio::time::timeout(STUCK_AFTER, steady(&api, objects)).await??;
    let elapsed = started.elapsed().as_secs_f64();
    let usage = operator.usage()?;
    drop(operator);
    listening.shutdown().await;
    std::fs::remove_dir_all(&folder)?;

    let figures = [
        ("time to steady state", elapsed, Unit::Seconds),
        ("operator's CPU time", usage.cpu_seconds, Unit::Seconds),
        ("operator's memory", usage.resident_mebibytes, Unit::Mebibytes),
        ("operator's peak memory", usage.peak_mebibytes, Unit::Mebibytes),
    ];
    Ok(figures
        .into_iter()
        .enumerate()
        .map(|(index, (what, figure, unit))| {
            let row = Row::new(format!("{objects} Memcached objects: {what}"), figure, unit);
            match GO.1.get(index) {
                Some(peer) if objects == GO_OBJECTS => row.beside(GO.0, *peer),
                _ => row,
            }
        })
        .collect())
}

/// Runs the operator on the cluster of `kubeconfig`, without end.
pub(crate) fn run_process(kubeconfig: &Path) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut options = Options::default();
        options.kubeconfig = Some(kubeconfig.to_owned());
        let manager = Manager::new(options).await?;
        memcached_operator::controller::memcached::register(&manager, "memcached:1.6")?;
        manager.start().await?;
        Ok(())
    })
}

/// Waits until the operator has reported on every object.
async fn steady(api: &Api<Memcached>, objects: usize) -> Result<()> {
    let list = api.list(&ListParams::default()).await?;
    let mut pending: std::collections::BTreeSet<String> =
        list.items.iter().filter(|object| !is_reported(object)).map(ResourceExt::name_any).collect();
    if list.items.len() != objects {
        return Err(format!("listed {} of {objects}", list.items.len()).into());
    }
    let mut version = list.metadata.resource_version.unwrap_or_default();
    while !pending.is_empty() {
        let mut watch = api.watch(&WatchParams::default().timeout(290), &version).await?.boxed();
        while let Some(event) = watch.try_next().await? {
            if let WatchEvent::Modified(object) = event {
                version = object.resource_version().unwrap_or_default();
                if is_reported(&object) {
                    pending.remove(&object.name_any());
                }
                if pending.is_empty() {
                    break;
                }
            }
        }
    }
    Ok(())
}

fn is_reported(object: &Memcached) -> bool {
    let conditions = object.status.iter().flat_map(|status| &status.conditions);
    conditions.into_iter().any(|condition| condition.observed_generation == object.meta().generation)
}

/// The operator in a process of its own, so that its CPU time and memory are its own. Ended when dropped.
struct OperatorProcess {
    child: Child,
}

impl OperatorProcess {
    fn start(kubeconfig: &Path) -> Result<Self> {
        let child = Command::new(std::env::current_exe()?)
            .env(PROCESS, kubeconfig)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child })
    }

    fn usage(&self) -> Result<Usage> {
        process::usage(Some(self.child.id()))
    }
}

impl Drop for OperatorProcess {
    fn drop(&mut self) {
        // It fails only if the process has ended, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
