//! A scaffolded operator, deployed and run as its own service account.
//!
//! No pod runs here, so the operator's program runs beside the cluster: with the arguments and the environment that its Deployment
//! gives it, and a kubeconfig with a token of its service account and nothing else. What RBAC does not allow the account, the
//! operator cannot do.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    time::Duration,
};

use k8s_openapi::api::{
    apps::v1::Deployment,
    authentication::v1::TokenRequest,
    core::v1::{Namespace, Pod, ServiceAccount},
};
use kube::{
    Api, Client, Config,
    api::{ApiResource, DynamicObject, GroupVersionKind, ListParams, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_cluster::Cluster as Controllers;
use kubewright_world::{Clock, Random};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{building, process::Cluster};

/// How long a state may take to come about.
const PATIENCE: Duration = Duration::from_secs(90);

/// The operator's project, its program, and what it makes of its sample.
pub(crate) struct Operator {
    pub(crate) project: PathBuf,
    pub(crate) program: PathBuf,
    /// The name of the project.
    pub(crate) name: &'static str,
    /// The API version and kind of the sample, and its name.
    pub(crate) sample: (&'static str, &'static str, &'static str),
}

/// On the embedded server.
pub(crate) fn on_the_embedded_server(operator: &Operator) {
    let cluster = Cluster::start();
    operator.lives_on(&cluster.kubeconfig(), None);
}

/// On a real kube-apiserver, if there is one.
pub(crate) fn on_a_real_server(operator: &Operator) {
    let Some(server) = RealServer::start() else { return };
    // It has no controllers of its own here: those of the embedded cluster work on any server.
    operator.lives_on(&server.kubeconfig, Some(&server.ca));
}

/// A real kube-apiserver, which ends when its standard input does.
struct RealServer {
    child: Child,
    input: Option<ChildStdin>,
    kubeconfig: PathBuf,
    ca: PathBuf,
}

impl RealServer {
    /// Starts the one whose programs are in the folder named by `KUBEWRIGHT_ORACLE`.
    fn start() -> Option<Self> {
        let Some(folder) = std::env::var_os("KUBEWRIGHT_ORACLE") else {
            // Past the capture of the test harness: a skipped test must say so.
            let _ = writeln!(
                std::io::stderr(),
                "skipped: no real API server; name the folder with kube-apiserver and etcd with KUBEWRIGHT_ORACLE"
            );
            return None;
        };
        let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/oracle/run");
        let mut child = Command::new(run)
            .arg("-bin")
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("conformance/oracle/run runs");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        output.read_line(&mut line).expect("readable");
        let ready: Value = serde_json::from_str(&line).expect("one JSON object when it is ready");
        let path = |name: &str| PathBuf::from(ready[name].as_str().expect("a path"));
        let (kubeconfig, ca) = (path("kubeconfig"), path("ca"));
        Some(Self { input: child.stdin.take(), child, kubeconfig, ca })
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

impl Operator {
    /// Deploys it, lets it reconcile its sample as its own account, and takes it away.
    fn lives_on(&self, kubeconfig: &Path, root_ca: Option<&Path>) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let client = client(kubeconfig).await;
            let stop = CancellationToken::new();
            let controllers = root_ca.map(|ca| {
                let ca = fs::read_to_string(ca).expect("readable");
                let cluster = Controllers::builder(client.clone(), Clock::system(), Random::from_entropy());
                tokio::spawn(cluster.root_ca(ca).build().run(stop.clone()))
            });
            let before = names_of_everything(&client).await;

            self.restrict_pods(&client).await;
            let said = self
                .kubewright(
                    kubeconfig,
                    &["deploy", "--no-generate", "--image", "registry.example.com/operator:v1"],
                )
                .await;
            assert!(said.contains("Ready Deployment"), "{said}");
            let deployment = self.deployment(&client).await;
            self.pods_are_restricted(&client, &deployment).await;

            let folder = tempfile::tempdir().expect("a temporary folder");
            let own = self.kubeconfig_of_its_account(&client, kubeconfig, folder.path(), &deployment).await;
            let log = folder.path().join("log");
            let mut process = Killed(self.start(&own, &log, &deployment));
            let sample = self.apply_sample(&client).await;
            let available = eventually("the sample is available", async || {
                if let Some(status) = process.0.try_wait().expect("it can be asked") {
                    panic!(
                        "the operator ended with {status}:\n{}",
                        fs::read_to_string(&log).expect("readable")
                    );
                }
                let object = sample.get(self.sample.2).await.ok()?;
                let conditions = object.data.pointer("/status/conditions")?.as_array()?.clone();
                let is_true =
                    |condition: &Value| condition["type"] == "Available" && condition["status"] == "True";
                conditions.iter().any(is_true).then_some(())
            });
            available.await;
            end(&mut process.0).await;
            let text = fs::read_to_string(&log).expect("readable");
            for word in ["orbidden", "nauthorized", "ERROR"] {
                assert!(!text.contains(word), "the operator's log has `{word}`:\n{text}");
            }
            // As a word of its own: times have these digits too.
            let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
            assert!(words.all(|word| word != "403"), "the operator's log has `403`:\n{text}");

            // It is there when it is taken away, as it is in a cluster: it has to let its objects go.
            let mut process = Killed(self.start(&own, &folder.path().join("last-log"), &deployment));
            let said = self.kubewright(kubeconfig, &["undeploy", "--yes"]).await;
            assert!(said.contains("Deleted Namespace"), "{said}");
            process.kill();
            eventually("nothing is left", async || {
                let after = names_of_everything(&client).await;
                (after == before).then_some(())
            })
            .await;
            stop.cancel();
            if let Some(controllers) = controllers {
                controllers.abort();
            }
        });
        runtime.shutdown_background();
    }

    fn namespace(&self) -> String {
        format!("{}-system", self.name)
    }

    async fn kubewright(&self, kubeconfig: &Path, arguments: &[&str]) -> String {
        let mut command = building(env!("CARGO_BIN_EXE_kubewright"), &self.project, arguments);
        command.arg("--kubeconfig").arg(kubeconfig);
        let output = tokio::process::Command::from(command).output().await.expect("it runs");
        let text =
            String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {text}");
        text
    }

    /// The namespace is there before, at the strictest of the Pod Security Standards.
    async fn restrict_pods(&self, client: &Client) {
        let namespace = json!({
            "apiVersion": "v1", "kind": "Namespace",
            "metadata": {"name": self.namespace(), "labels": {
                "pod-security.kubernetes.io/enforce": "restricted",
                "pod-security.kubernetes.io/enforce-version": "latest",
            }},
        });
        let api = Api::<Namespace>::all(client.clone());
        let params = PatchParams::apply("administrator");
        api.patch(&self.namespace(), &params, &Patch::Apply(namespace)).await.expect("applied");
    }

    async fn deployment(&self, client: &Client) -> Deployment {
        let api = Api::<Deployment>::namespaced(client.clone(), &self.namespace());
        api.get(&format!("{}-controller-manager", self.name)).await.expect("it is deployed")
    }

    /// The operator's pod is let in, and one that asks for more is not.
    async fn pods_are_restricted(&self, client: &Client, deployment: &Deployment) {
        let pods = Api::<Pod>::namespaced(client.clone(), &self.namespace());
        let listed = pods.list(&ListParams::default()).await.expect("listed").items;
        assert!(!listed.is_empty(), "the Deployment has a pod");
        let template = &deployment.spec.template;
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "another", "labels": {}},
            "spec": template.spec,
        });
        let dry_run = PostParams { dry_run: true, ..PostParams::default() };
        let create = async |pod: &Value| {
            let pod: Pod = serde_json::from_value(pod.clone()).expect("a pod");
            pods.create(&dry_run, &pod).await
        };
        create(&pod).await.expect("the operator's pod is let in");
        pod["spec"]["containers"][0]["securityContext"]["privileged"] = json!(true);
        pod["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = json!(true);
        let refused = create(&pod).await.expect_err("it asks for more").to_string();
        assert!(refused.contains("violates PodSecurity \"restricted"), "{refused}");
    }

    /// A kubeconfig with a token of the account that the Deployment's pods have, and nothing else.
    async fn kubeconfig_of_its_account(
        &self,
        client: &Client,
        kubeconfig: &Path,
        folder: &Path,
        deployment: &Deployment,
    ) -> PathBuf {
        let spec = deployment.spec.template.spec.as_ref().expect("a pod's spec");
        let account = spec.service_account_name.as_deref().expect("an account");
        let accounts = Api::<ServiceAccount>::namespaced(client.clone(), &self.namespace());
        let request: TokenRequest = serde_json::from_value(json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "metadata": {},
            "spec": {"audiences": [], "expirationSeconds": 3600},
        }))
        .expect("a request");
        let token =
            accounts.create_token_request(account, &PostParams::default(), &request).await.expect("a token");
        let token = token.status.and_then(|status| status.token).expect("a token");
        let mut file =
            serde_json::to_value(Kubeconfig::read_from(kubeconfig).expect("a kubeconfig")).expect("JSON");
        file["users"] = json!([{"name": "operator", "user": {"token": token}}]);
        let cluster = file["clusters"][0]["name"].clone();
        file["contexts"] = json!([{
            "name": "operator",
            "context": {"cluster": cluster, "user": "operator", "namespace": self.namespace()},
        }]);
        file["current-context"] = json!("operator");
        let path = folder.join("kubeconfig");
        fs::write(&path, file.to_string()).expect("written");

        // It may what its role says, and no more.
        let own = self::client(&path).await;
        let secrets = Api::<k8s_openapi::api::core::v1::Secret>::all(own);
        let refused = secrets.list(&ListParams::default()).await.expect_err("it may not").to_string();
        let user = format!("system:serviceaccount:{}:{account}", self.namespace());
        assert!(refused.contains(&user) && refused.contains("cannot list resource"), "{refused}");
        path
    }

    fn start(&self, kubeconfig: &Path, log: &Path, deployment: &Deployment) -> Child {
        let spec = deployment.spec.template.spec.as_ref().expect("a pod's spec");
        let container = &spec.containers[0];
        // Any free port on loopback, in place of those of a pod.
        let arguments = container.args.iter().flatten().map(|argument| match argument.split_once('=') {
            Some((name @ ("--metrics-bind-address" | "--health-probe-bind-address"), _)) => {
                format!("{name}=127.0.0.1:0")
            }
            _ => argument.clone(),
        });
        let environment = container.env.iter().flatten();
        let environment = environment.filter_map(|variable| Some((&variable.name, variable.value.as_ref()?)));
        Command::new(&self.program)
            .args(arguments)
            .env_clear()
            .envs(environment)
            .env("KUBECONFIG", kubeconfig)
            .env("LOG_FORMAT", "text")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(log).expect("created"))
            .spawn()
            .expect("the operator runs")
    }

    async fn apply_sample(&self, client: &Client) -> Api<DynamicObject> {
        let (api_version, kind, name) = self.sample;
        let (group, version) = api_version.split_once('/').expect("a group");
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let samples = self.project.join("config/samples");
        let files = fs::read_dir(samples).expect("a folder").map(|entry| entry.expect("readable").path());
        let texts = files.map(|file| fs::read_to_string(file).expect("text"));
        let objects = texts.map(|text| serde_saphyr::from_str::<Value>(&text).expect("YAML"));
        let is_sample = |object: &Value| object["kind"] == kind && object["metadata"]["name"] == name;
        let object = objects.filter(is_sample).collect::<Vec<_>>().remove(0);
        let api = Api::<DynamicObject>::namespaced_with(client.clone(), "default", &resource);
        let params = PatchParams::apply("administrator");
        api.patch(name, &params, &Patch::Apply(object)).await.expect("applied");
        api
    }
}

