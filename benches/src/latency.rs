//! The time from a change to the beginning of its reconciliation, under a steady load and while another watch of the same
//! controller fails.
//!
//! A change carries the time at which it was sent; the operator prints that beside the time at which it began to work on
//! it. So the figures include the server's write and its watch, which are the same for all.

use std::{
    collections::BTreeMap,
    path::Path,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{DeleteParams, PostParams},
    core::{ApiResource, DynamicObject, GroupVersionKind},
};
use serde_json::json;

use crate::{
    Result,
    connection::{bytes, connect},
    peers::{Framework, Programs, Running},
    report::{Row, Unit, percentile},
    requests::{config_map, create_namespace, name},
    server::{Kind, Server},
};

/// The annotation with the time at which a change was sent. The programs know it too.
const SENT: &str = "bench.kubewright.dev/sent";
const WORKERS: &str = "10";
const CLIENTS: usize = 16;
/// How long changes are sent, under load.
const LOAD: Duration = Duration::from_secs(10);
/// How long changes are sent while a watch fails, and how often: seldom, since backoffs grow while nothing else happens.
const FAILING: Duration = Duration::from_secs(120);
const FAILING_EVERY: Duration = Duration::from_secs(20);
const FAILING_OBJECTS: usize = 200;
/// How long a change may take.
const STUCK_AFTER: Duration = Duration::from_secs(120);

/// What is measured.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    /// ConfigMaps in the cache.
    pub(crate) objects: usize,
    /// Changes per second.
    pub(crate) rate: u32,
    pub(crate) servers: &'a [Kind],
    pub(crate) rounds: usize,
    pub(crate) real: Option<&'a Path>,
}

/// Milliseconds, by runtime and by round.
type Seen = BTreeMap<Framework, Vec<Vec<f64>>>;

pub(crate) async fn measure(programs: &Programs, plan: &Plan<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &kind in plan.servers {
        let mut seen = Seen::new();
        for _ in 0..plan.rounds.max(1) {
            let server = Server::start(kind, plan.real)?;
            let maps = create(&server, plan.objects).await?;
            for runtime in programs.runtimes() {
                let operator =
                    programs.start(runtime, server.kubeconfig(), &["--workers", WORKERS, "latency"])?;
                operator.until_idle(STUCK_AFTER).await?;
                let interval = Duration::from_secs(1) / plan.rate.max(1);
                let figures = changes(&server, &maps, &[&operator], plan.objects, interval, LOAD).await?;
                seen.entry(runtime).or_default().extend(figures);
            }
        }
        let what = format!("event to reconcile, {}, {} changes/s", kind.name(), plan.rate);
        rows.extend(rows_of(&what, &seen, &[("p50", 0.5), ("p99", 0.99)]));
    }
    Ok(rows)
}

/// The same while the watch of another kind fails, since its definition was deleted. All runtimes see the same changes.
pub(crate) async fn measure_failing(programs: &Programs, plan: &Plan<'_>) -> Result<Vec<Row>> {
    // One server will do: it is the runtimes that differ.
    let Some(&kind) = plan.servers.first() else { return Ok(Vec::new()) };
    let server = Server::start(kind, plan.real)?;
    let client = Client::try_from(server.config().await?)?;
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let gadgets = gadgets()?;
    definitions.create(&PostParams::default(), &gadgets).await?;
    until_served(&client, true).await?;
    let maps = create(&server, FAILING_OBJECTS).await?;
    let mut operators = Vec::new();
    for runtime in programs.runtimes() {
        let arguments = ["--workers", WORKERS, "--gadgets", "latency"];
        let operator = programs.start(runtime, server.kubeconfig(), &arguments)?;
        operator.until_idle(STUCK_AFTER).await?;
        operators.push((runtime, operator));
    }
    let name = gadgets.metadata.name.as_deref().unwrap_or_default();
    definitions.delete(name, &DeleteParams::default()).await?;
    until_served(&client, false).await?;
    tokio::time::sleep(FAILING_EVERY).await;

    let running: Vec<&Running> = operators.iter().map(|(_, operator)| operator).collect();
    let figures = changes(&server, &maps, &running, FAILING_OBJECTS, FAILING_EVERY, FAILING).await?;
    let runtimes = operators.iter().map(|(runtime, _)| *runtime);
    let seen: Seen = runtimes.zip(figures.into_iter().map(|figures| vec![figures])).collect();
    let what = format!("event to reconcile, {}, while another watch fails", kind.name());
    let mut rows = rows_of(&what, &seen, &[("p50", 0.5), ("max", 1.0)]);
    let mean = |figures: &Vec<f64>| figures.iter().sum::<f64>() / figures.len() as f64;
    let means = seen.iter().map(|(runtime, rounds)| (*runtime, rounds.iter().map(mean).collect()));
    rows.extend(Row::of_runtimes(format!("{what}, mean"), means, Unit::Milliseconds));
    Ok(rows)
}

