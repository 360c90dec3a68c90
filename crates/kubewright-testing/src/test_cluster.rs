use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use jiff::Timestamp;
use kube::{
    Client, ResourceExt,
    api::{DynamicObject, GroupVersionKind},
    runtime::wait,
};
use kubewright_apiserver::{AdmissionPlugins, ApiServer, WebhookClient, webhook::BoxError};
use kubewright_cluster::{Cluster, Selection};
use kubewright_runtime::{
    Error, Result,
    crds::{ConversionWebhook, CrdBuilder, Crds, CustomKind},
    manager::{Manager, Options},
};
use kubewright_world::{Clock, Random};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::Service;

use crate::{
    endpoint::Endpoint,
    roles::grant,
    server::ServerProcess,
    transport::{Conditions, Faults, History, Process, Transport},
    webhooks::{Hosts, configure},
};

/// How long [`TestCluster::eventually`] waits, in the test's time: long enough for every backoff and every
/// grace period that an operator's test may run into.
const PATIENCE: Duration = Duration::from_secs(600);

/// An API server with its controllers, for one test.
///
/// Its clients talk to it in process. Under paused time the whole cluster runs on virtual time: what takes minutes
/// in a cluster takes milliseconds here, and two runs with one seed do the same things at the same times.
///
/// ```
/// use k8s_openapi::api::core::v1::Namespace;
/// use kubewright_testing::TestCluster;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let cluster = TestCluster::start().await;
/// let namespaces = kube::Api::<Namespace>::all(cluster.client());
/// assert!(namespaces.get("default").await.is_ok());
/// # }
/// ```
///
/// Dropping it stops the controllers.
#[derive(Debug)]
pub struct TestCluster {
    endpoint: Endpoint,
    process: ServerProcess,
    clock: Clock,
    random: Random,
    conditions: Conditions,
    history: History,
    webhooks: Hosts,
    stop: CancellationToken,
}

/// Says what a [`TestCluster`] is to be like.
#[derive(Debug)]
#[must_use]
pub struct TestClusterBuilder {
    seed: u64,
    controllers: Selection,
    faults: Faults,
    keeps_history: bool,
    webhooks: Hosts,
}

/// Says what an operator in a [`TestCluster`] is to be like.
#[derive(Debug)]
#[must_use]
pub struct OperatorBuilder<'c> {
    cluster: &'c TestCluster,
    name: &'c str,
    roles: Option<String>,
    webhooks: Option<String>,
    options: Options,
    process: Process,
}

/// An operator that runs in a [`TestCluster`].
#[derive(Debug)]
pub struct Operator {
    manager: Manager,
    process: Process,
    stop: CancellationToken,
    task: JoinHandle<Result<()>>,
}

// === impl TestCluster ===

impl TestCluster {
    /// A cluster with all controllers, a flawless network, and a fixed seed.
    pub async fn start() -> Self {
        Self::builder().start().await
    }

    /// The settings of [`TestCluster::start`], to be changed.
    pub fn builder() -> TestClusterBuilder {
        TestClusterBuilder {
            seed: 1,
            controllers: Selection::All,
            faults: Faults::none(),
            keeps_history: true,
            webhooks: Hosts::default(),
        }
    }

    /// The API server, as it is now.
    #[must_use]
    pub fn server(&self) -> ApiServer {
        self.endpoint.server()
    }

    /// A client with all rights, for the test itself: its network is flawless and its requests are not recorded.
    #[must_use]
    pub fn client(&self) -> Client {
        self.connect("test", History::unkept())
    }

    /// The time in this cluster.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// What went over the wire between the operators, the cluster's controllers (as `cluster`) and the API server.
    #[must_use]
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Installs the CRD of `K` and waits until it is served: the one that `my-operator crd` prints, with the effect
    /// of markers, if the operator has one version of it and changes no options. For others see
    /// [`install_all`](Self::install_all).
    ///
    /// # Panics
    ///
    /// If something is wrong with the CRD, or the API server refuses it: the message has the reasons.
    pub async fn install<K: CustomKind>(&self) {
        let crds = Crds::default();
        crds.register(CrdBuilder::of::<K>());
        self.install_all(&crds).await;
    }