/// A process that does not outlive the test.
struct Killed(Child);

impl Killed {
    fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Ends it as a kubelet does, and waits until it did.
async fn end(process: &mut Child) {
    let id = i32::try_from(process.id()).expect("a process id");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), nix::sys::signal::Signal::SIGTERM)
        .expect("it is there");
    let status = eventually("the operator ends", async || process.try_wait().expect("it can be asked")).await;
    assert!(status.success(), "the operator ended with {status}");
}

async fn client(kubeconfig: &Path) -> Client {
    let file = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
    let config =
        Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.expect("a configuration");
    Client::try_from(config).expect("a client")
}

/// What an operator brings with it and is outside of its namespace.
async fn names_of_everything(client: &Client) -> Vec<String> {
    let mut names = Vec::new();
    for (group, kind) in [
        ("", "Namespace"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ] {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind));
        let api = Api::<DynamicObject>::all_with(client.clone(), &resource);
        let list = api.list(&ListParams::default()).await.expect("listed");
        names.extend(
            list.items
                .iter()
                .map(|object| format!("{kind} {}", object.metadata.name.clone().unwrap_or_default())),
        );
    }
    names
}

/// Asks again until there is an answer. The clusters are other processes, so that it is their time which passes.
async fn eventually<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let answered = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    match tokio::time::timeout(PATIENCE, answered).await {
        Ok(answer) => answer,
        Err(_) => panic!("not within {PATIENCE:?}: {what}"),
    }
}
