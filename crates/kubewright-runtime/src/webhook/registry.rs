use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use futures::FutureExt;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use serde_json::{Value, json};
use tokio::{
    sync::{Semaphore, watch},
    time::{Instant, timeout_at},
};
use tokio_util::task::{TaskTracker, task_tracker::TaskTrackerToken};

use super::{
    AdmissionHandler, AdmissionRequest, AdmissionResponse, WebhookHost, WebhookService,
    configuration::{self, Declared},
    conversion::{self, Converter},
    handler::AnyHandler,
    review::Review,
};
use crate::{
    Error, Result,
    metrics::{Metrics, WebhookMetrics},
    panics,
};

/// The webhooks of a process, by path. Clones are the same.
///
/// The manager has one, [`Manager::webhooks`](crate::manager::Manager::webhooks), which it serves. One without a manager
/// ([`Webhooks::new`]) is served by whoever calls its [`service`](Self::service).
#[derive(Clone)]
pub struct Webhooks {
    inner: Arc<Inner>,
}

struct Inner {
    state: Mutex<State>,
    metrics: Metrics,
    phase: watch::Sender<Phase>,
    /// What is being answered.
    running: TaskTracker,
    slots: Semaphore,
}

#[derive(Default)]
struct State {
    /// By path.
    hooks: BTreeMap<String, Arc<Hook>>,
    /// By group and kind.
    converters: BTreeMap<(String, String), Arc<Converter>>,
    declared: Vec<Declared>,
}

struct Hook {
    endpoint: Endpoint,
    metrics: WebhookMetrics,
}

/// What answers at a path.
pub(super) enum Endpoint {
    Admission(Box<dyn AnyHandler>),
    /// All kinds are converted at one path.
    Conversion,
}

/// Whether requests are answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not yet.
    New,
    Serving,
    /// No more.
    Closed,
}

/// A status of an HTTP answer, and why.
type Refusal = (StatusCode, String);

/// The path of all conversions.
const CONVERT: &str = "/convert";

/// The largest admission review: controller-runtime's limit. An object of etcd has 1.5 MiB, and a review holds two of them.
const MOST_BYTES: usize = 7 << 20;

/// The longest that an API server waits for a webhook.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many requests are answered at once; others wait. It bounds what clients can make the process hold.
const MOST_REQUESTS: usize = 512;

// === impl Webhooks ===

impl Webhooks {
    /// No webhooks yet. They are answered from the start, for a server that is not the manager's.
    #[must_use]
    pub fn new(metrics: Metrics) -> Self {
        let webhooks = Self::waiting(metrics);
        webhooks.open();
        webhooks
    }

