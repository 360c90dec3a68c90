//! The Memcached operator: from nothing to steady state, and a change right after a restart, on several runtimes.
//!
//! Steady is the state in which every Memcached has its Deployment and a status for its generation, and the operator has
//! been idle for a while. No pod ever runs: nothing but the operator acts.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::{
    api::apps::v1::Deployment,
    apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, CustomResourceExt, Resource, ResourceExt,
    api::{ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams},
};
use memcached_operator::api::v1alpha1::{Memcached, MemcachedSpec};
use serde_json::json;

use crate::{
    Result,
    peers::{Framework, Programs, Running},
    report::{Row, Unit, percentile},
    server::{Kind, Server},
};

/// How long it may take before it counts as stuck.
const STUCK_AFTER: Duration = Duration::from_secs(900);
/// How many clients create objects at once.
const CLIENTS: usize = 16;

/// When after a restart the first object is changed: all caches are filled by then.
const CHANGES_AFTER: Duration = Duration::from_secs(3);
/// How long lies between two changes.
const CHANGES_EVERY: Duration = Duration::from_millis(200);
/// How many objects are changed after a restart.
const CHANGES: usize = 20;
/// The workers of the operator that is restarted: with more, the queue is empty too soon to see anything.
const WORKERS_OF_RESTART: usize = 1;

/// What is measured.
#[derive(Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) objects: usize,
    pub(crate) workers: &'a [usize],
    pub(crate) servers: &'a [Kind],
    pub(crate) rounds: usize,
    /// Rounds on the real server, which take minutes each.
    pub(crate) real_rounds: usize,
    pub(crate) real: Option<&'a std::path::Path>,
}

/// The figures of one run.
struct Figures {
    seconds: f64,
    cpu_seconds: f64,
    end_mebibytes: f64,
    peak_mebibytes: f64,
    /// Milliseconds from each change after a restart until it was reconciled.
    restart: Vec<f64>,
}

type Column = (String, Unit, fn(&Figures) -> f64);

pub(crate) async fn measure(programs: &Programs, plan: &Plan<'_>) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for &server in plan.servers {
        let rounds = if server == Kind::Real { plan.real_rounds } else { plan.rounds };
        for &workers in plan.workers {
            let mut seen: BTreeMap<Framework, Vec<Figures>> = BTreeMap::new();
            for _ in 0..rounds.max(1) {
                for runtime in programs.runtimes() {
                    let figures = run(programs, runtime, server, workers, plan).await?;
                    seen.entry(runtime).or_default().push(figures);
                }
            }
            rows.extend(rows_of(&seen, server, workers, plan.objects));
        }
    }
    Ok(rows)
}

/// The memory of an operator that has nothing to do.
pub(crate) async fn measure_idle(programs: &Programs, rounds: usize) -> Result<Vec<Row>> {
    let mut seen: BTreeMap<Framework, Vec<f64>> = BTreeMap::new();
    for _ in 0..rounds.max(1) {
        let server = Server::start(Kind::Ours, None)?;
        install(&Client::try_from(server.config().await?)?).await?;
        for runtime in programs.runtimes() {
            let operator = programs.start(runtime, server.kubeconfig(), &["memcached"])?;
            operator.until_idle(STUCK_AFTER).await?;
            seen.entry(runtime).or_default().push(operator.usage()?.resident_mebibytes);
        }
    }
    Ok(Row::of_runtimes("operator without objects: memory", seen, Unit::Mebibytes).into_iter().collect())
}

fn rows_of(
    seen: &BTreeMap<Framework, Vec<Figures>>,
    server: Kind,
    workers: usize,
    objects: usize,
) -> Vec<Row> {
    let what = format!("{objects} Memcached objects, {}, {workers} workers", server.name());
    let restart = format!("restart with {what}: a change meanwhile, until it is reconciled");
    let mut columns: Vec<Column> = vec![
        (format!("{what}: time to steady state"), Unit::Seconds, |figures| figures.seconds),
        (format!("{what}: operator's CPU time"), Unit::Seconds, |figures| figures.cpu_seconds),
        (format!("{what}: operator's memory at the end"), Unit::Mebibytes, |figures| figures.end_mebibytes),
        (format!("{what}: operator's peak memory"), Unit::Mebibytes, |figures| figures.peak_mebibytes),
    ];
    if workers == WORKERS_OF_RESTART {
        columns.push((format!("{restart}, p50"), Unit::Milliseconds, |figures| {
            percentile(&figures.restart, 0.5)
        }));
        columns.push((format!("{restart}, max"), Unit::Milliseconds, |figures| {
            percentile(&figures.restart, 1.0)
        }));
    }
    let row = |(what, unit, figure): Column| {
        let figures = seen.iter().map(|(runtime, rounds)| (*runtime, rounds.iter().map(figure).collect()));
        Row::of_runtimes(what, figures, unit)
    };
    columns.into_iter().filter_map(row).collect()
}

