use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use kubewright_world::{Clock, Random};
use serde_json::Value;
use tokio::sync::Semaphore;
use tower::Service;

use crate::{
    admission::{Admission, AdmissionPlugins},
    authn::{Authenticator, TokenIssuer},
    authz::{AuthorizationMode, Authorizer},
    bootstrap,
    data_dir::{DataDir, DataDirError},
    feature_gates::FeatureGates,
    listener::{self, ListenError, ListenOptions, Listening},
    registry::{Registry, ServiceRanges, WatchSettings, access::AccessObjects},
    status::Status,
    store::{Snapshot, Store},
    user::User,
    webhook::{BoxError, ServiceAddresses, WebhookClient},
    wire::{self, ApiBody, Version, handler::Handler},
};

/// A Kubernetes API server inside the process.
///
/// Clones are the same server. It needs no task and no thread of its own: whoever polls a response does the work.
///
/// ```
/// use kubewright_apiserver::ApiServer;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(async {
/// let server = ApiServer::builder().build();
/// let client = kube::Client::new(server.service(), "default");
/// assert!(client.list_core_api_versions().await.is_ok());
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct ApiServer {
    handler: Arc<Handler>,
}

/// What an [`ApiServer`] is made of.
#[derive(Debug)]
#[must_use]
pub struct ApiServerBuilder {
    clock: Clock,
    random: Random,
    version: Version,
    snapshot: Option<Snapshot>,
    data_dir: Option<DataDir>,
    watch_history: usize,
    bookmark_period: Duration,
    tokens: Vec<(String, User)>,
    anonymous: bool,
    admission_plugins: AdmissionPlugins,
    authorization_modes: Vec<AuthorizationMode>,
    service_account_issuers: Vec<String>,
    api_audiences: Vec<String>,
    service_ranges: ServiceRanges,
    feature_gates: FeatureGates,
    webhook_client: WebhookClient,
    webhook_addresses: ServiceAddresses,
}

/// The server as a tower service. Every request is one of the user it was made for, or shows by itself whose it is.
#[derive(Clone, Debug)]
pub struct ApiService {
    handler: Arc<Handler>,
    user: Option<Arc<User>>,
}

/// The server was closed: what a client sees where a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the api server was closed; requests need a server that was built anew, e.g. from its snapshot")]
pub struct ServerClosed;

/// How many bodies that clients take their time with are read at once: all together they hold less than a gigabyte. The
/// others wait, and those that are there at once do not.
const UPLOADS: usize = 256;

/// How long a watch lasts at least that does not say.
const MINIMAL_WATCH_TIMEOUT: Duration = Duration::from_secs(1800);

// === impl ApiServer ===

impl ApiServer {
    /// A builder of a server with the machine's clock, fresh randomness and no objects but those every cluster has.
    pub fn builder() -> ApiServerBuilder {
        ApiServerBuilder {
            clock: Clock::default(),
            random: Random::default(),
            version: Version::default(),
            snapshot: None,
            data_dir: None,
            watch_history: 4096,
            bookmark_period: Duration::from_secs(60),
            tokens: Vec::new(),
            anonymous: true,
            admission_plugins: AdmissionPlugins::without_accounts(),
            authorization_modes: vec![AuthorizationMode::Rbac],
            service_account_issuers: Vec::new(),
            api_audiences: Vec::new(),
            service_ranges: ServiceRanges::default(),
            feature_gates: FeatureGates::default(),
            webhook_client: WebhookClient::network(),
            webhook_addresses: ServiceAddresses::default(),
        }
    }

    /// The service for `system:admin`, who may do everything.
    #[must_use]
    pub fn service(&self) -> ApiService {
        self.service_as(User::admin())
    }

    /// The service for a user, who may do what RBAC allows.
    #[must_use]
    pub fn service_as(&self, user: User) -> ApiService {
        ApiService { handler: self.handler.clone(), user: Some(Arc::new(user)) }
    }

