//! `kubewright dev` with the Memcached operator, and an unmodified kubectl beside it.

mod process;

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use nix::sys::signal::Signal;
use process::{Kubectl, Kubewright, kubectl};

/// The first build of an operator compiles its dependencies.
const BUILD: Duration = Duration::from_secs(1200);

/// A copy of the example, which a test may edit.
struct Project {
    folder: PathBuf,
}

impl Project {
    /// Copies the example to a folder in which it is a workspace of its own, as it is for a user.
    fn copy(name: &str) -> Self {
        let workspace =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("it exists");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        let example = workspace.join("examples/memcached-operator");
        copy(&example.join("src"), &folder.join("src"));
        copy(&example.join("config"), &folder.join("config"));
        // The same versions, so that nothing is downloaded and what was built for the workspace is used again.
        fs::copy(workspace.join("Cargo.lock"), folder.join("Cargo.lock")).expect("copied");
        fs::write(folder.join("Cargo.toml"), manifest(&workspace, name)).expect("written");
        Self { folder }
    }

    fn edit(&self, file: &str, from: &str, to: &str) {
        let path = self.folder.join(file);
        let text = fs::read_to_string(&path).expect("it is there");
        assert!(text.contains(from), "{file} has no {from:?}");
        fs::write(path, text.replace(from, to)).expect("written");
    }

    fn kubectl(&self, binary: &Path) -> Kubectl {
        Kubectl {
            binary: binary.to_owned(),
            kubeconfig: self.folder.join("kubeconfig"),
            home: self.folder.clone(),
        }
    }
}