    /// Installs these CRDs and waits until they are served: all that an operator works on, in all their versions and with
    /// its options, are [`Manager::crds`].
    ///
    /// ```no_run
    /// # async fn test(cluster: kubewright_testing::TestCluster) {
    /// let operator = cluster.run("my-operator", |manager| {
    ///     // my_operator::register(manager)
    ///     Ok(())
    /// });
    /// cluster.install_all(operator.manager().crds()).await;
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If something is wrong with a CRD, or the API server refuses it: the message has the reasons.
    pub async fn install_all(&self, crds: &Crds) {
        let definitions = match crds.definitions() {
            Ok(definitions) => definitions,
            Err(error) => panic!("the CRDs are wrong: {error}"),
        };
        let api = kube::Api::all(self.client());
        for definition in definitions {
            let name = definition.name_any();
            if let Err(error) = api.create(&kube::api::PostParams::default(), &definition).await {
                panic!("the API server refuses the CRD {name}: {error}");
            }
            let condition = wait::conditions::is_crd_established();
            if let Err(error) = wait::await_condition(api.clone(), &name, condition).await {
                panic!("the CRD {name} is not established: {error}");
            }
        }
    }

    /// Creates the objects of these YAML documents, such as a sample. Those of kinds in namespaces that name none are created in
    /// `namespace`.
    ///
    /// ```no_run
    /// # async fn test(cluster: kubewright_testing::TestCluster) {
    /// cluster.create("default", "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}").await;
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// If they are no YAML, a kind is not served, or the API server refuses one.
    pub async fn create(&self, namespace: &str, documents: &str) {
        let documents: Vec<DynamicObject> = match serde_saphyr::from_multiple(documents) {
            Ok(documents) => documents,
            Err(error) => panic!("these are no objects: {error}"),
        };
        let client = self.client();
        for object in documents {
            let types = object.types.clone().unwrap_or_default();
            let what = format!("{} {}", types.kind, object.name_any());
            let kind = match GroupVersionKind::try_from(&types) {
                Ok(kind) => kind,
                Err(error) => panic!("the {what} is of no kind: {error}"),
            };
            let (resource, capabilities) = match kube::discovery::pinned_kind(&client, &kind).await {
                Ok(found) => found,
                Err(error) => panic!("the kind of the {what} is not served: {error}"),
            };
            let api = match (&capabilities.scope, object.namespace()) {
                (kube::discovery::Scope::Cluster, _) => kube::Api::all_with(client.clone(), &resource),
                (_, own) => {
                    let namespace = own.unwrap_or_else(|| namespace.to_owned());
                    kube::Api::namespaced_with(client.clone(), &namespace, &resource)
                }
            };
            if let Err(error) = api.create(&kube::api::PostParams::default(), &object).await {
                panic!("the API server refuses the {what}: {error}");
            }
        }
    }

    /// Runs an operator: `register` adds its controllers to a manager whose network is this cluster's, with its
    /// faults, and recorded under `name`.
    ///
    /// Its webhooks are called from now on, and [its CRDs](Self::install_all) name it as the one that converts, if it
    /// does.
    ///
    /// # Panics
    ///
    /// If `register` fails.
    pub fn run(&self, name: &str, register: impl FnOnce(&Manager) -> Result<()>) -> Operator {
        self.operator(name).run(register)
    }

    /// An operator with other rights or other settings than [`run`](Self::run) gives it: what a deployed one has.
    ///
    /// ```no_run
    /// # use kubewright_testing::TestCluster;
    /// # async fn test(cluster: TestCluster) {
    /// let roles = "
    /// apiVersion: rbac.authorization.k8s.io/v1
    /// kind: ClusterRole
    /// metadata:
    ///   name: manager-role
    /// rules:
    /// - {apiGroups: [''], resources: [configmaps], verbs: [get, list, watch]}
    /// ";
    /// let operator = cluster.operator("my-operator").roles(roles).run(|manager| {
    ///     // my_operator::register(manager)
    ///     Ok(())
    /// });
    /// # }
    /// ```
    pub fn operator<'c>(&'c self, name: &'c str) -> OperatorBuilder<'c> {
        OperatorBuilder {
            cluster: self,
            name,
            roles: None,
            webhooks: None,
            options: Options::default(),
            process: Process::default(),
        }
    }