    /// Webhooks whose requests wait until they are [opened](Self::open).
    pub(crate) fn waiting(metrics: Metrics) -> Self {
        let inner = Inner {
            state: Mutex::default(),
            metrics,
            phase: watch::Sender::new(Phase::New),
            running: TaskTracker::new(),
            slots: Semaphore::new(MOST_REQUESTS),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Lets a handler answer at a path.
    ///
    /// # Errors
    ///
    /// If the path is taken, or does not begin with a slash.
    pub fn handle(&self, path: impl Into<String>, handler: impl AdmissionHandler) -> Result<()> {
        self.add(path.into(), Endpoint::Admission(Box::new(handler)))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().hooks.is_empty()
    }

    /// The paths at which something answers.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        self.lock().hooks.keys().cloned().collect()
    }

    /// The names of the definitions whose objects are converted.
    pub(crate) fn converted(&self) -> Vec<String> {
        self.lock().converters.values().map(|converter| converter.definition()).collect()
    }

    /// The webhook configurations that the [`Webhook`](super::Webhook)s would have by markers that say nothing out of the
    /// ordinary: creations and changes of the kind, `failurePolicy: Fail`, by the service `service` in `namespace`.
    ///
    /// An operator is deployed with the configurations of its markers (`kubewright generate webhook`). These are for tests and
    /// for trying things out.
    #[must_use]
    pub fn configurations(&self, namespace: &str, service: &str) -> Vec<Value> {
        let declared = self.lock().declared.clone();
        configuration::documents(&declared, service, &json!({"namespace": namespace, "name": service}))
    }

    /// The webhooks as a tower service, for a server of one's own or for a caller in the same process.
    ///
    /// Requests wait until the webhooks are served, which those of a manager are while it runs, and fail as refused
    /// connections do when they are no more.
    #[must_use]
    pub fn service(&self) -> WebhookService {
        WebhookService::new(self.clone())
    }

    pub(super) fn add(&self, path: String, endpoint: Endpoint) -> Result<()> {
        if !path.starts_with('/') {
            return Err(Error::setup(format!("the path of a webhook begins with a slash, not as {path:?}")));
        }
        let metrics = self.inner.metrics.webhook(&path);
        let mut state = self.lock();
        if state.hooks.contains_key(&path) {
            return Err(Error::setup(format!(
                "two webhooks are to answer at {path}: register each once, or give one another path"
            )));
        }
        state.hooks.insert(path, Arc::new(Hook { endpoint, metrics }));
        Ok(())
    }

    pub(super) fn declare(&self, declared: Declared) {
        self.lock().declared.push(declared);
    }

    pub(super) fn convert(&self, converter: Converter) -> Result<()> {
        let (group, kind) = converter.group_kind();
        let key = (group.to_owned(), kind.to_owned());
        if self.lock().converters.contains_key(&key) {
            let (group, kind) = key;
            return Err(Error::setup(format!(
                "{kind} of the group {group:?} has two hubs: give all its spokes to one webhook"
            )));
        }
        if !self.lock().hooks.contains_key(CONVERT) {
            self.add(CONVERT.to_owned(), Endpoint::Conversion)?;
        }
        self.lock().converters.insert(key, Arc::new(converter));
        Ok(())
    }

    /// Finds kinds with versions that cannot be converted.
    pub(crate) fn check(&self, versions: impl Fn(&str, &str) -> BTreeSet<String>) -> Result<()> {
        let converters: Vec<_> = self.lock().converters.values().cloned().collect();
        converters.iter().try_for_each(|converter| {
            let (group, kind) = converter.group_kind();
            converter.check(&versions(group, kind))
        })
    }

    /// Lets requests be answered.
    pub(crate) fn open(&self) {
        self.inner.phase.send_replace(Phase::Serving);
    }

    /// Answers no new requests.
    pub(crate) fn close(&self) {
        self.inner.phase.send_replace(Phase::Closed);
    }

    /// Whether requests are answered now.
    #[must_use]
    pub fn is_serving(&self) -> bool {
        *self.inner.phase.borrow() == Phase::Serving
    }

    /// Whether requests were answered and are no more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        *self.inner.phase.borrow() == Phase::Closed
    }

    /// Waits until requests are answered; false if they never will be again.
    pub(super) async fn opened(&self) -> bool {
        let mut phase = self.inner.phase.subscribe();
        // The sender lives as long as this does.
        let phase = phase.wait_for(|phase| *phase != Phase::New).await;
        phase.is_ok_and(|phase| *phase == Phase::Serving)
    }

    /// Something that [`drained`](Self::drained) waits for.
    pub(super) fn running(&self) -> TaskTrackerToken {
        self.inner.running.token()
    }

    /// Waits until all requests that were taken have their answers.
    pub(crate) async fn drained(&self) {
        self.inner.running.close();
        self.inner.running.wait().await;
    }

    /// Answers a request.
    pub(crate) async fn respond<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: Body<Data: Send, Error: Into<tower::BoxError>>,
    {
        let _running = self.running();
        let hook = self.lock().hooks.get(request.uri().path()).cloned();
        let Some(hook) = hook else {
            return refused(
                StatusCode::NOT_FOUND,
                &format!("no webhook answers at {}", request.uri().path()),
            );
        };
        let measured = hook.metrics.request();
        let response = match self.answer(&hook, request).await {
            Ok(review) => json_response(StatusCode::OK, &review),
            Err((status, reason)) => {
                tracing::warn!(status = status.as_u16(), reason, "bad request to a webhook");
                refused(status, &reason)
            }
        };
        measured.answered(response.status().as_u16());
        response
    }

