use std::{
    collections::BTreeSet,
    fmt,
    net::SocketAddr,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use k8s_openapi::api::core::v1::ObjectReference;
use kube::Config;
use kubewright_manifests::crd::CrdBuilder;
use kubewright_world::{Clock, Random};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    GracePeriod, Group, Options, Runnable,
    access::Access,
    connect::{connect, find_cluster, nowhere},
    http_server::{HttpServer, Pages},
    lifecycle::Lifecycle,
    options::Mode,
    reporter::Reporter,
    runnable::BoxedRunnable,
    signals::until_signalled,
    webhook_server::WebhookServer,
};
use crate::{
    Error, Result,
    cache::{Cache, CacheOptions, Undecodable, WatchStatus},
    certificates::ServingCertificate,
    client::{Client, HotLoops},
    controller::{ControllerConfig, ControllerContext, ControllerHost, ControllerRunnable},
    crds::{Crds, CustomKind},
    diagnostics::{Diagnostics, Report},
    election::{Elector, Leadership, lease_name},
    events::{Broadcaster, EventType, Recorder},
    health::{CheckResult, HealthChecks},
    logging,
    metrics::Metrics,
    sharding::{Member, Ownership, ShardBy},
    webhook::{WebhookHost, Webhooks},
};

/// The controller that the cache's own events name.
const CACHE_REPORTER: &str = "cache";

/// The controller that the events of the leader election name.
const ELECTION_REPORTER: &str = "leader-election";

/// Owns what the controllers of a process share, and runs them: the connection to the cluster, the cache, the
/// metrics, the event recorder, the probe and metrics servers. Clones are the same manager.
///
/// Nothing of it is global. Several managers in one process, also for several clusters, do not touch each
/// other.
#[derive(Clone)]
pub struct Manager {
    inner: Arc<Inner>,
}

/// Makes a [`Manager`] whose clock, randomness or connection are not those of the process. Made by
/// [`Manager::builder`].
#[must_use]
pub struct ManagerBuilder {
    options: Options,
    kube: Option<kube::Client>,
    election: Option<kube::Client>,
    clock: Clock,
    random: Random,
    metrics: Metrics,
    controllers: ControllerConfig,
}

struct Inner {
    options: Options,
    clock: Clock,
    random: Random,
    client: Client,
    cache: Cache,
    metrics: Metrics,
    events: Broadcaster,
    healthz: HealthChecks,
    readyz: HealthChecks,
    stopping: Arc<AtomicBool>,
    reporter: Reporter,
    crds: Crds,
    controllers: ControllerConfig,
    /// The names of the controllers, which are label values of their metrics.
    names: Mutex<BTreeSet<String>>,
    lifecycle: Lifecycle,
    leadership: Leadership,
    webhooks: Webhooks,
    /// Where webhooks answer, once they do.
    webhook_address: OnceLock<SocketAddr>,
    /// Until it is started; `None` without leader election.
    elector: Mutex<Option<Elector>>,
    ownership: Ownership,
    /// The term of the controllers: that of the leader, or of a replica that shares the work.
    term: Leadership,
    /// Until it is started; `None` if the work is not split.
    member: Mutex<Option<Member>>,
    failures: Mutex<Option<mpsc::UnboundedReceiver<Error>>>,
}

// === impl Manager ===

impl Manager {
    /// The manager of an operator's process: starts logging if nobody did, finds the cluster and opens the
    /// probe and metrics sockets, so that a busy port fails here.
    ///
    /// # Errors
    ///
    /// If there is no cluster to be found, or a socket cannot be opened. The cluster is not contacted yet.
    pub async fn new(options: Options) -> Result<Self> {
        logging::init(&options)?;
        let builder = Self::builder(options);
        if matches!(builder.options.mode, Mode::PrintCrds(_)) {
            return builder.client(nowhere()).build();
        }
        builder.metrics.register_process();
        let config = find_cluster(builder.options.kubeconfig.as_deref()).await?;
        builder.config(config)?.build()
    }

