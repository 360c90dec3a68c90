//! What is measured of kube-rs: the Memcached operator on its `Controller`, and probes of the cache and of the time from
//! an event to its reconciliation.

mod api;
mod deployment;
mod latency;
mod memcached;

use std::{io::Write, path::PathBuf, pin::pin};

use clap::Parser;
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
    runtime::{WatchStreamExt, reflector, watcher},
};

type Error = Box<dyn std::error::Error + Send + Sync>;

#[derive(Parser)]
struct Flags {
    what: String,
    #[arg(long)]
    kubeconfig: PathBuf,
    /// How many objects are reconciled at once.
    #[arg(long, default_value_t = 1)]
    workers: u16,
    /// latency: watch Gadgets as well.
    #[arg(long)]
    gadgets: bool,
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let flags = Flags::parse();
    let kubeconfig = Kubeconfig::read_from(&flags.kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let client = Client::try_from(config)?;
    match flags.what.as_str() {
        "memcached" => memcached::run(client, "memcached:1.6", flags.workers).await,
        "latency" => latency::run(client, flags.workers, flags.gadgets).await,
        "cache" => fill_cache(client).await?,
        other => return Err(format!("{other:?} is none of memcached, latency, cache").into()),
    }
    Ok(())
}

/// Fills a store of all ConfigMaps, prints that it did, and goes on watching.
async fn fill_cache(client: Client) -> Result<(), Error> {
    let (store, writer) = reflector::store();
    let maps = watcher(Api::<ConfigMap>::all(client), watcher::Config::default()).default_backoff();
    tokio::spawn(async move {
        if store.wait_until_ready().await.is_ok() {
            // Who started this process reads it, or has ended.
            let _ = writeln!(std::io::stdout(), "synced {}", store.len());
        }
    });
    let mut events = pin!(reflector(writer, maps));
    while events.next().await.is_some() {}
    Ok(())
}