    async fn answer<B>(&self, hook: &Hook, request: Request<B>) -> Result<Value, Refusal>
    where
        B: Body<Data: Send, Error: Into<tower::BoxError>>,
    {
        if request.method() != Method::POST {
            return Err((StatusCode::METHOD_NOT_ALLOWED, "webhooks are called by POST".to_owned()));
        }
        let content_type =
            request.headers().get(header::CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        if content_type != b"application/json" {
            let content_type = String::from_utf8_lossy(content_type);
            return Err((
                StatusCode::BAD_REQUEST,
                format!("contentType={content_type}, expected application/json"),
            ));
        }
        let deadline = Instant::now() + patience(request.uri().query());
        let late =
            || (StatusCode::GATEWAY_TIMEOUT, "the webhook did not get to the request in time".to_owned());
        let body = async {
            // Closed never.
            let slot = self.inner.slots.acquire().await.ok();
            let body = match hook.endpoint {
                Endpoint::Admission(_) => read(Limited::new(request.into_body(), MOST_BYTES)).await,
                // A list comes as one review, however long it is.
                Endpoint::Conversion => read(request.into_body().map_err(Into::into)).await,
            };
            body.map(|body| (slot, body))
        };
        let (_slot, body) = timeout_at(deadline, body).await.map_err(|_| late())??;
        let bad = |reason: String| (StatusCode::BAD_REQUEST, reason);
        match &hook.endpoint {
            Endpoint::Admission(handler) => {
                let review = Review::admission(&body).map_err(bad)?;
                let response = self.admit(&**handler, &review.request, deadline).await;
                Ok(review.answer(&response))
            }
            Endpoint::Conversion => {
                let review = Review::conversion(&body).map_err(bad)?;
                let find = |group: &str, kind: &str| {
                    self.lock().converters.get(&(group.to_owned(), kind.to_owned())).cloned()
                };
                let converting = conversion::convert(&review.request, find);
                let converted = timeout_at(deadline, converting).await.map_err(|_| late())?;
                let converted = converted.map_err(|failure| {
                    if failure.panicked {
                        self.inner.metrics.conversion_panicked();
                    }
                    tracing::error!(error = failure.message, "cannot convert objects");
                    failure.message
                });
                Ok(review.answer(converted))
            }
        }
    }

    /// Asks a handler, which may panic or take too long.
    async fn admit(
        &self,
        handler: &dyn AnyHandler,
        request: &AdmissionRequest,
        deadline: Instant,
    ) -> AdmissionResponse {
        // Made inside of the guard: the call itself may panic.
        let asked = AssertUnwindSafe(async { handler.handle(request.clone()).await }).catch_unwind();
        match timeout_at(deadline, asked).await {
            Ok(Ok(response)) => response,
            Ok(Err(panic)) => {
                self.inner.metrics.webhook_panicked();
                let panic = panics::message(&*panic);
                tracing::error!(panic, kind = request.kind.kind, name = request.name, "a webhook panicked");
                AdmissionResponse::errored(500, format!("panic: {panic} [recovered]"))
            }
            Err(_) => AdmissionResponse::errored(504, "the webhook did not decide in time"),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WebhookHost for Webhooks {
    fn webhooks(&self) -> &Webhooks {
        self
    }
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhooks").field("paths", &self.paths()).finish_non_exhaustive()
    }
}

/// How long the API server waits for the answer, as it says in `?timeout=10s`.
fn patience(query: Option<&str>) -> Duration {
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    let said = pairs.filter(|(name, _)| name == "timeout").find_map(|(_, value)| {
        let duration: kube::core::Duration = value.parse().ok()?;
        (!duration.is_negative()).then(|| Duration::from(duration))
    });
    said.filter(|said| !said.is_zero()).map_or(PATIENCE, |said| said.min(PATIENCE))
}

async fn read<B>(body: B) -> Result<Bytes, Refusal>
where
    B: Body<Data: Send, Error = tower::BoxError>,
{
    let body = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) if error.is::<LengthLimitError>() => {
            let reason = format!("request entity is too large; limit is {MOST_BYTES} bytes");
            return Err((StatusCode::PAYLOAD_TOO_LARGE, reason));
        }
        Err(error) => return Err((StatusCode::BAD_REQUEST, format!("the body cannot be read: {error}"))),
    };
    match body.is_empty() {
        true => Err((StatusCode::BAD_REQUEST, "request body is empty".to_owned())),
        false => Ok(body),
    }
}

/// A refusal of the HTTP request itself, as a `Status`: the API server tells its client the message.
fn refused(status: StatusCode, reason: &str) -> Response<Full<Bytes>> {
    let body = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "message": reason, "code": status.as_u16(),
    });
    json_response(status, &body)
}

fn json_response(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
