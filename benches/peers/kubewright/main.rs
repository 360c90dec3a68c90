//! What is measured of Kubewright beside its peers: the Memcached operator of `examples/`, with a number of workers, and
//! probes of the cache and of the time from an event to its reconciliation.
//!
//! It is a program of its own, so that its CPU time and memory are those of an operator and nothing else.

use std::{
    collections::HashMap,
    io::Write,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::Parser;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt,
    config::{Config, KubeConfigOptions, Kubeconfig},
    core::{ApiResource, DynamicObject, GroupVersionKind},
    discovery::Scope,
};
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    cache::InformerOptions,
    client::Client,
    controller::{Controller, ControllerConfig},
    handler::enqueue_object,
    manager::{Manager, Options},
    source::KindSource,
};

/// The annotation in which the driver writes when it sent a change, in nanoseconds since 1970.
const SENT: &str = "bench.kubewright.dev/sent";

/// How long a reconciliation takes, as if it made calls.
const WORK: Duration = Duration::from_millis(5);

#[derive(Parser)]
struct Flags {
    what: String,
    #[arg(long)]
    kubeconfig: PathBuf,
    /// How many objects are reconciled at once.
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// latency: watch Gadgets as well.
    #[arg(long)]
    gadgets: bool,
}

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init();
    let flags = Flags::parse();
    let kubeconfig = Kubeconfig::read_from(&flags.kubeconfig)?;
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let mut controllers = ControllerConfig::default();
    controllers.max_concurrent_reconciles = flags.workers;
    let manager = Manager::builder(Options::default()).config(config)?.controllers(controllers).build()?;
    match flags.what.as_str() {
        "memcached" => memcached_operator::controller::memcached::register(&manager, "memcached:1.6")?,
        "latency" => register_latencies(&manager, flags.gadgets)?,
        "cache" => fill_cache(&manager)?,
        other => return Err(format!("{other:?} is none of memcached, latency, cache").into()),
    }
    manager.start().await?;
    Ok(())
}

/// Fills a cache of all ConfigMaps, and prints that it did.
fn fill_cache(manager: &Manager) -> Result<()> {
    let maps = manager.cache().declare(InformerOptions::<ConfigMap>::new())?;
    tokio::spawn(async move {
        maps.wait_for_sync().await;
        // Who started this process reads it, or has ended.
        let _ = writeln!(std::io::stdout(), "synced {}", maps.list(None).len());
    });
    Ok(())
}

/// Reconciles ConfigMaps and prints, for each change, when it was sent and when its reconciliation began.
struct Latencies {
    client: Client,
    seen: Mutex<HashMap<String, String>>,
}

fn register_latencies(manager: &Manager, gadgets: bool) -> Result<()> {
    let mut controller = Controller::for_kind::<ConfigMap>(manager);
    if gadgets {
        let gadget = ApiResource::from_gvk(&GroupVersionKind::gvk("bench.kubewright.dev", "v1", "Gadget"));
        let options = InformerOptions::<DynamicObject>::dynamic(&gadget, Scope::Namespaced);
        controller = controller.source(KindSource::new(options, enqueue_object()));
    }
    controller.run(Latencies { client: manager.client(), seen: Mutex::default() })
}

impl Reconciler for Latencies {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let Some(map) = self.client.get::<ConfigMap>(&request).await? else { return Ok(Action::done()) };
        if let Some(sent) = map.annotations().get(SENT)
            && self.is_new(&request.name, sent)
        {
            // Who started this process reads it, or has ended.
            let _ = writeln!(std::io::stdout(), "{sent} {began}");
        }
        tokio::time::sleep(WORK).await;
        Ok(Action::done())
    }
}

impl Latencies {
    fn is_new(&self, name: &str, sent: &str) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.insert(name.to_owned(), sent.to_owned()).as_deref() != Some(sent)
    }
}