    /// Waits until `check` gives a value, and returns it. Looks again whenever the API server has stored a
    /// change, so nothing is polled and nothing is slept.
    ///
    /// # Panics
    ///
    /// After ten minutes of the test's time; the message says that `what` did not come.
    pub async fn eventually<T>(&self, what: &str, mut check: impl AsyncFnMut() -> Option<T>) -> T {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            // Taken before the check: a change during it is not missed.
            let server = self.server();
            let revision = server.revision();
            if let Some(value) = check().await {
                return value;
            }
            if tokio::time::timeout_at(deadline, server.reached(revision + 1)).await.is_err() {
                panic!("{what}: not within {} s", PATIENCE.as_secs());
            }
        }
    }

    /// Stops the API server and starts one with the same state, as when its process is replaced: open watches
    /// end, and it no longer knows what changed before.
    pub fn restart_server(&self) {
        self.process.restart();
    }

    /// Changes how the network of operators and the server misbehave, from now on: a storm begins, or is over.
    ///
    /// ```
    /// use kubewright_testing::{TestCluster, transport::Faults};
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// let cluster = TestCluster::builder().seed(17).faults(Faults::storm()).start().await;
    /// // What the user does, and what the operator makes of it.
    /// cluster.set_faults(Faults::none());
    /// # }
    /// ```
    pub fn set_faults(&self, faults: Faults) {
        self.conditions.set(faults, usize::MAX);
    }

    pub(crate) fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    fn connect(&self, name: &str, history: History) -> Client {
        let network = Conditions::new(Faults::none());
        self.connect_process(&self.endpoint, name, history, network, Process::default())
    }

    fn connect_process(
        &self,
        endpoint: &Endpoint,
        name: &str,
        history: History,
        conditions: Conditions,
        process: Process,
    ) -> Client {
        let random = self.random.fork();
        let transport = Transport::of_process(endpoint.clone(), name, history, conditions, random, process);
        Client::new(transport, "default")
    }
}

impl Drop for TestCluster {
    fn drop(&mut self) {
        self.stop.cancel();
        self.server().close();
    }
}

// === impl TestClusterBuilder ===

impl TestClusterBuilder {
    /// What all randomness comes from: names, uids, jitter, faults. Default: 1.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Which of the cluster's controllers run. Default: all.
    pub fn controllers(mut self, controllers: Selection) -> Self {
        self.controllers = controllers;
        self
    }

