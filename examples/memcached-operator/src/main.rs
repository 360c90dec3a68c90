//! Starts the Memcached operator. `memcached-operator --help` lists its flags; `memcached-operator crd`
//! prints the CRDs that it serves.

use kubewright::prelude::*;
use memcached_operator::controller;

/// What the instances run unless `MEMCACHED_IMAGE` names another image.
const IMAGE: &str = "memcached:1.4.36-alpine";

#[tokio::main]
async fn main() -> Result<()> {
    let manager = Manager::new(Options::parse()).await?;
    controller::register(&manager, std::env::var("MEMCACHED_IMAGE").unwrap_or_else(|_| IMAGE.to_owned()))?;
    manager.start().await
}
