//! A chart with a definition and hooks, through unmodified helm.
//!
//! The programs come from `conformance/suites/clients`, in the folder named by `KUBEWRIGHT_CLIENTS`.

mod process;

use std::{
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use process::{Cluster, client};
use serde_json::Value;

#[test]
fn helm_3_installs_upgrades_rolls_back_and_uninstalls() {
    a_release_lives_and_ends("3");
}

#[test]
fn helm_4_installs_upgrades_rolls_back_and_uninstalls() {
    a_release_lives_and_ends("4");
}

fn a_release_lives_and_ends(version: &str) {
    let (Some(helm), Some(kubectl)) = (client("helm", version), client("kubectl", "1.37")) else { return };
    let cluster = Cluster::start();
    let kubectl = cluster.kubectl(&kubectl);
    let helm = Helm { program: helm, cluster: &cluster };
    let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/charts/shop");
    let chart = chart.to_str().expect("a text path");
    let wait = ["--wait", "--timeout", "60s"];

    let installed =
        helm.ok(&[&["install", "demo", chart, "--namespace", "shop", "--create-namespace"], &wait[..]]);
    assert!(installed.contains("STATUS: deployed"), "{installed}");
    assert!(
        installed.contains("demo has 1 replicas beside default."),
        "lookup reads the cluster: {installed}"
    );
    let value =
        |of: &str, path: &str| kubectl.ok(&["-n", "shop", "get", of, "-o", &format!("jsonpath={{{path}}}")]);
    assert_eq!(value("deployment/demo", ".status.readyReplicas"), "1");
    assert_eq!(value("widget/demo", ".spec.color"), "red");
    assert_eq!(value("configmap/demo", ".data.revision"), "1");
    assert_eq!(value("poddisruptionbudget/demo", ".spec.minAvailable"), "1", "the kind was discovered");
    kubectl.fails(&["-n", "shop", "get", "job", "demo-pre-install"]);

    let again = helm.fails(&[&["install", "demo", chart, "--namespace", "shop"]]);
    assert!(again.contains("name that is still in use"), "{again}");

    let set = ["--set", "replicas=2,color=green,image=shop:1.1"];
    let dry = helm.ok(&[&["upgrade", "demo", chart, "--namespace", "shop", "--dry-run=server"], &set[..]]);
    assert!(dry.contains("pending-upgrade"), "{dry}");
    let upgraded = helm.ok(&[&["upgrade", "demo", chart, "--namespace", "shop"], &set[..], &wait[..]]);
    assert!(upgraded.contains("REVISION: 2"), "{upgraded}");
    assert_eq!(value("deployment/demo", ".status.readyReplicas"), "2");
    assert_eq!(value("deployment/demo", ".spec.template.spec.containers[*].image"), "shop:1.1");
    assert_eq!(value("widget/demo", ".spec.color"), "green");
    assert_eq!(value("configmap/demo", ".data.revision"), "2");
    assert_eq!(value("job/demo-post-upgrade", ".status.succeeded"), "1", "this hook is kept");

    let refused = helm.fails(&[&["upgrade", "demo", chart, "--namespace", "shop", "--set", "color=blue"]]);
    assert!(refused.contains(r#"Unsupported value: "blue": supported values: "red", "green""#), "{refused}");

    let tested = helm.ok(&[&["test", "demo", "--namespace", "shop"]]);
    assert!(tested.contains("Phase:          Succeeded"), "{tested}");

    helm.ok(&[&["rollback", "demo", "1", "--namespace", "shop"], &wait[..]]);
    assert_eq!(value("deployment/demo", ".spec.replicas"), "1");
    assert_eq!(value("deployment/demo", ".spec.template.spec.containers[*].image"), "shop:1.0");
    assert_eq!(value("widget/demo", ".spec.color"), "red");

    let history = helm.ok(&[&["history", "demo", "--namespace", "shop", "--output", "json"]]);
    let history: Vec<Value> = serde_json::from_str(&history).expect("a list");
    let states: Vec<_> = history.iter().filter_map(|revision| revision["status"].as_str()).collect();
    assert_eq!(states, ["superseded", "superseded", "failed", "deployed"]);
    let listed = helm.ok(&[&["list", "--all-namespaces", "--output", "json"]]);
    let listed: Vec<Value> = serde_json::from_str(&listed).expect("a list");
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["status"], "deployed");

    helm.ok(&[&["uninstall", "demo", "--namespace", "shop"], &wait[..]]);
    let left = ["-n", "shop", "get", "all,configmaps,serviceaccounts,widgets,secrets", "-o", "name"];
    let left = kubectl.ok(&left);
    let left: Vec<_> =
        left.lines().filter(|name| !name.starts_with("job.batch/") && !name.starts_with("pod/")).collect();
    assert_eq!(left, ["configmap/kube-root-ca.crt", "serviceaccount/default"], "hooks without a policy stay");
    kubectl.ok(&["get", "crd", "widgets.example.com"]);
}

struct Helm<'a> {
    program: PathBuf,
    cluster: &'a Cluster,
}

impl Helm<'_> {
    fn output(&self, arguments: &[&[&str]]) -> Output {
        Command::new(&self.program)
            .args(arguments.concat())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.cluster.folder())
            .env("KUBECONFIG", self.cluster.kubeconfig())
            .stdin(Stdio::null())
            .output()
            .expect("helm runs")
    }

    /// What it prints, if it succeeds without a complaint.
    fn ok(&self, arguments: &[&[&str]]) -> String {
        let output = self.output(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "helm {arguments:?} failed: {stderr}");
        assert!(!stderr.to_lowercase().contains("warning"), "helm {arguments:?} warned: {stderr}");
        String::from_utf8(output.stdout).expect("text")
    }

    fn fails(&self, arguments: &[&[&str]]) -> String {
        let output = self.output(arguments);
        assert!(!output.status.success(), "helm {arguments:?} succeeded");
        String::from_utf8(output.stderr).expect("text")
    }
}