    /// A manager on a connection that exists, as to an API server in the same process. It touches nothing of
    /// the process: no signals, no logger.
    ///
    /// # Errors
    ///
    /// If a socket of the options cannot be opened; [`Options::default`] has none.
    pub fn with_client(options: Options, client: kube::Client) -> Result<Self> {
        Self::builder(options).client(client).build()
    }

    /// A manager with a clock and a randomness of one's own.
    pub fn builder(options: Options) -> ManagerBuilder {
        ManagerBuilder {
            options,
            kube: None,
            election: None,
            clock: Clock::system(),
            random: Random::from_entropy(),
            metrics: Metrics::new(),
            controllers: ControllerConfig::default(),
        }
    }

    /// The client: reads from the cache, writes to the server under the [name](Options::name) of the operator.
    #[must_use]
    pub fn client(&self) -> Client {
        self.inner.client.clone()
    }

    /// The informers that the controllers share.
    #[must_use]
    pub fn cache(&self) -> &Cache {
        &self.inner.cache
    }

    /// The registry of this manager, with room for the operator's own metrics.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    /// A recorder of events that are reported by `controller`.
    #[must_use]
    pub fn recorder(&self, controller: &str) -> Recorder {
        self.inner.events.recorder(controller, &self.inner.options.instance)
    }

    /// The clock of this manager, for timestamps in objects.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// The randomness of this manager. Take a [fork](Random::fork) of it.
    #[must_use]
    pub fn random(&self) -> &Random {
        &self.inner.random
    }

    /// Whether this process is the one that acts: after its election, or from the start if it stands for none.
    #[must_use]
    pub fn leadership(&self) -> &Leadership {
        &self.inner.leadership
    }

    /// Which requests are this replica's: all, unless the [work is split](crate::sharding).
    #[must_use]
    pub fn ownership(&self) -> &Ownership {
        &self.inner.ownership
    }

    /// What it and its controllers are doing at this moment. See [`diagnostics`](crate::diagnostics).
    #[must_use]
    pub fn report(&self) -> Report {
        self.inner.reporter.report()
    }

    /// The webhooks, which are served by HTTPS if there are any when the manager starts.
    #[must_use]
    pub fn webhooks(&self) -> &Webhooks {
        &self.inner.webhooks
    }

    /// Where webhooks answer, which tells the port if any free one was asked for. None before the manager started, and
    /// without webhooks or a port for them.
    #[must_use]
    pub fn webhook_address(&self) -> Option<SocketAddr> {
        self.inner.webhook_address.get().copied()
    }

    /// The options that it was made with.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// Adds something to run, under a name for logs and errors. If its [group](Group) runs, it starts at once.
    ///
    /// # Errors
    ///
    /// If the manager is stopped.
    pub fn add(&self, name: impl Into<String>, runnable: impl Runnable) -> Result<()> {
        self.inner.lifecycle.add(BoxedRunnable::new(name.into(), runnable))
    }

    /// Adds a check to `/healthz`. A failure makes the kubelet restart the pod, so check what a restart mends.
    pub fn add_healthz_check(
        &self,
        name: impl Into<String>,
        check: impl Fn() -> CheckResult + Send + Sync + 'static,
    ) {
        self.inner.healthz.add(name, check);
    }

    /// Adds a check to `/readyz`, besides those of the manager: one for each watch, that it is not stopping and, with
    /// leader election, that the API server answers about the lease. A replica that stands by is ready.
    pub fn add_readyz_check(
        &self,
        name: impl Into<String>,
        check: impl Fn() -> CheckResult + Send + Sync + 'static,
    ) {
        self.inner.readyz.add(name, check);
    }

    /// The checks of `/readyz`.
    #[must_use]
    pub fn readiness(&self) -> &HealthChecks {
        &self.inner.readyz
    }

    /// Makes the `CustomResourceDefinition` of `K` one of those that the operator prints. A controller does
    /// this for the kind that it is for; call it for custom resources of the operator without a controller.
    ///
    /// Several versions of a kind, each of its own Rust type, are registered one by one.
    pub fn register_crd<K: CustomKind>(&self) {
        self.inner.crds.register(CrdBuilder::of::<K>());
    }

