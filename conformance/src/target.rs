//! Who answers: the embedded server, or a real one.

use std::{
    path::{Path, PathBuf},
    sync::LazyLock,
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use hyper_util::{client::legacy::Client, rt::TokioExecutor};
use jiff::Timestamp;
use kube::{
    Config,
    client::ConfigExt,
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::{AdmissionPlugins, ApiServer, Snapshot, User};
use kubewright_world::{Clock, Random};
use serde_json::Value;
use tower::{ServiceExt, service_fn};

use crate::{case::Case, player::PlayError, webhooks::Webhooks};

/// A server to send requests to.
#[derive(Clone, Debug)]
pub struct Target {
    server: Server,
    clock: Clock,
    webhooks: Webhooks,
}

#[derive(Clone)]
enum Server {
    Embedded(ApiServer),
    Real { url: String, client: HttpsClient },
}

/// A client that sends each request once. Those of kube repeat what a server refuses for the moment.
type HttpsClient = tower::util::BoxCloneSyncService<
    Request<Full<Bytes>>,
    Response<hyper::body::Incoming>,
    hyper_util::client::legacy::Error,
>;

/// The body of an answer, perhaps one that does not end.
pub(crate) type AnswerBody = UnsyncBoxBody<Bytes, PlayError>;

/// Users with a token of the server's file of tokens, which both servers read.
const USERS: &str = include_str!("../corpus/users.csv");

/// When the embedded server's clock starts.
const EPOCH: &str = "2030-01-01T00:00:00Z";

// === impl Target ===

impl Target {
    /// An embedded server for one case: with the objects that every cluster and every case has.
    #[must_use]
    pub fn embedded(case: &Case) -> Self {
        static BASE: LazyLock<Snapshot> = LazyLock::new(base);
        let webhooks = Webhooks::in_process();
        let clock = Clock::starting_at(EPOCH.parse().unwrap_or(Timestamp::MAX));
        let seed =
            case.name.bytes().fold(7_u64, |seed, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let mut builder = ApiServer::builder()
            .clock(clock.clone())
            .random(Random::seeded(seed))
            .restore(BASE.clone())
            .admission_plugins(plugins(case.more_plugins));
        if !case.webhooks.is_empty() {
            let webhooks = webhooks.clone();
            builder = builder.webhook_client(service_fn(move |request| webhooks.clone().answer(request)));
        }
        for (token, user) in users() {
            builder = builder.token(token, user);
        }
        Self { server: Server::Embedded(builder.build()), clock, webhooks }
    }

    /// A real server.
    ///
    /// # Errors
    /// If the kubeconfig cannot be used.
    pub async fn real(kubeconfig: &Path) -> Result<Self, PlayError> {
        let unusable = |error: &dyn std::fmt::Display| PlayError::Connection(error.to_string());
        let kubeconfig = Kubeconfig::read_from(kubeconfig).map_err(|error| unusable(&error))?;
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .map_err(|error| unusable(&error))?;
        let connector = config.rustls_https_connector().map_err(|error| unusable(&error))?;
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let url = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let client = tower::util::BoxCloneSyncService::new(client);
        let webhooks = Webhooks::listen().await?;
        Ok(Self { server: Server::Real { url, client }, clock: Clock::system(), webhooks })
    }

    /// Whether the server goes on after the case, with what the case leaves behind.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.server, Server::Real { .. })
    }

    /// The time by which the server stamps.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The webhooks that the server reaches.
    pub(crate) fn webhooks(&self) -> &Webhooks {
        &self.webhooks
    }

    /// How long one waits before a request is repeated.
    pub(crate) fn pause(&self) -> Duration {
        Duration::from_millis(if self.is_shared() { 50 } else { 1 })
    }

    /// Sends a request in the name of a user.
    pub(crate) async fn send(
        &self,
        mut request: Request<Bytes>,
        user: &str,
    ) -> Result<Response<AnswerBody>, PlayError> {
        if user != "nobody" && !request.headers().contains_key(header::AUTHORIZATION) {
            let (token, _) = users()
                .find(|(_, own)| own.name == user)
                .ok_or_else(|| PlayError::Missing(format!("user {user}")))?;
            let value = HeaderValue::from_str(&format!("Bearer {token}"));
            request
                .headers_mut()
                .insert(header::AUTHORIZATION, value.map_err(|error| PlayError::Request(error.to_string()))?);
        }
        let failed = |error: &dyn std::fmt::Display| PlayError::Connection(error.to_string());
        match &self.server {
            Server::Embedded(server) => {
                let response = server.authenticating_service().oneshot(request.map(Full::new)).await;
                let response = response.map_err(|error| failed(&error))?;
                Ok(response.map(|body| body.map_err(|error| match error {}).boxed_unsync()))
            }
            Server::Real { url, client } => {
                let uri = format!("{url}{}", request.uri()).parse();
                *request.uri_mut() = uri.map_err(|error: http::uri::InvalidUri| failed(&error))?;
                let response = client.clone().oneshot(request.map(Full::new)).await;
                let response = response.map_err(|error| failed(&error))?;
                Ok(response.map(|body| {
                    body.map_err(|error| PlayError::Connection(error.to_string())).boxed_unsync()
                }))
            }
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Embedded(_) => "Embedded",
            Self::Real { .. } => "Real",
        })
    }
}

/// The users of the corpus, by their tokens.
fn users() -> impl Iterator<Item = (&'static str, User)> {
    USERS.lines().filter_map(|line| {
        let (plain, groups) = line.split_once(",\"").unwrap_or((line, ""));
        let mut fields = plain.split(',');
        let (token, name, uid) = (fields.next()?, fields.next()?, fields.next()?);
        let groups = groups.trim_end_matches('"').split(',').filter(|group| !group.is_empty());
        let user = User {
            name: name.to_owned(),
            uid: uid.to_owned(),
            groups: groups.map(ToOwned::to_owned).collect(),
            ..User::default()
        };
        Some((token, user))
    })
}

/// Objects that are there before each case, on either server: a definition that cases without one of their own use.
///
/// # Panics
/// If the file of the corpus is not YAML.
#[must_use]
pub fn fixtures() -> Vec<Value> {
    serde_saphyr::from_multiple(include_str!("../corpus/fixtures.yaml")).expect("the fixtures are YAML")
}

/// Admission plugins that are on for the cases that say so. Otherwise the corpus does without service accounts, as no
/// controller makes any.
pub const MORE_PLUGINS: [&str; 3] =
    ["ServiceAccount", "OwnerReferencesPermissionEnforcement", "DenyServiceExternalIPs"];

fn plugins(more: bool) -> AdmissionPlugins {
    let plugins = if more {
        AdmissionPlugins::new(MORE_PLUGINS, [""; 0])
    } else {
        AdmissionPlugins::new([""; 0], ["ServiceAccount"])
    };
    plugins.expect("the names are those of plugins")
}

fn base() -> Snapshot {
    let epoch: Timestamp = EPOCH.parse().unwrap_or(Timestamp::MAX);
    // The clock need not move: the fixtures are made at once.
    let server = ApiServer::builder().clock(Clock::starting_at(epoch)).random(Random::seeded(1)).build();
    for object in fixtures() {
        let name = object["metadata"]["name"].to_string();
        server.create(object).unwrap_or_else(|status| panic!("fixture {name}: {status}"));
    }
    server.snapshot()
}

/// A folder or file of the corpus.
#[must_use]
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}
