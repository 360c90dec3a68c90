//! `kubewright check crd`, as scripts use it.

mod process;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use process::Cluster;
use serde_json::{Value, json};

/// A CRD whose spec has these fields.
fn crd(properties: &Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                    "spec": {"type": "object", "properties": properties},
                }}},
            }],
        },
    })
}

fn old() -> Value {
    crd(&json!({"size": {"type": "integer", "minimum": 1}, "legacy": {"type": "string"}}))
}

fn safe() -> Value {
    crd(&json!({"size": {"type": "integer"}, "legacy": {"type": "string"}, "name": {"type": "string"}}))
}

fn broken() -> Value {
    crd(&json!({"size": {"type": "integer", "minimum": 1}}))
}

fn write(folder: &Path, name: &str, content: &Value) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().expect("below the folder")).expect("a folder");
    fs::write(path, content.to_string()).expect("a file");
}

fn check(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(["check", "crd"])
        .args(arguments)
        .current_dir(folder)
        .env_remove("RUST_LOG")
        .output()
        .expect("the kubewright binary runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_exit_code_is_the_verdict() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write(folder, "old.json", &old());
    write(folder, "safe.json", &safe());
    write(folder, "broken.json", &broken());

    let output = check(folder, &["old.json", "old.json"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), "no changes\n".to_owned()));

    let output = check(folder, &["old.json", "safe.json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "safe: things.example.com v1 .spec.name: field added [field-added]\n    no stored object has it\n\
         safe: things.example.com v1 .spec.size: bound removed or loosened (minimum): 1 [bound-loosened]\n    \
         whatever was valid still is\nchanges: 2 safe\n"
    );

    let output = check(folder, &["old.json", "broken.json"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stdout(&output)
            .starts_with("unsafe: things.example.com v1 .spec.legacy: field removed [field-removed]\n")
    );

    let output = check(folder, &["old.json", "broken.json", "--allow", "field-removed:.spec.legacy"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).ends_with("changes: 1 allowed\n"), "{}", stdout(&output));
}

#[test]
fn what_cannot_be_compared_is_exit_code_2() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write(folder, "old.json", &old());
    write(folder, "pod.json", &json!({"apiVersion": "v1", "kind": "Pod"}));
    for (arguments, expected) in [
        (vec!["old.json", "missing.json"], "missing.json"),
        (vec!["old.json", "pod.json"], "pod.json has no CustomResourceDefinition"),
        (vec!["old.json", "HEAD:old.json"], "HEAD:old.json"),
        (vec!["cluster", "cluster"], "both sides are a cluster"),
        (vec!["old.json", "old.json", "--allow", "fields-removed"], "there is no rule `fields-removed`"),
        (vec!["old.json"], "<NEW>"),
    ] {
        let output = check(folder, &arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(expected), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn programs_get_one_json_object() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), "old.json", &old());
    write(folder.path(), "broken.json", &broken());
    let output = check(folder.path(), &["old.json", "broken.json", "--output", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(report["compatible"], false);
    assert_eq!(report["worst"], "unsafe");
    assert_eq!(report["changes"][0]["rule"], "field-removed");
    assert_eq!(report["changes"][0]["path"], ".spec.legacy");
}

#[test]
fn a_git_revision_is_a_file_or_a_folder_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let git = |arguments: &[&str]| {
        let status = Command::new("git")
            .args(["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "commit.gpgsign=false"])
            .args(arguments)
            .current_dir(folder)
            .output()
            .expect("git runs")
            .status;
        assert!(status.success(), "git {arguments:?}");
    };
    git(&["init", "--quiet"]);
    write(folder, "config/crd/bases/things.yaml", &old());
    fs::write(folder.join("config/crd/bases/README.md"), "not a manifest").expect("a file");
    git(&["add", "."]);
    git(&["commit", "--quiet", "-m", "one"]);
    git(&["tag", "one"]);
    write(folder, "config/crd/bases/things.yaml", &broken());

    for old in [
        "one:config/crd/bases",
        "git:one:config/crd/bases/",
        "HEAD:config/crd/bases/things.yaml",
        "one:./config",
    ] {
        let output = check(folder, &[old, "config/crd/bases"]);
        assert_eq!(output.status.code(), Some(1), "{old}: {}", stderr(&output));
        assert!(stdout(&output).contains(".spec.legacy: field removed"), "{old}: {}", stdout(&output));
    }
    // Below the top of the repository too, where git takes `./` for here.
    let output = check(&folder.join("config"), &["one:./crd/bases", "crd/bases"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let output = check(folder, &["one", "config/crd/bases"]);
    assert_eq!(output.status.code(), Some(2), "`one` is no file: {}", stderr(&output));
    let output = check(folder, &["git:one", "config/crd/bases"]);
    assert!(stderr(&output).contains("it is a commit; name a file or a folder in it"), "{}", stderr(&output));
}

#[test]
fn a_cluster_is_asked_for_the_definitions_of_the_other_side() {
    let cluster = Cluster::start();
    let kubeconfig = cluster.kubeconfig();
    let kubeconfig = kubeconfig.to_str().expect("UTF-8");
    let folder = cluster.folder();
    write(folder, "old.json", &old());
    write(folder, "broken.json", &broken());

    let output = check(folder, &["cluster", "old.json", "--kubeconfig", kubeconfig]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("CRD added [crd-added]"), "{}", stdout(&output));

    install(kubeconfig, &old());
    let output = check(folder, &["cluster", "old.json", "--kubeconfig", kubeconfig]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), "no changes\n".to_owned()));
    let output = check(folder, &["cluster:things.example.com", "broken.json", "--kubeconfig", kubeconfig]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let output = check(folder, &["cluster:others.example.com", "old.json", "--kubeconfig", kubeconfig]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the cluster has no such CRD"), "{}", stderr(&output));
    let output =
        check(folder, &["cluster", "old.json", "--kubeconfig", kubeconfig, "--context", "elsewhere"]);
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
}

/// Creates a CRD in the cluster of `kubeconfig`.
#[tokio::main(flavor = "current_thread")]
async fn install(kubeconfig: &str, crd: &Value) {
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

    let file = kube::config::Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(file, &kube::config::KubeConfigOptions::default())
        .await
        .expect("a configuration");
    let client = kube::Client::try_from(config).expect("a client");
    let crd: CustomResourceDefinition = serde_json::from_value(crd.clone()).expect("a definition");
    kube::Api::all(client).create(&kube::api::PostParams::default(), &crd).await.expect("it is created");
}