    /// The definitions that were registered, and the options that all of them are made with.
    #[must_use]
    pub fn crds(&self) -> &Crds {
        &self.inner.crds
    }

    /// Runs until SIGINT or SIGTERM, or until something that was added fails. A second signal ends the process
    /// at once.
    ///
    /// Started are, in this order: the probe and metrics servers, webhooks, the cache, what runs in every
    /// replica, the controllers. A controller waits for the watches that it needs itself, so that one kind that
    /// cannot be watched does not hold up the others.
    ///
    /// With [leader election](crate::election), controllers fill their queues and wait; they reconcile, and what else
    /// belongs to the [elected](Group::Elected) runs, once this process is the leader. When the lease is lost, their work
    /// is cut off before another replica may begin, and this returns [`Error::LeaderElectionLost`].
    ///
    /// If the [work is split](crate::sharding), controllers reconcile in every replica, each what is its own, and need not be
    /// elected. When the lease of the replica is lost, this returns [`Error::ShardLost`].
    ///
    /// At the end, within the [grace period](Options::graceful_shutdown_timeout): readiness fails, no new
    /// reconciliation begins and running ones end, then the watches end, then webhooks and servers, the lease is given
    /// up, and the last events are written.
    ///
    /// If the options ask for it (`my-operator crd`), it prints the definitions of the registered custom
    /// resources instead, and returns: an error if something is wrong with them.
    ///
    /// # Errors
    ///
    /// The first failure of something that was added, or what did not end within the grace period.
    pub async fn start(&self) -> Result<()> {
        if let Mode::PrintCrds(command) = &self.inner.options.mode {
            return command.run(&self.inner.crds);
        }
        self.start_until(until_signalled()?).await
    }

    /// As [`start`](Self::start), until `stop` is cancelled; signals are left alone. Dropping the future stops
    /// everything without waiting.
    ///
    /// # Errors
    ///
    /// As [`start`](Self::start).
    pub async fn start_until(&self, stop: CancellationToken) -> Result<()> {
        let inner = &self.inner;
        if let Mode::PrintCrds(command) = &inner.options.mode {
            return command.run(&inner.crds);
        }
        inner.webhooks.check(|group, kind| inner.crds.versions(group, kind))?;
        inner.add_webhook_server()?;
        let _stop_all = inner.lifecycle.begin()?;
        let failures = inner.failures.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut failures) = failures else {
            return Err(Error::setup("a manager can be started once: make a new one"));
        };
        let events = inner.events.start();
        inner.lifecycle.start(Group::Servers);
        inner.lifecycle.start(Group::Webhooks);
        inner.cache.start(&inner.lifecycle.stop_token(Group::Caches));
        inner.lifecycle.start(Group::Caches);
        inner.lifecycle.start(Group::Always);
        let elector = inner.elector.lock().unwrap_or_else(PoisonError::into_inner).take();
        let election = elector.map(|elector| {
            inner.lifecycle.stand_by();
            let failures = inner.lifecycle.failures();
            elector.start(move |lost| {
                let _ = failures.send(lost);
            })
        });
        if election.is_none() {
            inner.lifecycle.start(Group::Elected);
        }
        let member = inner.member.lock().unwrap_or_else(PoisonError::into_inner).take();
        let membership = member.map(|member| {
            let failures = inner.lifecycle.failures();
            member.start(move |lost| {
                let _ = failures.send(lost);
            })
        });
        tracing::info!(name = inner.options.name, "started");

        let failure = tokio::select! {
            biased;
            () = stop.cancelled() => None,
            failure = failures.recv() => failure,
            () = inner.start_elected(), if election.is_some() => None,
        };
        if let Some(error) = &failure {
            tracing::error!(%error, "stopping");
        }
        inner.stopping.store(true, Ordering::Relaxed);
        let finish = async {
            // The leases go when the work has ended, and not at all if that could not be seen.
            for lease in membership.into_iter().chain(election) {
                lease.resign().await;
            }
            events.finish().await;
        };
        let end = inner.lifecycle.stop(inner.grace(failure.as_ref()), &inner.cache, finish).await;
        while let Ok(error) = failures.try_recv() {
            tracing::error!(%error, "failed while stopping");
        }
        match failure {
            Some(error) => Err(error),
            None => end,
        }
    }
}