async fn run(
    programs: &Programs,
    runtime: Framework,
    server: Kind,
    workers: usize,
    plan: &Plan<'_>,
) -> Result<Figures> {
    let server = Server::start(server, plan.real)?;
    let client = Client::try_from(server.config().await?)?;
    install(&client).await?;
    let api: Api<Memcached> = Api::default_namespaced(client.clone());
    create(&api, plan.objects).await?;

    let number = workers.to_string();
    let arguments = ["--workers", &number, "memcached"];
    let started = Instant::now();
    let operator = programs.start(runtime, server.kubeconfig(), &arguments)?;
    tokio::time::timeout(STUCK_AFTER, reported(&api, plan.objects)).await??;
    let reported = Instant::now();
    let idle = operator.until_idle(STUCK_AFTER).await?;
    let usage = operator.usage()?;
    check(&client, plan.objects).await?;
    drop(operator);

    let restart = if workers == WORKERS_OF_RESTART {
        let operator = programs.start(runtime, server.kubeconfig(), &arguments)?;
        restart(&client, &operator, plan.objects).await?
    } else {
        Vec::new()
    };
    Ok(Figures {
        seconds: idle.max(reported).duration_since(started).as_secs_f64(),
        cpu_seconds: usage.cpu_seconds,
        end_mebibytes: usage.resident_mebibytes,
        peak_mebibytes: usage.peak_mebibytes,
        restart,
    })
}

/// Installs the definition, and waits until its kind is served.
async fn install(client: &Client) -> Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    definitions.create(&PostParams::default(), &Memcached::crd()).await?;
    let api: Api<Memcached> = Api::default_namespaced(client.clone());
    let mut attempts = tokio::time::interval(Duration::from_millis(100));
    while let Err(error) = api.list(&ListParams::default()).await {
        if !matches!(&error, kube::Error::Api(status) if status.code == 404) {
            return Err(error.into());
        }
        attempts.tick().await;
    }
    Ok(())
}

async fn create(api: &Api<Memcached>, objects: usize) -> Result<()> {
    let creations = (0..objects).map(|index| async move {
        let spec = MemcachedSpec { size: 2, container_port: 11211 };
        api.create(&PostParams::default(), &Memcached::new(&name(index), spec)).await.map(drop)
    });
    Ok(stream::iter(creations).buffer_unordered(CLIENTS).try_collect().await?)
}

fn name(index: usize) -> String {
    format!("memcached-{index}")
}

/// Waits until the operator has reported on every object.
async fn reported(api: &Api<Memcached>, objects: usize) -> Result<()> {
    let list = api.list(&ListParams::default()).await?;
    let mut pending: BTreeSet<String> =
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

/// Whether the state is the one that is wanted: a Deployment and a finalizer for each object.
async fn check(client: &Client, objects: usize) -> Result<()> {
    let deployments: Api<Deployment> = Api::default_namespaced(client.clone());
    let deployments = deployments.list_metadata(&ListParams::default()).await?.items;
    let owned = deployments.iter().filter(|deployment| !deployment.owner_references().is_empty()).count();
    let api: Api<Memcached> = Api::default_namespaced(client.clone());
    let all = api.list_metadata(&ListParams::default()).await?.items;
    let guarded = all.iter().filter(|object| !object.finalizers().is_empty()).count();
    if owned == objects && guarded == objects {
        return Ok(());
    }
    Err(format!("of {objects} objects, {owned} have a Deployment and {guarded} a finalizer").into())
}

/// Changes objects while a restarted operator works off its first list, and gives the milliseconds until each Deployment
/// was changed.
async fn restart(client: &Client, operator: &Running, objects: usize) -> Result<Vec<f64>> {
    let api: Api<Memcached> = Api::default_namespaced(client.clone());
    let deployments: Api<Deployment> = Api::default_namespaced(client.clone());
    let list = deployments.list_metadata(&ListParams::default().limit(1)).await?;
    let mut version = list.metadata.resource_version.unwrap_or_default();
    tokio::time::sleep(CHANGES_AFTER).await;
    let changes = CHANGES.min(objects);
    let changing = tokio::spawn(async move {
        let mut sent = BTreeMap::new();
        let mut ticks = tokio::time::interval(CHANGES_EVERY);
        // Spread over all of them, so that some are early in the list and some are late.
        for index in (0..objects).step_by(objects.div_ceil(changes).max(1)) {
            ticks.tick().await;
            sent.insert(name(index), Instant::now());
            let patch = Patch::Merge(json!({"spec": {"size": 3}}));
            api.patch(&name(index), &PatchParams::default(), &patch).await?;
        }
        Result::Ok(sent)
    });
    let seen = async {
        let mut seen = BTreeMap::new();
        while seen.len() < objects.div_ceil(objects.div_ceil(changes).max(1)) {
            let mut watch = deployments.watch(&WatchParams::default().timeout(290), &version).await?.boxed();
            while let Some(event) = watch.try_next().await? {
                if let WatchEvent::Modified(deployment) = event {
                    version = deployment.resource_version().unwrap_or_default();
                    if deployment.spec.replicas == Some(3) {
                        seen.entry(deployment.name_any()).or_insert_with(Instant::now);
                    }
                    if seen.len() >= objects.div_ceil(objects.div_ceil(changes).max(1)) {
                        break;
                    }
                }
            }
        }
        Result::Ok(seen)
    };
    let seen = tokio::time::timeout(STUCK_AFTER, seen).await??;
    let sent = changing.await??;
    operator.usage()?;
    let milliseconds = sent.iter().filter_map(|(name, sent)| {
        Some(seen.get(name)?.saturating_duration_since(*sent).as_secs_f64() * 1e3)
    });
    Ok(milliseconds.collect())
}
