//! `kubewright cluster`, as a program in another language uses it.

mod data_dir;
mod process;

use std::{net::TcpListener, os::unix::fs::PermissionsExt, path::Path, process::Command, time::Duration};

use kubewright_apiserver::listener::CertificateAuthority;
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
fn files_that_flags_name_are_checked_with_the_line_that_is_wrong() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let authority = CertificateAuthority::generate().expect("an authority");
    let certificate = write("server.crt", authority.certificate_pem());
    let other = CertificateAuthority::generate().expect("an authority");
    let key = write("other.key", other.key_pem());
    let empty = write("empty.pem", "");
    let tokens = write("tokens.csv", "t1,jane,u1\nt2,joe\n");
    for (arguments, expected) in [
        (vec!["--token-auth-file", &tokens], "--token-auth-file: cannot use the token file"),
        (vec!["--token-auth-file", &tokens], "tokens.csv: line 2 has 2 of the at least 3 columns"),
        (vec!["--token-auth-file", "no/such/file"], "no/such/file"),
        (vec!["--client-ca-file", &empty], "empty.pem: no certificate of an authority"),
        (vec!["--tls-cert-file", &certificate, "--tls-private-key-file", &key], "--tls-cert-file: "),
        (
            vec!["--tls-cert-file", &certificate, "--tls-private-key-file", "none"],
            "--tls-private-key-file: cannot read none",
        ),
        (
            vec!["--enable-admission-plugins", "AlwaysDenied"],
            "admission plugin \"AlwaysDenied\" is unknown; known are ",
        ),
        (vec!["--authorization-mode", "RBAC,RBAC"], "--authorization-mode: a mode is named twice"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_kubewright"))
            .args(["cluster", "--secure-port", "0", "--controllers", "none"])
            .args(&arguments)
            .env_remove("RUST_LOG")
            .output()
            .expect("the kubewright binary runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert_eq!(stderr.trim().lines().count(), 1, "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
}

#[test]
fn clients_show_who_they_are_as_to_kube_apiserver() {
    let Some(kubectl) = process::kubectl() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let authority = CertificateAuthority::generate().expect("an authority");
    let jane = authority.issue_client("jane", Some("dev")).expect("a certificate");
    let ca = write("ca.crt", authority.certificate_pem());
    let (certificate, key) = (write("jane.crt", &jane.certificate_pem), write("jane.key", &jane.key_pem));
    let tokens = write("tokens.csv", "secret,joe,u1,\"ops,system:masters\"\n");
    let cluster = Cluster::start_with(&[
        "--controllers=none",
        "--anonymous-auth=false",
        &format!("--client-ca-file={ca}"),
        &format!("--token-auth-file={tokens}"),
        "--authorization-mode=AlwaysDeny,RBAC",
        "--service-cluster-ip-range=10.43.0.0/16,fd00:43::/112",
        "--disable-admission-plugins=NamespaceLifecycle",
    ]);
    let mut kubectl = cluster.kubectl(&kubectl);
    let ip = kubectl.ok(&["get", "service", "kubernetes", "--output=jsonpath={.spec.clusterIP}"]);
    assert_eq!(ip, "10.43.0.1", "the kubeconfig of the cluster goes on to work");

    // Nothing looks for the namespace.
    kubectl.ok(&["create", "configmap", "a", "--namespace=missing"]);

    // A kubeconfig of nobody, so that flags alone say who it is.
    let mut nobody: serde_json::Value =
        serde_json::from_slice(&std::fs::read(cluster.kubeconfig()).expect("readable")).expect("JSON");
    nobody["users"][0]["user"] = serde_json::json!({});
    kubectl.kubeconfig = write("nobody", &nobody.to_string()).into();
    let certificate = [format!("--client-certificate={certificate}"), format!("--client-key={key}")];
    let certificate: Vec<&str> = certificate.iter().map(String::as_str).collect();
    let whoami = [
        &["auth", "whoami", "--output=jsonpath={.status.userInfo.username} {.status.userInfo.groups}"],
        &certificate[..],
    ]
    .concat();
    assert_eq!(kubectl.ok(&whoami), r#"jane ["dev","system:authenticated"]"#);
    let refused = kubectl.fails(&[&["get", "pods"], &certificate[..]].concat());
    assert!(
        refused.contains(
            "pods is forbidden: User \"jane\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\": \
             alwaysdeny: Everything is forbidden."
        ),
        "{refused}"
    );
    let whoami = [
        "auth",
        "whoami",
        "--output=jsonpath={.status.userInfo.username} {.status.userInfo.groups}",
        "--token=secret",
    ];
    assert_eq!(kubectl.ok(&whoami), r#"joe ["ops","system:masters","system:authenticated"]"#);
    let refused = kubectl.fails(&["get", "--raw=/healthz", "--token=wrong"]);
    assert!(refused.contains("Unauthorized"), "{refused}");
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

#[test]
fn a_killed_cluster_has_lost_nothing_that_it_acknowledged() {
    data_dir::nothing_acknowledged_is_lost();
}

#[test]
fn a_cluster_that_starts_again_goes_on_with_its_versions_and_credentials() {
    data_dir::credentials_and_versions_go_on();
}