impl ControllerHost for Manager {
    fn controller_context(&self) -> ControllerContext {
        let inner = &self.inner;
        ControllerContext::new(inner.cache.clone(), inner.random.fork(), inner.metrics.clone())
            .with_config(inner.controllers.clone())
            .with_leadership(inner.term.clone())
            .with_ownership(inner.ownership.clone())
            .with_diagnostics(inner.reporter.diagnostics.clone())
    }

    fn add_controller(&self, controller: ControllerRunnable) -> Result<()> {
        let name = controller.name().to_owned();
        if !self.inner.names.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone()) {
            return Err(Error::setup(format!(
                "there are two controllers named {name:?}, whose metrics would mix: give one another name with \
                 `.named(..)`"
            )));
        }
        self.inner.lifecycle.add(BoxedRunnable::controller(controller))
    }

    fn register_crd(&self, definition: CrdBuilder) {
        self.inner.crds.register(definition);
    }
}

impl WebhookHost for Manager {
    fn webhooks(&self) -> &Webhooks {
        &self.inner.webhooks
    }

    fn register_crd(&self, definition: CrdBuilder) {
        self.inner.crds.register(definition);
    }

    fn register_conversion(&self, group: &str, kind: &str) {
        self.inner.crds.converts(group, kind);
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager").field("name", &self.inner.options.name).finish_non_exhaustive()
    }
}

// === impl Inner ===

impl Inner {
    /// Adds what serves the webhooks, if there are any.
    fn add_webhook_server(&self) -> Result<()> {
        if self.webhooks.is_empty() {
            return Ok(());
        }
        let server =
            WebhookServer::new(&self.options, &self.webhooks, &self.metrics, &self.client, &self.clock)?;
        if let Some(address) = server.address()? {
            self.readyz.add("webhook", server.check());
            if let Some(check) = server.authority_check() {
                self.readyz.add("webhook-authority", move || check.get());
            }
            // Set once: a manager is started once.
            let _ = self.webhook_address.set(address);
        }
        self.lifecycle.add(BoxedRunnable::new("the webhook server".to_owned(), server))
    }

    /// Starts the group of the elected when it is time. Does not end.
    async fn start_elected(&self) {
        self.leadership.elected().await;
        self.lifecycle.start(Group::Elected);
        std::future::pending::<()>().await;
    }

    /// How long to wait for what runs, if this is why it is to end.
    fn grace(&self, failure: Option<&Error>) -> GracePeriod {
        let grace = self.options.graceful_shutdown_timeout;
        let Some(Error::LeaderElectionLost { .. } | Error::ShardLost { .. }) = failure else { return grace };
        // Leader work that does not come to an await point could go on into the next leader's term.
        let margin = self.options.leader_election.margin();
        match grace {
            GracePeriod::AtMost(limit) => GracePeriod::AtMost(limit.min(margin)),
            GracePeriod::Forever => GracePeriod::AtMost(margin),
        }
    }
}

// === impl ManagerBuilder ===

impl ManagerBuilder {
    /// Uses this connection. Requests are counted in the manager's metrics only by a connection that
    /// [`config`](Self::config) makes.
    pub fn client(mut self, client: kube::Client) -> Self {
        self.kube = Some(client);
        self
    }

    /// Elects the leader through this connection instead of the one for everything else: in the cluster that the replicas
    /// run in while they work on another one, or past limits that requests have there. The lease is by default in the
    /// namespace of this connection.
    pub fn election_client(mut self, client: kube::Client) -> Self {
        self.election = Some(client);
        self
    }

    /// Connects to this cluster.
    ///
    /// # Errors
    ///
    /// If the TLS settings or the credentials of the configuration cannot be used.
    pub fn config(mut self, config: Config) -> Result<Self> {
        self.kube = Some(connect(config, &self.metrics)?);
        Ok(self)
    }