    /// How the network of operators misbehaves. Default: not at all.
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = faults;
        self
    }

    /// Keeps no [history](TestCluster::history), for runs so long that it would fill the memory.
    pub fn without_history(mut self) -> Self {
        self.keeps_history = false;
        self
    }

    /// Lets a service answer for the webhooks at a host, in the test's own thread: an `axum::Router`, a
    /// `tower::service_fn`. The host of a webhook behind a Service is `<service>.<namespace>.svc`, and the Service need
    /// not be there. What no service answers for cannot be reached: a test has no network.
    ///
    /// ```
    /// use std::{collections::BTreeMap, convert::Infallible};
    ///
    /// use bytes::Bytes;
    /// use http::{Request, Response};
    /// use http_body_util::{BodyExt, Full};
    /// use k8s_openapi::api::{
    ///     admissionregistration::v1::ValidatingWebhookConfiguration, core::v1::ConfigMap,
    /// };
    /// use kube::{Api, api::PostParams};
    /// use kubewright_testing::TestCluster;
    /// use serde_json::{Value, json};
    /// use tower::service_fn;
    ///
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // A webhook that wants no secrets in config maps.
    /// let webhook = service_fn(async |request: Request<Full<Bytes>>| {
    ///     let body = request.into_body().collect().await?.to_bytes();
    ///     let review: Value = serde_json::from_slice(&body).unwrap_or_default();
    ///     let request = &review["request"];
    ///     let answer = json!({
    ///         "apiVersion": "admission.k8s.io/v1",
    ///         "kind": "AdmissionReview",
    ///         "response": {
    ///             "uid": request["uid"],
    ///             "allowed": request["object"]["data"]["password"].is_null(),
    ///             "status": {"message": "put passwords into Secrets"},
    ///         },
    ///     });
    ///     Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(answer.to_string()))))
    /// });
    /// let cluster = TestCluster::builder().webhook("webhook-service.system.svc", webhook).start().await;
    ///
    /// let configuration: ValidatingWebhookConfiguration = serde_json::from_value(json!({
    ///     "metadata": {"name": "passwords"},
    ///     "webhooks": [{
    ///         "name": "passwords.example.com",
    ///         "clientConfig": {"service": {"name": "webhook-service", "namespace": "system", "path": "/validate"}},
    ///         "rules": [{
    ///             "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"],
    ///         }],
    ///         "sideEffects": "None",
    ///         "admissionReviewVersions": ["v1"],
    ///     }],
    /// }))?;
    /// Api::all(cluster.client()).create(&PostParams::default(), &configuration).await?;
    ///
    /// let mut map = ConfigMap::default();
    /// map.metadata.name = Some("settings".to_owned());
    /// map.data = Some(BTreeMap::from([("password".to_owned(), "1234".to_owned())]));
    /// let maps = Api::<ConfigMap>::namespaced(cluster.client(), "default");
    /// let refused = maps.create(&PostParams::default(), &map).await.unwrap_err();
    /// assert!(refused.to_string().contains("put passwords into Secrets"), "{refused}");
    /// # Ok(())
    /// # }
    /// ```
    pub fn webhook<S, B>(self, host: impl Into<String>, service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        self.webhooks.insert(host.into(), WebhookClient::new(service));
        self
    }

    /// Starts the cluster. The API server answers at once.
    pub async fn start(self) -> TestCluster {
        let random = Random::seeded(self.seed);
        // Any fixed time does. One in the past of no certificate and of no test's wall clock is easiest to read.
        let clock = Clock::starting_at(Timestamp::constant(1_893_456_000, 0));
        let webhooks = self.webhooks.clone();
        let process = ServerProcess {
            clock: clock.clone(),
            random: random.fork(),
            webhooks: webhooks.client(),
            admission_plugins: admission_plugins(&self.controllers),
            endpoint: None,
        };
        let endpoint = Endpoint::new(process.start(None));
        let process = ServerProcess { endpoint: Some(endpoint.clone()), ..process };
        let stop = CancellationToken::new();
        let cluster = TestCluster {
            endpoint,
            process,
            clock: clock.clone(),
            random: random.fork(),
            conditions: Conditions::new(self.faults),
            history: if self.keeps_history { History::new() } else { History::unkept() },
            webhooks,
            stop: stop.clone(),
        };
        // The cluster's own controllers have a flawless network: what is under test is the operator.
        let client = cluster.connect("cluster", cluster.history.clone());
        let controllers =
            Cluster::builder(client, clock, random.fork()).controllers(self.controllers).build();
        let weather = cluster.process.clone().weather(cluster.conditions.clone(), random.fork());
        tokio::spawn(stop.clone().run_until_cancelled_owned(weather));
        tokio::spawn(async move {
            if let Err(error) = controllers.run(stop).await {
                tracing::error!(%error, "the cluster's controllers failed");
            }
        });
        cluster
    }
}

/// Those of kube-apiserver. Pods need an account only where a controller makes it.
fn admission_plugins(controllers: &Selection) -> AdmissionPlugins {
    let disabled = (!controllers.selects("serviceaccount-controller")).then_some("ServiceAccount");
    AdmissionPlugins::new([""; 0], disabled).unwrap_or_default()
}

// === impl OperatorBuilder ===

