//! Starting an API server in process: from nothing to the first answer.

use std::time::Instant;

use k8s_openapi::api::core::v1::Namespace;
use kube::Api;
use kubewright_apiserver::ApiServer;

use crate::{
    Result,
    cluster::ClusterProcess,
    connection, process,
    report::{Row, Unit},
};

const ROUNDS: u32 = 20;

/// The figures of kube-apiserver 1.37 with etcd, measured on a machine with 2 cores.
const PEER: (&str, f64, f64) = ("kube-apiserver + etcd, measured apart", 2400.0, 332.0);

/// In this process, and as a process of its own that listens.
pub(crate) async fn measure() -> Result<Vec<Row>> {
    let mut rows = measure_in_process().await?;
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let cluster = ClusterProcess::start()?;
        times.push(cluster.started_in.as_secs_f64() * 1e3);
        let client = connection::connect(&cluster.config().await?).await?;
        connection::bytes(&client, "GET", "/api/v1/namespaces/default", None).await?;
        memory.push(cluster.usage()?.resident_mebibytes);
    }
    let listening = "kubewright cluster without controllers";
    rows.push(
        Row::of_rounds(format!("{listening}, until it listens"), times, Unit::Milliseconds)
            .beside(PEER.0, PEER.1),
    );
    rows.push(
        Row::of_rounds(format!("{listening}, its memory"), memory, Unit::Mebibytes).beside(PEER.0, PEER.2),
    );
    Ok(rows)
}

async fn measure_in_process() -> Result<Vec<Row>> {
    let before = process::usage(None)?;
    // The first server also unpacks the tables that all share, as a test binary's first one does.
    let started = Instant::now();
    let first = serve().await?;
    let cold = started.elapsed();
    let after = process::usage(None)?;

    let started = Instant::now();
    for _ in 0..ROUNDS {
        serve().await?;
    }
    let warm = started.elapsed() / ROUNDS;
    drop(first);
    Ok(vec![
        Row::new(
            "first API server in a process, until it answers",
            cold.as_secs_f64() * 1e3,
            Unit::Milliseconds,
        )
        .beside(PEER.0, PEER.1),
        Row::new("each further API server", warm.as_secs_f64() * 1e3, Unit::Milliseconds)
            .beside(PEER.0, PEER.1),
        Row::new("its memory", after.resident_mebibytes - before.resident_mebibytes, Unit::Mebibytes)
            .beside(PEER.0, PEER.2),
    ])
}

async fn serve() -> Result<ApiServer> {
    let server = ApiServer::builder().build();
    let client = kube::Client::new(server.service(), "default");
    Api::<Namespace>::all(client).get("default").await?;
    Ok(server)
}
