//! `kubewright install`, `deploy`, `undeploy` and `build-installer`, on a cluster of our own.
//!
//! The operator is not built here: its definition is written by hand, and the simulated kubelet runs any image.

mod process;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use process::Cluster;

const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: mice.zoo.example.com
spec:
  group: zoo.example.com
  names: {kind: Mouse, listKind: MouseList, plural: mice, singular: mouse}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    subresources: {status: {}}
";
const IMAGE: &str = "registry.example.com/zoo-operator:v1";

/// A project, and a cluster for it.
struct Scene {
    cluster: Cluster,
    project: tempfile::TempDir,
}

impl Scene {
    fn start() -> Self {
        Self { cluster: Cluster::start(), project: project() }
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let kubeconfig = self.cluster.ready["kubeconfig"].as_str().expect("a path");
        kubewright(self.project.path(), &[arguments, &["--kubeconfig", kubeconfig]].concat())
    }

    fn get(&self, what: &[&str]) -> String {
        let Some(kubectl) = process::kubectl() else { return String::new() };
        let kubeconfig = self.cluster.ready["kubeconfig"].as_str().expect("a path");
        let output = Command::new(kubectl)
            .args(["--kubeconfig", kubeconfig, "get"])
            .args(what)
            .output()
            .expect("it runs");
        String::from_utf8(output.stdout).expect("text")
    }
}

fn kubewright(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the kubewright binary runs")
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for line in [
        &["init", "--domain", "example.com", "--project-name", "zoo-operator", "--quiet"][..],
        &["create", "api", "--group", "zoo", "--version", "v1", "--kind", "Mouse", "--quiet"],
    ] {
        ok(&kubewright(folder.path(), line));
    }
    write(&folder.path().join("config/crd/bases/zoo.example.com_mice.yaml"), DEFINITION);
    folder
}

fn write(path: &PathBuf, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("writable");
}

/// What was said, if it succeeded.
fn ok(output: &Output) -> String {
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
}

fn failed(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    text
}

#[test]
fn an_operator_is_deployed_changed_and_taken_away() {
    let scene = Scene::start();
    let dry = ok(&scene.run(&["deploy", "--no-generate", "--image", IMAGE, "--dry-run", "--diff"]));
    assert!(dry.contains("Created Namespace zoo-operator-system (dry run)"), "{dry}");
    assert!(dry.contains("+    - command:\n+      - /manager") || dry.contains("/manager"), "{dry}");
    assert!(dry.contains(&format!("image: {IMAGE}")), "{dry}");
    assert!(!scene.get(&["namespaces"]).contains("zoo-operator-system"));

    let said = ok(&scene.run(&["deploy", "--no-generate", "--image", IMAGE]));
    assert!(said.contains("Ready Deployment zoo-operator-system/zoo-operator-controller-manager"), "{said}");
    let again = ok(&scene.run(&["deploy", "--no-generate", "--image", IMAGE]));
    assert!(!again.contains("Created") && !again.contains("Changed") && !again.contains("Pruned"), "{again}");

    // What is no longer in the kustomization is pruned, and nothing else.
    let kustomization = scene.project.path().join("config/rbac/kustomization.yaml");
    let text =
        fs::read_to_string(&kustomization).expect("it is there").replace("- metrics_reader_role.yaml\n", "");
    write(&kustomization, &text);
    let said = ok(&scene.run(&["deploy", "--no-generate", "--image", IMAGE]));
    assert!(said.contains("Pruned ClusterRole zoo-operator-metrics-reader"), "{said}");
    assert_eq!(said.matches("Pruned").count(), 1, "{said}");

    let said = ok(&scene.run(&["undeploy"]));
    assert!(said.contains("Deleted Namespace zoo-operator-system"), "{said}");
    assert!(said.contains("Deleted CustomResourceDefinition mice.zoo.example.com"), "{said}");
    assert!(!scene.get(&["namespaces"]).contains("zoo-operator-system"));
    assert!(!scene.get(&["clusterroles"]).contains("zoo-operator"));
    // Nothing is there, and that is no error.
    ok(&scene.run(&["undeploy"]));
}