impl OperatorBuilder<'_> {
    /// Gives it the rights of these roles and no others: those of its generated role, so that a missing marker fails the
    /// test and not the first deployment. Default: it may do everything.
    ///
    /// They are YAML documents, as `kubewright generate rbac` writes them. They are created when the operator runs, and bound to
    /// the service account of its name in the namespace `default`, as which it speaks; a role of a namespace is bound
    /// in that. Documents of other kinds are passed over.
    pub fn roles(mut self, roles: &str) -> Self {
        self.roles = Some(roles.to_owned());
        self
    }

    /// Calls its webhooks as these configurations say: those of its markers, as `kubewright generate webhook` writes them to
    /// `config/webhook/manifests.yaml`. Default: for each [`Webhook`](kubewright_runtime::webhook::Webhook) that `register`
    /// makes, creations and changes of its kind.
    ///
    /// They are YAML documents. Wherever they say the webhooks are, this operator answers: in the test's own thread and time,
    /// from when it runs until it is stopped. Documents of other kinds are passed over.
    pub fn webhooks(mut self, configurations: &str) -> Self {
        self.webhooks = Some(configurations.to_owned());
        self
    }

    /// Lets it watch this namespace, and those of further calls, alone. Default: it watches all.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.options.namespaces.push(namespace.into());
        self
    }

    /// Lets the process die when the API server has acted on this one of its writes, before the answer: 1 is the first.
    /// [`Operator::died`] tells when. What a [`Simulation`](crate::sim::Simulation) does at each of them.
    pub fn dies_after_write(mut self, number: u64) -> Self {
        self.process = Process::dies_after(number);
        self
    }

    /// Runs it: `register` adds its controllers to a manager whose network is the cluster's, with its faults, and recorded
    /// under the operator's name.
    ///
    /// # Panics
    ///
    /// If the roles or the webhook configurations are no YAML or not valid, or `register` fails.
    pub fn run(self, register: impl FnOnce(&Manager) -> Result<()>) -> Operator {
        let Self { cluster, name, roles, webhooks, options, process } = self;
        let endpoint = match roles {
            Some(roles) => cluster.endpoint.of(grant(&cluster.server(), name, &roles)),
            None => cluster.endpoint.clone(),
        };
        let (history, conditions) = (cluster.history.clone(), cluster.conditions.clone());
        let client = cluster.connect_process(&endpoint, name, history, conditions, process.clone());
        let manager = Manager::builder(options)
            .client(client)
            .clock(cluster.clock.clone())
            .random(cluster.random.fork())
            .build()
            .and_then(|manager| register(&manager).map(|()| manager));
        let manager = match manager {
            Ok(manager) => manager,
            Err(error) => panic!("the operator {name} cannot be set up: {error:?}"),
        };
        if webhooks.is_some() || !manager.webhooks().is_empty() {
            let service = cluster.webhooks.insert_operator(name, manager.webhooks());
            configure(&cluster.server(), name, manager.webhooks(), webhooks.as_deref(), &service);
            let text = |field: &str| service[field].as_str().unwrap_or_default();
            manager.crds().convert_at(ConversionWebhook::service(text("namespace"), text("name")));
        }
        let stop = cluster.stop.child_token();
        let (running, stopped) = (manager.clone(), stop.clone());
        let life = process.clone();
        let task = tokio::spawn(async move {
            tokio::select! {
                biased;
                // As the kernel ends a process: nothing is cleaned up.
                () = life.died() => Ok(()),
                end = running.start_until(stopped) => end,
            }
        });
        Operator { manager, process, stop, task }
    }
}

// === impl Operator ===

impl Operator {
    /// Its manager: for its client, cache and metrics.
    #[must_use]
    pub fn manager(&self) -> &Manager {
        &self.manager
    }

    /// Waits until its process has died of a fault, which most never do.
    pub async fn died(&self) {
        self.process.died().await;
    }

    /// How many of its writes the API server has acted on.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.process.writes()
    }

    /// Stops it as SIGTERM does, and returns what its manager returned.
    ///
    /// # Errors
    ///
    /// As the manager's: if a part of it failed or did not stop in time.
    pub async fn stop(self) -> Result<()> {
        self.stop.cancel();
        match self.task.await {
            Ok(result) => result,
            Err(error) => Err(Error::other(error)),
        }
    }
}