/// The example's manifest, with what it takes from the workspace written out. The package's name is the copy's own:
/// cargo tells packages in one target directory apart by it, not by their paths.
fn manifest(workspace: &Path, name: &str) -> String {
    let root = workspace.join("Cargo.toml");
    let root = fs::read_to_string(root).expect("it is there");
    let example = workspace.join("examples/memcached-operator/Cargo.toml");
    let example = fs::read_to_string(example).expect("it is there");
    let version = |name: &str| {
        let prefix = format!("{name} = ");
        let line = root.lines().find(|line| line.starts_with(&prefix)).expect("the workspace has it");
        line.replace("path = \"", &format!("path = \"{}/", workspace.display()))
    };
    let mut text = format!(
        "[package]\nname = \"memcached-operator-{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [lib]\nname = \"memcached_operator\"\n\n[dependencies]\n"
    );
    let dependencies = example.split("[dependencies]").nth(1).expect("it has some").lines();
    for line in dependencies.take_while(|line| !line.starts_with('[')) {
        if let Some((name, _)) = line.split_once(".workspace") {
            text.push_str(&version(name));
            text.push('\n');
        }
    }
    let profile = root.find("[profile.dev]").expect("the workspace has one");
    text.push('\n');
    text.push_str(&root[profile..]);
    text
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("created");
    for entry in fs::read_dir(from).expect("it is there") {
        let entry = entry.expect("readable");
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}

fn dev(project: &Project, diagnostics: Option<&str>, arguments: &[&str]) -> Kubewright {
    // No probe port: tests run beside each other.
    let all = [&["dev", "."], arguments, &["--", "--health-probe-bind-address=0"]].concat();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target directory");
    // All that is needed was fetched for the workspace: tests talk to nobody.
    let mut environment = vec![("CARGO_TARGET_DIR", target), ("CARGO_NET_OFFLINE", Path::new("true"))];
    environment.extend(diagnostics.map(|address| ("DEBUG_BIND_ADDRESS", Path::new(address))));
    Kubewright::start_with(&all, &project.folder, &environment)
}

/// A webhook that wants no more than two instances, in the place of the line before `main`.
const WEBHOOK: &str = r#"struct NoCrowd;

// +kubebuilder:webhook:path=/validate-cache-example-com-v1alpha1-memcached,mutating=false,failurePolicy=fail,sideEffects=None,groups=cache.example.com,resources=memcacheds,verbs=create;update,versions=v1alpha1,name=vmemcached-v1alpha1.kb.io,admissionReviewVersions=v1
impl Validator<memcached_operator::api::v1alpha1::Memcached> for NoCrowd {
    async fn validate_create(
        &self,
        memcached: &memcached_operator::api::v1alpha1::Memcached,
        _: &AdmissionRequest,
    ) -> Result<Warnings> {
        if memcached.spec.size > 2 {
            return Err(Error::other("three are a crowd"));
        }
        Ok(Warnings::none())
    }

    async fn validate_update(
        &self,
        _: &memcached_operator::api::v1alpha1::Memcached,
        new: &memcached_operator::api::v1alpha1::Memcached,
        request: &AdmissionRequest,
    ) -> Result<Warnings> {
        self.validate_create(new, request).await
    }
}

#[tokio::main]"#;

const REGISTRATION: &str =
    "    Webhook::new::<memcached_operator::api::v1alpha1::Memcached>(&manager).validator(NoCrowd).serve()?;
    manager.start().await";

#[test]
fn an_operator_is_developed_while_its_objects_stay() {
    let Some(binary) = kubectl() else { return };
    let project = Project::copy("dev");
    let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let diagnostics = socket.local_addr().expect("an address").to_string();
    drop(socket);
    let mut dev = dev(&project, Some(&diagnostics), &["--write-kubeconfig", "kubeconfig"]);
    let hint = dev.line(BUILD);
    let kubectl = project.kubectl(&binary);
    let sample = "config/samples/cache_v1alpha1_memcached.yaml";
    assert!(hint.starts_with("try: kubectl --kubeconfig ") && hint.contains(sample), "{hint}");

    // The sample becomes a Deployment with ready replicas.
    assert_eq!(
        kubectl.ok(&["apply", "-f", sample]),
        "memcached.cache.example.com/memcached-sample created\n"
    );
    kubectl.ok(&["wait", "memcached/memcached-sample", "--for=condition=Available", "--timeout=60s"]);
    kubectl.ok(&["rollout", "status", "deployment/memcached-sample", "--timeout=60s"]);
    let table = kubectl.ok(&["get", "memcached"]);
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["NAME", "SIZE", "AVAILABLE", "AGE"]);
    assert_eq!(lines[1][..3], ["memcached-sample", "2", "True"]);

    // What the operator is doing can be seen.
    let top = Command::new(env!("CARGO_BIN_EXE_kubewright")).args(["top", &diagnostics, "--once"]).output();
    let top = String::from_utf8(top.expect("it runs").stdout).expect("text");
    assert!(top.contains("Memcached.cache.example.com") && top.contains("deployments.apps/v1"), "{top}");

    // What others change is healed.
    kubectl.ok(&["scale", "deployment/memcached-sample", "--replicas=5"]);
    kubectl.ok(&[
        "wait",
        "deployment/memcached-sample",
        "--for=jsonpath={.spec.replicas}=2",
        "--timeout=60s",
    ]);
    let uid = kubectl.ok(&["get", "deployment", "memcached-sample", "-o", "jsonpath={.metadata.uid}"]);
    kubectl.ok(&["delete", "deployment", "memcached-sample"]);
    kubectl.ok(&["wait", "deployment/memcached-sample", "--for=create", "--timeout=60s"]);
    kubectl.ok(&["wait", "memcached/memcached-sample", "--for=condition=Available", "--timeout=60s"]);
    assert_ne!(kubectl.ok(&["get", "deployment", "memcached-sample", "-o", "jsonpath={.metadata.uid}"]), uid);

    // A size that the schema does not allow is refused with the real server's message.
    let refused = kubectl.fails(&[
        "patch",
        "memcached",
        "memcached-sample",
        "--type=merge",
        "-p",
        r#"{"spec":{"size":9}}"#,
    ]);
    let message = r#"The Memcached "memcached-sample" is invalid: spec.size: Invalid value: 9: spec.size in body should be less than or equal to 3"#;
    assert_eq!(refused.trim(), message);

    // A webhook comes into being with the next edit.
    project.edit("src/main.rs", "#[tokio::main]", WEBHOOK);
    project.edit("src/main.rs", "    manager.start().await", REGISTRATION);

    // An edit that does not compile leaves the operator running; one that does is swapped in, and objects stay.
    project.edit("src/controller/memcached.rs", "instances are available\"", "instances are up\" oops");
    project.edit("src/controller/memcached.rs", "instances are up\" oops", "instances are up\"");
    let message = "jsonpath={.status.conditions[?(@.type==\"Available\")].message}=2 of 2 instances are up";
    let wait = format!("--for={message}");
    kubectl.ok(&["wait", "memcached/memcached-sample", &wait, "--timeout=300s"]);

    // The cluster calls the webhook in the operator's process, and trusts it.
    let configuration = "validatingwebhookconfiguration/validating-webhook-configuration";
    kubectl.ok(&["wait", configuration, "--for=create", "--timeout=60s"]);
    let three = r#"{"spec":{"size":3}}"#;
    let refused = kubectl.fails(&["patch", "memcached", "memcached-sample", "--type=merge", "-p", three]);
    let message = r#"admission webhook "vmemcached-v1alpha1.kb.io" denied the request: three are a crowd"#;
    assert!(refused.contains(message), "{refused}");

    // The finalizer runs, tells it by an event, and everything is collected.
    kubectl.ok(&["delete", "memcached", "memcached-sample", "--timeout=60s"]);
    kubectl.ok(&["wait", "deployment,replicaset,pod", "--all", "--for=delete", "--timeout=60s"]);
    assert_eq!(kubectl.ok(&["get", "deployments,replicasets,pods", "-o", "name"]), "");
    let events = kubectl.ok(&["get", "events", "--field-selector", "reason=Deleting"]);
    assert!(events.contains("memcached/memcached-sample"), "{events}");

    let (status, took) = dev.end(Signal::SIGTERM);
    assert_eq!(status.code(), Some(0));
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn once_applies_the_samples_and_ends_when_they_are_reconciled() {
    let project = Project::copy("once");
    let mut once = dev(&project, None, &["--once"]);
    let status = once.wait();
    assert_eq!(status.code(), Some(0));
}