#[test]
fn definitions_with_objects_stay_unless_it_is_said() {
    let scene = Scene::start();
    let said = ok(&scene.run(&["install", "--no-generate"]));
    assert!(said.contains("Created CustomResourceDefinition mice.zoo.example.com"), "{said}");
    let Some(kubectl) = process::kubectl() else {
        return;
    };
    let kubeconfig = scene.cluster.ready["kubeconfig"].as_str().expect("a path");
    let samples = scene.project.path().join("config/samples");
    let output = Command::new(kubectl)
        .args(["--kubeconfig", kubeconfig, "apply", "-k", samples.to_str().expect("text")])
        .output()
        .expect("it runs");
    ok(&output);

    let said = failed(&scene.run(&["uninstall"]));
    assert!(said.contains("1 object of the kind Mouse, default/mouse-sample"), "{said}");
    assert!(said.contains("--yes deletes them too"), "{said}");
    assert!(scene.get(&["mice"]).contains("mouse-sample"));
    let said = ok(&scene.run(&["uninstall", "--yes"]));
    assert!(said.contains("Deleted CustomResourceDefinition mice.zoo.example.com"), "{said}");
    ok(&scene.run(&["uninstall"]));
}

#[test]
fn an_operator_that_does_not_run_says_why() {
    let scene = Scene::start();
    let manager = scene.project.path().join("config/manager/manager.yaml");
    let text = fs::read_to_string(&manager).expect("it is there");
    let text = text.replace(
        "        kubectl.kubernetes.io/default-container: manager\n",
        "        kubectl.kubernetes.io/default-container: manager\n        kubewright.dev/image-pull-error: \"true\"\n",
    );
    write(&manager, &text);
    let said = failed(&scene.run(&["deploy", "--no-generate", "--image", IMAGE, "--timeout", "5s"]));
    assert!(said.contains("not ready within 5 s: Deployment zoo-operator-system/zoo-operator-controller-manager has 0 of 1 pods available"), "{said}");
    assert!(said.contains("its container manager waits, "), "{said}");
}

#[test]
fn fields_of_others_are_taken_over_only_if_it_is_said() {
    let scene = Scene::start();
    ok(&scene.run(&["deploy", "--no-generate", "--image", IMAGE]));
    let Some(kubectl) = process::kubectl() else {
        return;
    };
    let kubeconfig = scene.cluster.ready["kubeconfig"].as_str().expect("a path");
    let scale = [
        "scale",
        "deployment",
        "-n",
        "zoo-operator-system",
        "zoo-operator-controller-manager",
        "--replicas=2",
    ];
    ok(&Command::new(kubectl).args(["--kubeconfig", kubeconfig]).args(scale).output().expect("it runs"));
    let said = failed(&scene.run(&["deploy", "--no-generate", "--image", IMAGE]));
    assert!(
        said.contains("spec.replicas") && said.contains("--force-conflicts takes the fields over"),
        "{said}"
    );
    ok(&scene.run(&["deploy", "--no-generate", "--image", IMAGE, "--force-conflicts"]));
}

#[test]
fn the_installer_is_what_kustomize_builds() {
    let project = project();
    let run = |arguments: &[&str]| {
        kubewright(
            project.path(),
            &[&["build-installer", "--no-generate", "--image", IMAGE], arguments].concat(),
        )
    };
    failed(&run(&["--check"]));
    ok(&run(&[]));
    ok(&run(&["--check"]));
    let text = fs::read_to_string(project.path().join("dist/install.yaml")).expect("written");
    assert!(text.contains(&format!("image: {IMAGE}\n")), "{text}");
    assert_eq!(ok(&run(&["--output", "-"])), text);
    // No file of the project was changed for the image.
    assert!(
        !fs::read_to_string(project.path().join("config/manager/kustomization.yaml"))
            .expect("there")
            .contains(IMAGE)
    );
}

#[test]
fn a_cluster_that_is_not_there_is_told() {
    let project = project();
    let said = failed(&kubewright(project.path(), &["install", "--no-generate", "--kubeconfig", "nowhere"]));
    assert!(said.contains("cannot use the kubeconfig nowhere"), "{said}");
}