    /// The service for clients that have to show who they are, by a certificate or a token, as over the network.
    #[must_use]
    pub fn authenticating_service(&self) -> ApiService {
        ApiService { handler: self.handler.clone(), user: None }
    }

    /// Listens on a socket for clients that show who they are. The listener stops when it is dropped.
    ///
    /// Its certificate is also valid for the address of the service `kubernetes`.
    ///
    /// # Errors
    /// If the address cannot be bound, or no certificate can be made for it.
    pub async fn listen(&self, mut options: ListenOptions) -> Result<Listening, ListenError> {
        options.extra_names.push(self.handler.registry.service_ranges.first_address().to_string());
        listener::listen(self.authenticating_service(), options).await
    }

    /// Forgets all versions but the current ones: every open watch ends with `410 Expired`, and so does a new one
    /// from an old version.
    pub fn compact_now(&self) {
        self.handler.registry.store.compact();
    }

    /// The state of this moment. Cheap: it shares the objects with the server.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.handler.registry.store.snapshot()
    }

    /// Stops the server: open watches end, and every later request fails with [`ServerClosed`].
    pub fn close(&self) {
        self.handler.registry.store.close();
    }

    /// Waits until the server cannot keep what is written to it, and says why; for ever without a
    /// [data directory](ApiServerBuilder::data_dir). It is closed then: nothing that a client was told is lost.
    pub async fn failed(&self) -> DataDirError {
        match self.handler.registry.store.ended().await {
            Some(reason) => DataDirError::Write(reason.to_string()),
            None => std::future::pending().await,
        }
    }

    /// The `resourceVersion` of the last write.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.handler.registry.store.revision()
    }

    /// Waits until a write has got the `resourceVersion` `revision` or a later one, or the server is closed: what
    /// a test waits for between two looks.
    pub fn reached(&self, revision: u64) -> impl Future<Output = ()> + Send + use<> {
        self.handler.registry.store.reached(revision)
    }

    /// Creates an object, as `system:admin` and without admission webhooks. It does not wait until the object is on disk.
    ///
    /// # Errors
    /// As a POST of the object: if its kind is not served, its namespace missing, the object invalid or there.
    pub fn create(&self, object: Value) -> Result<Value, Status> {
        self.handler.registry.create_internal(object)
    }
}

// === impl ApiServerBuilder ===

impl ApiServerBuilder {
    /// The clock that timestamps of objects come from. Default: the machine's.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The source of uids and generated names. Default: seeded by the operating system.
    pub fn random(mut self, random: Random) -> Self {
        self.random = random;
        self
    }

    /// The Kubernetes version that the server reports.
    pub fn version(mut self, version: Version) -> Self {
        self.version = version;
        self
    }

    /// Starts with the objects of a snapshot, as after a restart: versions go on, and what a client still knows
    /// from before its snapshot's last change of a resource has expired.
    pub fn restore(mut self, snapshot: Snapshot) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// Keeps the state in a folder, and starts with what is there, in place of a snapshot. Default: nothing outlives the
    /// server.
    ///
    /// A client is answered, and a watch told, when what it is about is on disk. What every cluster has from the start is
    /// created where it is missing, as by a real server that starts again.
    pub fn data_dir(mut self, data_dir: DataDir) -> Self {
        self.data_dir = Some(data_dir);
        self
    }

    /// How many changes of each resource are kept for watches and old lists. Default: 4096.
    pub fn watch_history(mut self, changes: usize) -> Self {
        self.watch_history = changes;
        self
    }

    /// How often a watch that allows bookmarks gets one. Default: a minute.
    pub fn bookmark_period(mut self, period: Duration) -> Self {
        self.bookmark_period = period;
        self
    }

    /// Lets clients of [`ApiServer::authenticating_service`] be `user` by a bearer token; of two users of one token, the
    /// later. [`read_token_file`](crate::authn::read_token_file) reads kube-apiserver's `--token-auth-file`.
    pub fn token(mut self, token: impl Into<String>, user: User) -> Self {
        self.tokens.push((token.into(), user));
        self
    }

