//! An operator as a process of its own: it finds the cluster by `$KUBECONFIG`, speaks TLS, and ends on SIGTERM.

#![cfg(unix)]

use std::{process::Stdio, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use kubewright_apiserver::{
    ApiServer,
    listener::{ListenOptions, listen},
};
use kubewright_runtime::{
    Request,
    client::Client,
    manager::{Manager, Options},
};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

const LIMIT: Duration = Duration::from_secs(60);

fn note(name: &str) -> ConfigMap {
    let mut note = ConfigMap::default();
    note.metadata.namespace = Some("default".into());
    note.metadata.name = Some(name.into());
    note
}

/// Not a test: what the test below runs as another process.
#[tokio::test]
#[ignore = "the child process of another test"]
async fn child() {
    let options = Options::from_command_line(["child", "--health-probe-bind-address=0", "--log-format=json"]);
    let manager = Manager::new(options.expect("valid flags")).await.expect("a manager");
    let client = manager.client();
    manager
        .add("notes", |stop: CancellationToken| async move {
            client.apply(&note("started")).await?;
            stop.cancelled().await;
            client.apply(&note("stopped")).await?;
            Ok(())
        })
        .expect("added");
    manager.start().await.expect("an orderly end");
}

#[tokio::test]
async fn a_process_ends_in_order_on_sigterm() {
    let server = ApiServer::builder().build();
    let listening = listen(server.service(), ListenOptions::default()).await.expect("a listener");
    let directory = tempfile::tempdir().expect("a directory");
    let kubeconfig = directory.path().join("kubeconfig");
    listening.write_kubeconfig(&kubeconfig).expect("written");
    let client = Client::new(kube::Client::new(server.service(), "default"), "test");

    let mut child = Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env("KUBECONFIG", &kubeconfig)
        .env_remove("RUST_LOG")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("a process");
    until(&client, "started").await;
    let id = child.id().expect("it runs").to_string();
    let sent = Command::new("kill").args(["-TERM", &id]).status().await.expect("kill");
    assert!(sent.success());
    let ended = tokio::time::timeout(LIMIT, child.wait()).await.expect("it ends").expect("a status");
    let output = child.wait_with_output().await.expect("output");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(ended.success(), "{ended}: {log}");
    until(&client, "stopped").await;
    assert!(
        log.lines().any(|line| line.contains("\"msg\":\"stopping; once more to end at once\"")
            && line.contains("\"signal\":\"SIGTERM\"")),
        "{log}"
    );
    listening.shutdown().await;
}

async fn until(client: &Client, name: &str) {
    let there = async {
        let key = Request::namespaced("default", name);
        while client.live().get::<ConfigMap>(&key).await.expect("an answer").is_none() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LIMIT, there).await.unwrap_or_else(|_| panic!("{name} was not written"));
}