    /// Takes timestamps from `clock`.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Draws randomness from `random`.
    pub fn random(mut self, random: Random) -> Self {
        self.random = random;
        self
    }

    /// Sets how controllers run that do not say otherwise: concurrency, timeouts, backoff.
    pub fn controllers(mut self, config: ControllerConfig) -> Self {
        self.controllers = config;
        self
    }

    /// Makes the manager and opens the sockets of its options.
    ///
    /// # Errors
    ///
    /// If there is no connection, or a socket cannot be opened.
    pub fn build(self) -> Result<Manager> {
        let Self { options, kube, election, clock, random, metrics, controllers } = self;
        let Some(kube) = kube else {
            return Err(Error::setup("the manager has no connection: give it a client or a config"));
        };
        // The recorder writes with the client, which reads from the cache, which reports to the recorder.
        let undecodable = Arc::new(OnceLock::new());
        let report = undecodable.clone();
        let cache_options = CacheOptions::default()
            .on_undecodable(move |object| {
                if let Some(recorder) = report.get() {
                    report_undecodable(recorder, object);
                }
            })
            .clock(clock.clone())
            .random(random.fork())
            .metrics(metrics.clone())
            .namespaces(options.namespaces.iter().filter(|namespace| !namespace.is_empty()).cloned());
        let electing = election.unwrap_or_else(|| kube.clone());
        let namespace = electing.default_namespace().to_owned();
        let electing = Client::new(electing, options.name.as_str());
        let cache = Cache::new(kube.clone(), cache_options);
        let hot_loops = HotLoops::default();
        let client = Client::new(kube, options.name.as_str())
            .with_cache(cache.clone())
            .with_hot_loops(hot_loops.clone());
        let events = Broadcaster::new(client.clone(), clock.clone(), random.fork(), metrics.events());
        // Set once, here.
        let _ = undecodable.set(events.recorder(CACHE_REPORTER, &options.instance));
        let elector = match options.leader_election.enabled && options.mode == Mode::Run {
            true => {
                // A name that no other process has, and that says where this one runs.
                let identity = format!("{}_{}", options.instance, random.uid());
                let settings = options.leader_election.settings(&options.name, &namespace, identity)?;
                let recorder = events.recorder(ELECTION_REPORTER, &options.instance);
                let measures = metrics.leader_election(&settings.name);
                Some(Elector::new(settings, &electing, clock.clone(), random.fork(), recorder, measures))
            }
            false => None,
        };
        let leadership = match &elector {
            Some(elector) => elector.leadership().clone(),
            None => Leadership::without_election(),
        };
        let member = match options.shard_by != ShardBy::None && options.mode == Mode::Run {
            true => {
                let identity = format!("{}_{}", options.instance, random.uid());
                let mut settings = options.leader_election.settings(&options.name, &namespace, identity)?;
                settings.name = lease_name(&options.name);
                let grace = controllers.drain_timeout;
                let random = random.fork();
                let by = options.shard_by;
                Some(Member::new(settings, by, grace, &electing, clock.clone(), random, &metrics))
            }
            false => None,
        };
        let (term, ownership) = match &member {
            Some(member) => (member.term().clone(), member.ownership().clone()),
            None => (leadership.clone(), Ownership::whole()),
        };
        let webhooks = Webhooks::waiting(metrics.clone());
        let (lifecycle, failures) = Lifecycle::new(leadership.clone());
        let stopping = Arc::new(AtomicBool::new(false));
        let (healthz, readyz) = (HealthChecks::new(), HealthChecks::new());
        readyz.add("shutdown", {
            let stopping = stopping.clone();
            move || match stopping.load(Ordering::Relaxed) {
                true => Err("the process is shutting down".to_owned()),
                false => Ok(()),
            }
        });
        if let Some(elector) = &elector {
            readyz.add("leader-election", elector.check());
        }
        if let Some(member) = &member {
            readyz.add("shards", member.check());
        }
        readyz.add_many({
            let cache = cache.clone();
            move || cache.watches().iter().map(watch_check).collect()
        });
        let reporter = Reporter {
            name: options.name.clone(),
            instance: options.instance.clone(),
            clock: clock.clone(),
            stopping: stopping.clone(),
            leadership: leadership.clone(),
            ownership: ownership.clone(),
            elected: elector.is_some(),
            cache: cache.clone(),
            diagnostics: Diagnostics::new(),
            hot_loops,
        };
        if options.mode == Mode::Run {
            let probes = options.health_probe_bind_address.bind("--health-probe-bind-address")?;
            if let Some(listener) = probes {
                let server = HttpServer::probes(listener, healthz.clone(), readyz.clone());
                lifecycle.add(BoxedRunnable::new("the probe server".to_owned(), server))?;
            }
            if let Some(listener) = options.metrics_bind_address.bind("--metrics-bind-address")? {
                let server = match options.metrics_secure {
                    true => {
                        let certificate = serving_certificate(&options, &metrics)?;
                        let access = Access::new(client.kube().clone());
                        let http2 = options.enable_http2;
                        let pages = Pages { metrics: metrics.clone(), reporter: reporter.clone() };
                        HttpServer::secure(listener, pages, access, certificate, http2)?
                    }
                    false => HttpServer::metrics(listener, metrics.clone()),
                };
                lifecycle.add(BoxedRunnable::new("the metrics server".to_owned(), server))?;
            }
            if let Some(listener) = options.debug_bind_address.bind("--debug-bind-address")? {
                let server = HttpServer::debug(listener, reporter.clone());
                lifecycle.add(BoxedRunnable::new("the diagnostics server".to_owned(), server))?;
            }
        }
        let inner = Inner {
            options,
            clock,
            random,
            client,
            cache,
            metrics,
            events,
            healthz,
            readyz,
            stopping,
            reporter,
            crds: Crds::default(),
            controllers,
            names: Mutex::default(),
            lifecycle,
            leadership,
            webhooks,
            webhook_address: OnceLock::new(),
            elector: Mutex::new(elector),
            ownership,
            term,
            member: Mutex::new(member),
            failures: Mutex::new(Some(failures)),
        };
        Ok(Manager { inner: Arc::new(inner) })
    }
}

