//! Side-by-side measurements, each beside a peer where one runs in the same process or is named.
//!
//! ```console
//! $ cargo run --release -p kubewright-benches
//! $ cargo run --release -p kubewright-benches -- runtime --peers
//! $ cargo run --release -p kubewright-benches -- requests --peer-kubeconfig FILE
//! $ cargo run --release -p kubewright-benches -- generate --peer-controller-gen FILE
//! ```
//!
//! Each module measures one thing and returns rows for the table in [`report`]. A figure means little by itself on a
//! shared machine: quote the ratio to a peer from the same run. Start reading at [`Measure`].

mod cache;
mod cluster;
mod connection;
mod generate;
mod latency;
mod many;
mod operator;
mod peers;
mod process;
mod queue;
mod report;
mod requests;
mod server;
mod size;
mod start;

use std::{io::Write, path::PathBuf, process::ExitCode};

use clap::{Parser, ValueEnum};
use peers::Programs;
use report::Row;

type Error = Box<dyn std::error::Error + Send + Sync>;
type Result<T> = std::result::Result<T, Error>;

/// Measures Kubewright and prints one table.
#[derive(Debug, Parser)]
struct Arguments {
    /// What to measure; all of it by default.
    #[arg(value_enum)]
    measures: Vec<Measure>,

    /// Measure the runtime beside controller-runtime and kube-rs, and on a real kube-apiserver too. Needs Go.
    #[arg(long)]
    peers: bool,

    /// The API servers that operators run on. By default ours, and with --peers the real one too.
    #[arg(long, value_enum, value_delimiter = ',')]
    servers: Vec<server::Kind>,

    /// The folder with the programs of the real API server; without it they are built.
    #[arg(long, env = "ORACLE_BIN", value_name = "FOLDER")]
    real_bin: Option<PathBuf>,

    /// The kubeconfig of another API server (a real kube-apiserver, say) to send the same requests to.
    #[arg(long, value_name = "FILE")]
    peer_kubeconfig: Option<PathBuf>,

    /// The program of controller-gen, to generate the same manifests from Go.
    #[arg(long, value_name = "FILE")]
    peer_controller_gen: Option<PathBuf>,

    /// How often most things are measured, in turn with the peers.
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    rounds: usize,

    /// The same for operators on the real API server, which take minutes.
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    real_rounds: usize,

    /// How many ConfigMaps are stored to measure their memory.
    #[arg(long, value_name = "NUMBER", default_value_t = 20_000)]
    stored: usize,

    /// How many ConfigMaps are listed in pages.
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    listed: usize,

    /// How many ConfigMaps are cached.
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    cached: usize,

    /// How many Memcached objects the operator reconciles.
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000)]
    objects: usize,

    /// How many of them at once.
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', default_values_t = [1, 10])]
    workers: Vec<usize>,

    /// How many ConfigMaps are changed one after the other to measure latencies, and how many in a second.
    #[arg(long, value_name = "NUMBER", default_value_t = 5_000)]
    changed: usize,

    /// How many changes are sent in a second to measure latencies.
    #[arg(long, value_name = "NUMBER", default_value_t = 300)]
    rate: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measure {
    /// All that is about the runtime: queue, operator, latency, failing, cache and size.
    Runtime,
    /// The work queue alone.
    Queue,
    /// Starting an API server in process.
    Start,
    /// Requests per second over TLS with 16 clients, large lists, and watch fan-out.
    Requests,
    /// What stored objects take in memory.
    Memory,
    /// Whether listing very many objects in pages holds up other clients.
    Pages,
    /// The Memcached operator from nothing to steady state: time, CPU, memory; and a change after a restart.
    Operator,
    /// From an event to its reconciliation, under load.
    Latency,
    /// The same while another watch fails.
    Failing,
    /// What cached objects take in memory.
    Cache,
    /// The size of the operator's program.
    Size,
    /// Generating manifests.
    Generate,
}

impl Measure {
    fn is_of_runtime(self) -> bool {
        matches!(
            self,
            Self::Queue | Self::Operator | Self::Latency | Self::Failing | Self::Cache | Self::Size
        )
    }
}

impl Arguments {
    fn wants(&self, measure: Measure) -> bool {
        self.measures.is_empty()
            || self.measures.contains(&measure)
            || (measure.is_of_runtime() && self.measures.contains(&Measure::Runtime))
    }

    fn servers(&self) -> Vec<server::Kind> {
        match self.servers.as_slice() {
            [] if self.peers => vec![server::Kind::Ours, server::Kind::Real],
            [] => vec![server::Kind::Ours],
            given => given.to_vec(),
        }
    }
}

fn main() -> Result<ExitCode> {
    // The cluster in its own process is this binary again, so that nothing else needs to be found.
    if std::env::var_os(cluster::PROCESS).is_some() {
        return Ok(cluster::run_process());
    }
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut rows = Vec::new();
    if Measure::value_variants().iter().any(|measure| measure.is_of_runtime() && arguments.wants(*measure)) {
        let programs = Programs::build(arguments.peers)?;
        rows.extend(runtime.block_on(measure_runtime(&arguments, &programs))?);
    }
    rows.extend(runtime.block_on(measure_server(&arguments))?);
    if arguments.wants(Measure::Generate) {
        rows.extend(generate::measure(arguments.peer_controller_gen.as_deref())?);
    }
    write!(std::io::stdout(), "{}", report::table(&rows))?;
    Ok(ExitCode::SUCCESS)
}

async fn measure_runtime(arguments: &Arguments, programs: &Programs) -> Result<Vec<Row>> {
    let servers = arguments.servers();
    let (rounds, real) = (arguments.rounds, arguments.real_bin.as_deref());
    let mut rows = Vec::new();
    if arguments.wants(Measure::Queue) {
        rows.extend(queue::measure(programs, rounds).await?);
    }
    if arguments.wants(Measure::Size) {
        rows.extend(size::measure(programs)?);
    }
    if arguments.wants(Measure::Operator) {
        rows.extend(operator::measure_idle(programs, rounds).await?);
        let plan = operator::Plan {
            objects: arguments.objects,
            workers: &arguments.workers,
            servers: &servers,
            rounds,
            real_rounds: arguments.real_rounds,
            real,
        };
        rows.extend(operator::measure(programs, &plan).await?);
    }
    let plan =
        latency::Plan { objects: arguments.changed, rate: arguments.rate, servers: &servers, rounds, real };
    if arguments.wants(Measure::Latency) {
        rows.extend(latency::measure(programs, &plan).await?);
    }
    if arguments.wants(Measure::Failing) {
        rows.extend(latency::measure_failing(programs, &plan).await?);
    }
    if arguments.wants(Measure::Cache) {
        rows.extend(cache::measure(programs, arguments.cached, rounds).await?);
    }
    Ok(rows)
}

async fn measure_server(arguments: &Arguments) -> Result<Vec<Row>> {
    let peer = arguments.peer_kubeconfig.as_deref();
    let mut rows = Vec::new();
    if arguments.wants(Measure::Start) {
        rows.extend(start::measure().await?);
    }
    if arguments.wants(Measure::Requests) {
        rows.extend(requests::measure(peer, arguments.rounds).await?);
    }
    if arguments.wants(Measure::Memory) {
        rows.extend(many::measure_memory(arguments.stored).await?);
    }
    if arguments.wants(Measure::Pages) {
        rows.extend(many::measure_pages(peer, arguments.listed).await?);
    }
    Ok(rows)
}