    /// Whether clients that do not show who they are come in as `system:anonymous`, or are refused
    /// (kube-apiserver's `--anonymous-auth`). Default: they come in, and RBAC lets them do next to nothing.
    ///
    /// As by a real server, they are refused in any case where [`AuthorizationMode::AlwaysAllow`] is one of the modes.
    pub fn anonymous(mut self, anonymous: bool) -> Self {
        self.anonymous = anonymous;
        self
    }

    /// Who decides what users may do, asked in this order until one allows it (kube-apiserver's
    /// `--authorization-mode`). Default: RBAC. An empty list allows nothing but to `system:masters`.
    pub fn authorization_modes(mut self, modes: impl IntoIterator<Item = AuthorizationMode>) -> Self {
        self.authorization_modes = modes.into_iter().collect();
        self
    }

    /// The names of the issuer of service account tokens (kube-apiserver's `--service-account-issuer`): the server issues
    /// tokens under the first and accepts those of all. Default: `https://kubernetes.default.svc`.
    pub fn service_account_issuers(mut self, issuers: impl IntoIterator<Item = String>) -> Self {
        self.service_account_issuers = issuers.into_iter().collect();
        self
    }

    /// Whom service account tokens must be for to be accepted here (kube-apiserver's `--api-audiences`). Default: the
    /// issuers.
    pub fn api_audiences(mut self, audiences: impl IntoIterator<Item = String>) -> Self {
        self.api_audiences = audiences.into_iter().collect();
        self
    }

    /// The addresses that services get (kube-apiserver's `--service-cluster-ip-range`). Default: `10.96.0.0/12`.
    pub fn service_ranges(mut self, ranges: ServiceRanges) -> Self {
        self.service_ranges = ranges;
        self
    }

    /// Which built-in admission plugins have a say. Default: those of kube-apiserver but `ServiceAccount`, which refuses all pods
    /// where no controller makes accounts.
    pub fn admission_plugins(mut self, plugins: AdmissionPlugins) -> Self {
        self.admission_plugins = plugins;
        self
    }

    /// Which features are on (kube-apiserver's `--feature-gates`). Default: those that are on there.
    pub fn feature_gates(mut self, gates: FeatureGates) -> Self {
        self.feature_gates = gates;
        self
    }

    /// What brings requests to webhooks, in place of the network: any tower service, such as an `axum::Router`.
    ///
    /// A request's URL is the one of the configuration, or `https://<service>.<namespace>.svc:<port>/<path>`. What the
    /// configuration says besides is the [`WebhookTarget`](crate::webhook::WebhookTarget) in its extensions.
    ///
    /// ```
    /// use std::convert::Infallible;
    ///
    /// use bytes::Bytes;
    /// use http::{Request, Response};
    /// use http_body_util::{BodyExt, Full};
    /// use kubewright_apiserver::ApiServer;
    /// use serde_json::{Value, json};
    /// use tower::service_fn;
    ///
    /// // A webhook that allows everything.
    /// let webhook = service_fn(async |request: Request<Full<Bytes>>| {
    ///     let body = request.into_body().collect().await?.to_bytes();
    ///     let review: Value = serde_json::from_slice(&body).unwrap_or_default();
    ///     let answer = json!({
    ///         "apiVersion": "admission.k8s.io/v1",
    ///         "kind": "AdmissionReview",
    ///         "response": {"uid": review["request"]["uid"], "allowed": true},
    ///     });
    ///     Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(answer.to_string()))))
    /// });
    /// let server = ApiServer::builder().webhook_client(webhook).build();
    /// ```
    pub fn webhook_client<S, B>(mut self, service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        self.webhook_client = WebhookClient::new(service);
        self
    }

    /// Where services are that webhooks run behind, for those that are not where their `targetPort` says on this
    /// machine.
    pub fn webhook_addresses(mut self, addresses: ServiceAddresses) -> Self {
        self.webhook_addresses = addresses;
        self
    }

