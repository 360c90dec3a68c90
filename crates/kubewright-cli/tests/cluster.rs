//! `kubewright cluster`, as a program in another language uses it.

mod process;

use std::{net::TcpListener, os::unix::fs::PermissionsExt, path::Path, process::Command, time::Duration};

use nix::sys::signal::Signal;
use process::{Cluster, Kubewright};

#[test]
fn the_ready_line_tells_where_the_cluster_is_and_a_signal_ends_it() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut cluster = Cluster::start();
        let url = cluster.ready["url"].as_str().expect("a URL");
        assert!(url.starts_with("https://127.0.0.1:"), "{url}");
        let kubeconfig = cluster.kubeconfig();
        let told = cluster.ready["kubeconfig"].as_str().expect("a path");
        assert_eq!(
            Path::new(told).canonicalize().expect("it exists"),
            kubeconfig.canonicalize().expect("it exists")
        );
        let mode = kubeconfig.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "credentials are for their owner alone");

        let (status, took) = cluster.kubewright.end(signal);
        assert_eq!(status.code(), Some(0), "{signal}");
        assert!(took < Duration::from_secs(2), "{signal} took {took:?}");
    }
}

#[test]
fn without_a_place_for_the_kubeconfig_a_private_one_is_made_and_removed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut kubewright =
        Kubewright::start(&["cluster", "--secure-port", "0", "--controllers", "none"], folder.path());
    let line = kubewright.line(Duration::from_secs(30));
    let path = line.rsplit("kubeconfig ").next().map(Path::new).expect("the line names the kubeconfig");
    assert!(path.is_file(), "{line}");
    kubewright.end(Signal::SIGTERM);
    assert!(!path.exists());
}

#[test]
fn what_cannot_work_is_one_line_on_standard_error_and_exit_code_1() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("it is bound").port().to_string();
    for (arguments, expected) in [
        (vec!["cluster", "--secure-port", &port], "--secure-port"),
        (
            vec!["cluster", "--secure-port", "0", "--write-kubeconfig", "no/such/folder/file"],
            "no/such/folder/file",
        ),
        (vec!["dev", "no-such-project"], "no-such-project"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_kubewright"))
            .args(&arguments)
            .env_remove("RUST_LOG")
            .output()
            .expect("the kubewright binary runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert_eq!(stderr.trim().lines().count(), 1, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn unknown_controllers_are_refused_with_the_known_ones() {
    let output = Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(["cluster", "--controllers", "deploymint"])
        .output()
        .expect("the kubewright binary runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("deployment"), "{stderr}");
}
