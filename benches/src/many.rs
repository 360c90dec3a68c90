//! Many objects: what they take in memory, and whether listing them holds up other clients.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt, stream};
use kube::{Client, Config};

use crate::{
    Result,
    cluster::ClusterProcess,
    connection::{bytes, connect, json},
    report::{Row, Unit, percentile},
    requests::{PEER, config_map, create_namespace, name, peer_config},
};

const CLIENTS: usize = 16;
/// As client-go and kube-rs ask for.
const PAGE: usize = 500;
/// How long the other client looks before anybody lists.
const QUIET: Duration = Duration::from_secs(2);
/// How long the other client waits between two requests.
const PAUSE: Duration = Duration::from_millis(1);

/// Latencies of another client, in milliseconds: while nobody lists, and meanwhile; and the seconds that all pages took.
struct Latencies {
    quiet: Vec<f64>,
    meanwhile: Vec<f64>,
    pages: f64,
}

/// What stored ConfigMaps take in memory.
pub(crate) async fn measure_memory(objects: usize) -> Result<Vec<Row>> {
    let cluster = ClusterProcess::start()?;
    let client = connect(&cluster.config().await?).await?;
    let maps = create_namespace(&client).await?;
    let before = cluster.usage()?.resident_mebibytes;
    create(&cluster.config().await?, &maps, objects).await?;
    let taken = cluster.usage()?.resident_mebibytes - before;
    let json = bytes(&client, "GET", &format!("{maps}/{}", name(objects - 1)), None).await?;
    let all = (json * objects) as f64 / f64::from(1 << 20);
    let what = format!("memory of {objects} ConfigMaps of {json} bytes of JSON");
    Ok(vec![
        Row::new(what.clone(), taken, Unit::Mebibytes),
        Row::new(what + ", by their JSON", taken / all, Unit::Times),
    ])
}

/// How long another client waits for an object while all objects are listed in pages.
pub(crate) async fn measure_pages(peer: Option<&Path>, objects: usize) -> Result<Vec<Row>> {
    let cluster = ClusterProcess::start()?;
    let ours = list_in_pages(&cluster.config().await?, objects).await?;
    drop(cluster);
    let peer = match peer {
        Some(path) => Some(list_in_pages(&peer_config(path).await?, objects).await?),
        None => None,
    };
    let row = |what: &str, unit, figure: &dyn Fn(&Latencies) -> f64| {
        let row = Row::new(format!("{objects} objects in pages of {PAGE}: {what}"), figure(&ours), unit);
        match &peer {
            Some(peer) => row.beside(PEER, figure(peer)),
            None => row,
        }
    };
    let share = |all: &[f64], share| percentile(all, share);
    Ok(vec![
        row("all pages", Unit::Seconds, &|seen| seen.pages),
        row("another client's get before, p50", Unit::Milliseconds, &|seen| share(&seen.quiet, 0.5)),
        row("before, p99", Unit::Milliseconds, &|seen| share(&seen.quiet, 0.99)),
        row("before, max", Unit::Milliseconds, &|seen| share(&seen.quiet, 1.0)),
        row("meanwhile, p50", Unit::Milliseconds, &|seen| share(&seen.meanwhile, 0.5)),
        row("meanwhile, p99", Unit::Milliseconds, &|seen| share(&seen.meanwhile, 0.99)),
        row("meanwhile, max", Unit::Milliseconds, &|seen| share(&seen.meanwhile, 1.0)),
    ])
}

async fn create(config: &Config, maps: &str, objects: usize) -> Result<()> {
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        clients.push(connect(config).await?);
    }
    let calls = (0..objects).map(|index| {
        let (client, object) = (&clients[index % CLIENTS], config_map(index));
        async move { bytes(client, "POST", maps, Some(&object)).await.map(drop) }
    });
    stream::iter(calls).buffer_unordered(CLIENTS).try_collect().await
}

async fn list_in_pages(config: &Config, objects: usize) -> Result<Latencies> {
    let maps = create_namespace(&connect(config).await?).await?;
    create(config, &maps, objects).await?;
    // Servers close connections that are idle for long.
    let (lister, other) = (connect(config).await?, connect(config).await?);
    let one = format!("{maps}/{}", name(objects / 2));

    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let (mut quiet, never) = (Vec::new(), AtomicBool::new(false));
    if let Ok(failed) = tokio::time::timeout(QUIET, latencies(&other, &one, &never, &mut quiet)).await {
        failed?;
    }
    let watching = tokio::spawn(async move {
        let mut seen = Vec::new();
        latencies(&other, &one, &over, &mut seen).await?;
        Result::Ok(seen)
    });
    let started = Instant::now();
    let mut path = format!("{maps}?limit={PAGE}");
    let mut pages = 0;
    loop {
        let page = json(&lister, "GET", &path, None).await?;
        pages += 1;
        let Some(token) = page["metadata"]["continue"].as_str().filter(|token| !token.is_empty()) else {
            break;
        };
        path = format!("{maps}?limit={PAGE}&continue={token}");
    }
    let took = started.elapsed().as_secs_f64();
    is_over.store(true, Ordering::Relaxed);
    let meanwhile = watching.await??;
    if pages != objects.div_ceil(PAGE) {
        return Err(format!("{objects} objects came in {pages} pages").into());
    }
    Ok(Latencies { quiet, meanwhile, pages: took })
}

/// Gets an object again and again until it is over.
async fn latencies(client: &Client, path: &str, is_over: &AtomicBool, seen: &mut Vec<f64>) -> Result<()> {
    while !is_over.load(Ordering::Relaxed) {
        let started = Instant::now();
        bytes(client, "GET", path, None).await?;
        seen.push(started.elapsed().as_secs_f64() * 1e3);
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}