fn rows_of(what: &str, seen: &Seen, shares: &[(&str, f64)]) -> Vec<Row> {
    let row = |(label, share): &(&str, f64)| {
        let figure = |round: &Vec<f64>| percentile(round, *share);
        let figures = seen.iter().map(|(runtime, rounds)| (*runtime, rounds.iter().map(figure).collect()));
        Row::of_runtimes(format!("{what}, {label}"), figures, Unit::Milliseconds)
    };
    shares.iter().filter_map(row).collect()
}

async fn create(server: &Server, objects: usize) -> Result<String> {
    let client = connect(&server.config().await?).await?;
    let maps = create_namespace(&client).await?;
    let calls = (0..objects).map(|index| {
        let (client, maps) = (&client, &maps);
        async move { bytes(client, "POST", maps, Some(&config_map(index))).await.map(drop) }
    });
    stream::iter(calls).buffer_unordered(CLIENTS).try_collect::<()>().await?;
    Ok(maps)
}

/// Changes one object after the other at a fixed rate, whether answers come or not, and gives the milliseconds that each
/// operator took to begin with each change.
async fn changes(
    server: &Server,
    maps: &str,
    operators: &[&Running],
    objects: usize,
    interval: Duration,
    length: Duration,
) -> Result<Vec<Vec<f64>>> {
    let client = connect(&server.config().await?).await?;
    operators.iter().for_each(|operator| drop(operator.printed()));
    let started = Instant::now();
    let mut ticks = tokio::time::interval(interval);
    let mut calls = tokio::task::JoinSet::new();
    let mut count = 0;
    while started.elapsed() < length {
        ticks.tick().await;
        let (client, path) = (client.clone(), format!("{maps}/{}", name(count % objects)));
        calls.spawn(async move {
            let sent = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos().to_string();
            let patch = json!({"metadata": {"annotations": {SENT: sent}}});
            bytes(&client, "PATCH", &path, Some(&patch)).await
        });
        count += 1;
    }
    while let Some(call) = calls.join_next().await {
        call??;
    }
    let mut all = Vec::new();
    for operator in operators {
        let mut figures = Vec::with_capacity(count);
        // A change of an object that was changed again before may be seen as one.
        let expected = if count > objects { count - count / 10 } else { count };
        while figures.len() < expected {
            let line = operator.line(STUCK_AFTER)?;
            let (sent, began) = line.split_once(' ').ok_or_else(|| format!("odd line {line:?}"))?;
            let (sent, began): (i128, i128) = (sent.parse()?, began.parse()?);
            figures.push((began - sent) as f64 / 1e6);
        }
        all.push(figures);
    }
    Ok(all)
}

/// The definition of the kind whose watch is to fail.
fn gadgets() -> Result<CustomResourceDefinition> {
    Ok(serde_json::from_value(json!({
        "metadata": {"name": "gadgets.bench.kubewright.dev"},
        "spec": {
            "group": "bench.kubewright.dev",
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"},
            "versions": [{
                "name": "v1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {
                    "type": "object",
                    "x-kubernetes-preserve-unknown-fields": true
                }}
            }]
        }
    }))?)
}

/// Waits until the kind is served, or is no more.
async fn until_served(client: &Client, served: bool) -> Result<()> {
    let gadget = ApiResource::from_gvk(&GroupVersionKind::gvk("bench.kubewright.dev", "v1", "Gadget"));
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &gadget);
    let look = async {
        let mut attempts = tokio::time::interval(Duration::from_millis(100));
        while api.list_metadata(&Default::default()).await.is_ok() != served {
            attempts.tick().await;
        }
    };
    Ok(tokio::time::timeout(STUCK_AFTER, look).await?)
}
