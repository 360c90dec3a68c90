//! Starts the operator. `memcached-operator --help` lists its flags, `memcached-operator crd` prints its CRDs.

use kubewright::prelude::*;
use memcached_operator::controller;

#[tokio::main]
async fn main() -> Result<()> {
    let manager = Manager::new(Options::parse()).await?;
    controller::memcached::register(&manager, controller::memcached::image())?;
    manager.start().await
}
