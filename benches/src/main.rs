//! Side-by-side measurements, each beside a peer where one runs in the same process or is named.
//!
//! ```console
//! $ cargo run --release -p kubewright-benches
//! $ cargo run --release -p kubewright-benches -- requests --peer-kubeconfig FILE
//! $ cargo run --release -p kubewright-benches -- generate --peer-controller-gen FILE
//! ```
//!
//! Each module measures one thing and returns rows for the table in [`report`]. A figure means little by itself on a
//! shared machine: quote the ratio to a peer from the same run. Start reading at [`Measure`].

mod cluster;
mod connection;
mod generate;
mod many;
mod operator;
mod process;
mod queue;
mod report;
mod requests;
mod start;

use std::{io::Write, path::PathBuf, process::ExitCode};

use clap::{Parser, ValueEnum};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Measures Kubewright and prints one table.
#[derive(Debug, Parser)]
struct Arguments {
    /// What to measure; all of it by default.
    #[arg(value_enum)]
    measures: Vec<Measure>,

    /// The kubeconfig of another API server (a real kube-apiserver, say) to send the same requests to.
    #[arg(long, value_name = "FILE")]
    peer_kubeconfig: Option<PathBuf>,

    /// The program of controller-gen, to generate the same manifests from Go.
    #[arg(long, value_name = "FILE")]
    peer_controller_gen: Option<PathBuf>,

    /// How often requests are measured, in turn with the peer.
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    rounds: usize,

    /// How many ConfigMaps are stored to measure their memory.
    #[arg(long, value_name = "NUMBER", default_value_t = 20_000)]
    stored: usize,

    /// How many ConfigMaps are listed in pages.
    #[arg(long, value_name = "NUMBER", default_value_t = 100_000)]
    listed: usize,

    /// How many Memcached objects the operator reconciles.
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', default_values_t = [1_000, 10_000])]
    objects: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Measure {
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
    /// The Memcached operator from nothing to steady state: time, CPU, memory.
    Operator,
    /// Generating manifests.
    Generate,
}

fn main() -> Result<ExitCode> {
    // The operator and the cluster in their own processes are this binary again, so that nothing else needs to be built or
    // found.
    if let Some(kubeconfig) = std::env::var_os(operator::PROCESS) {
        operator::run_process(&PathBuf::from(kubeconfig))?;
        return Ok(ExitCode::SUCCESS);
    }
    if std::env::var_os(cluster::PROCESS).is_some() {
        return Ok(cluster::run_process());
    }
    let arguments = Arguments::parse();
    let wanted = |measure| arguments.measures.is_empty() || arguments.measures.contains(&measure);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let peer = arguments.peer_kubeconfig.as_deref();
    let mut rows = Vec::new();
    runtime.block_on(async {
        if wanted(Measure::Queue) {
            rows.extend(queue::measure().await);
        }
        if wanted(Measure::Start) {
            rows.extend(start::measure().await?);
        }
        if wanted(Measure::Requests) {
            rows.extend(requests::measure(peer, arguments.rounds).await?);
        }
        if wanted(Measure::Memory) {
            rows.extend(many::measure_memory(arguments.stored).await?);
        }
        if wanted(Measure::Pages) {
            rows.extend(many::measure_pages(peer, arguments.listed).await?);
        }
        if wanted(Measure::Operator) {
            for objects in &arguments.objects {
                rows.extend(operator::measure(*objects).await?);
            }
        }
        Result::Ok(())
    })?;
    if wanted(Measure::Generate) {
        rows.extend(generate::measure(arguments.peer_controller_gen.as_deref())?);
    }
    write!(std::io::stdout(), "{}", report::table(&rows))?;
    Ok(ExitCode::SUCCESS)
}