impl fmt::Debug for ManagerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManagerBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The certificate of the metrics endpoint.
fn serving_certificate(options: &Options, metrics: &Metrics) -> Result<ServingCertificate> {
    let metrics = metrics.certificates();
    match &options.metrics_cert_path {
        None => ServingCertificate::self_signed(metrics),
        Some(directory) => {
            let (certificate, key) = (&options.metrics_cert_name, &options.metrics_cert_key);
            ServingCertificate::from_files(directory.join(certificate), directory.join(key), metrics)
        }
    }
}

/// Tells by an event on the object that it does not fit its type, as seen by those who look at the object.
fn report_undecodable(recorder: &Recorder, object: &Undecodable) {
    let regarding = ObjectReference {
        api_version: Some(object.resource.api_version.clone()),
        kind: Some(object.resource.kind.clone()),
        namespace: object.request.namespace.clone(),
        name: Some(object.request.name.clone()),
        uid: object.uid.clone(),
        resource_version: object.resource_version.clone(),
        ..Default::default()
    };
    let note = format!(
        "the operator cannot read this object and leaves it alone until it is fixed: {}",
        object.error
    );
    recorder.record(EventType::Warning, regarding, None, "Undecodable", "Decode", note);
}

/// The readiness of a watch, under a name that says which: `watch/deployments.apps:shop`.
fn watch_check(watch: &WatchStatus) -> (String, CheckResult) {
    let mut name = format!("watch/{}", watch.resource.plural);
    if !watch.resource.group.is_empty() {
        name.push('.');
        name.push_str(&watch.resource.group);
    }
    for part in watch.namespace.iter().map(String::as_str).chain([watch.selector.as_str()]) {
        if !part.is_empty() {
            name.push(':');
            name.push_str(part);
        }
    }
    (name, if watch.is_healthy() { Ok(()) } else { Err(watch.to_string()) })
}