    /// The server. It serves at once.
    #[must_use]
    pub fn build(self) -> ApiServer {
        let is_new = self.snapshot.is_none() || self.data_dir.is_some();
        let secret = self.data_dir.as_ref().map(|data_dir| data_dir.service_account_secret().to_vec());
        let store = match (self.data_dir, &self.snapshot) {
            (Some(data_dir), _) => data_dir.into_store(self.watch_history),
            (None, Some(snapshot)) => Store::restore(snapshot, self.watch_history),
            (None, None) => Store::new(1, self.watch_history),
        };
        let audit = self.random.fork();
        let mut issuer =
            TokenIssuer::new(self.clock.clone(), &self.random).with_issuers(self.service_account_issuers);
        if let Some(secret) = secret {
            issuer = issuer.with_secret(&secret);
        }
        let anonymous = self.anonymous && !self.authorization_modes.contains(&AuthorizationMode::AlwaysAllow);
        let mut authenticator =
            Authenticator::new(issuer).with_audiences(self.api_audiences).with_anonymous(anonymous);
        for (token, user) in self.tokens {
            authenticator = authenticator.with_token(token, user);
        }
        let authorizer =
            Authorizer::new(Arc::new(AccessObjects(store.clone()))).with_modes(self.authorization_modes);
        let admission = Admission::new(
            self.webhook_client,
            self.webhook_addresses,
            store.clone(),
            audit.fork(),
            self.admission_plugins,
        );
        let registry = Registry::new(
            store,
            self.clock,
            self.random,
            authenticator,
            authorizer,
            admission,
            self.service_ranges,
        );
        let handler = Handler {
            registry: Arc::new(registry),
            version: self.version,
            feature_gates: self.feature_gates,
            watch_settings: WatchSettings {
                bookmark_period: self.bookmark_period,
                default_timeout: MINIMAL_WATCH_TIMEOUT,
            },
            audit,
            uploads: Semaphore::new(UPLOADS),
        };
        let server = ApiServer { handler: Arc::new(handler) };
        if is_new {
            bootstrap::create(&server.handler.registry);
        }
        server
    }
}

// === impl ApiService ===

impl<B> Service<Request<B>> for ApiService
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<ApiBody>;
    type Error = ServerClosed;
    type Future = Pin<Box<dyn Future<Output = Result<Response<ApiBody>, ServerClosed>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ServerClosed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let Self { handler, user } = self.clone();
        Box::pin(async move {
            if handler.registry.store.is_closed() {
                return Err(ServerClosed);
            }
            let (mut parts, body) = request.into_parts();
            if let Some(user) = user {
                parts.extensions.insert((*user).clone());
            }
            let body = wire::read(body, &handler.uploads).await;
            Ok(handler.handle(parts, body).await)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::canonical;

    #[test]
    fn what_every_cluster_has_is_in_its_canonical_form() {
        let server = ApiServer::builder().build();
        let registry = &server.handler.registry;
        let mut others = Vec::new();
        let service = serde_json::json!({"apiVersion": "v1", "kind": "Service"});
        for object in bootstrap::objects().into_iter().chain([service]) {
            let text = |field: &str| object[field].as_str().unwrap_or_default();
            let catalog = registry.catalog();
            let served = catalog.by_kind(text("apiVersion"), text("kind")).expect("a kind that is served");
            let listing = registry.store.list(&served.bucket);
            let ty = served.go_type().expect("a built-in kind");
            assert!(listing.range("", "").next().is_some());
            for (key, stored) in listing.range("", "") {
                let mut canonical = stored.value().clone();
                canonical::canonicalize(ty, &mut canonical);
                if *stored.value() != canonical {
                    others.push(format!("{key}: {canonical}"));
                }
            }
        }
        assert!(others.is_empty(), "in canonical form:\n{}", others.join("\n"));
    }
}
