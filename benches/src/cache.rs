//! What cached objects take: bytes per object in steady state, and the peak on the way there.

use std::{collections::BTreeMap, time::Duration};

use futures::{StreamExt, TryStreamExt, stream};

use crate::{
    Result,
    cluster::ClusterProcess,
    connection::{bytes, connect},
    peers::{Framework, Programs},
    report::{Row, Unit},
    requests::{config_map, create_namespace},
};

const CLIENTS: usize = 16;
const STUCK_AFTER: Duration = Duration::from_secs(300);

/// KiB per object, the peak over what is kept, and seconds until the cache is filled.
struct Figures {
    kibibytes: f64,
    peak: f64,
    seconds: f64,
}

/// Measures the growth of a program that caches this many ConfigMaps, over the same program that caches none.
pub(crate) async fn measure(programs: &Programs, objects: usize, rounds: usize) -> Result<Vec<Row>> {
    let cluster = ClusterProcess::start()?;
    let empty = resident(programs, &cluster, 0).await?;
    let client = connect(&cluster.config().await?).await?;
    let maps = create_namespace(&client).await?;
    let calls = (0..objects).map(|index| {
        let (client, maps) = (&client, &maps);
        async move { bytes(client, "POST", maps, Some(&config_map(index))).await.map(drop) }
    });
    stream::iter(calls).buffer_unordered(CLIENTS).try_collect::<()>().await?;

    let mut seen: BTreeMap<Framework, Vec<Figures>> = BTreeMap::new();
    for _ in 0..rounds.max(1) {
        for (runtime, full) in resident(programs, &cluster, objects).await? {
            let before = empty.get(&runtime).map_or(0.0, |empty| empty.0);
            let (steady, peak, seconds) = full;
            seen.entry(runtime).or_default().push(Figures {
                kibibytes: (steady - before) * 1024.0 / objects as f64,
                peak: peak / steady,
                seconds,
            });
        }
    }
    let row = |what: &str, unit, figure: fn(&Figures) -> f64| {
        let figures = seen.iter().map(|(runtime, rounds)| (*runtime, rounds.iter().map(figure).collect()));
        Row::of_runtimes(format!("{objects} cached ConfigMaps: {what}"), figures, unit)
    };
    let rows = [
        row("memory of each", Unit::Kibibytes, |figures| figures.kibibytes),
        row("peak over steady memory", Unit::Times, |figures| figures.peak),
        row("time until the cache is filled", Unit::Seconds, |figures| figures.seconds),
    ];
    Ok(rows.into_iter().flatten().collect())
}

/// MiB in steady state and at the peak, and seconds until there.
async fn resident(
    programs: &Programs,
    cluster: &ClusterProcess,
    objects: usize,
) -> Result<BTreeMap<Framework, (f64, f64, f64)>> {
    let mut seen = BTreeMap::new();
    for runtime in programs.runtimes() {
        let started = std::time::Instant::now();
        let program = programs.start(runtime, cluster.kubeconfig().as_ref(), &["cache"])?;
        let line = program.line(STUCK_AFTER)?;
        let seconds = started.elapsed().as_secs_f64();
        let count: usize = line.strip_prefix("synced ").unwrap_or_default().parse()?;
        if count < objects {
            return Err(format!("{} cached {count} of {objects}", runtime.name()).into());
        }
        program.until_idle(STUCK_AFTER).await?;
        let usage = program.usage()?;
        seen.insert(runtime, (usage.resident_mebibytes, usage.peak_mebibytes, seconds));
    }
    Ok(seen)
}
