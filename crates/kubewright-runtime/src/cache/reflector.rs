use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use kube::core::{Status, WatchEvent};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    backoff::WatchBackoff,
    decode::identity_of,
    list_watch::{ListWatch, WatchStream},
    sink::Sink,
    status::WatchState,
};
use crate::{
    client::{ClientError, Operation},
    metrics::WatchMetrics,
};

/// The server answers or refuses within a minute; without an answer well after that there is none to come.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(90);

/// A watch that ends earlier without having sent an object counts as failed, lest the next one follow at once,
/// and the next.
const SHORTEST_WATCH: Duration = Duration::from_secs(1);

/// Marks the bookmark after the last initial object of a streaming list.
const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// Keeps one partition of an informer in step with the server, for ever: lists, watches from the version of
/// the list, watches on from the last version it saw when a watch ends, and lists again when the server no
/// longer knows that version.
pub(super) struct Reflector {
    list_watch: ListWatch,
    sink: Box<dyn Sink>,
    state: Arc<WatchState>,
    metrics: Arc<WatchMetrics>,
    backoff: WatchBackoff,
    page_size: Option<u32>,
    streaming_lists: bool,
    position: Position,
    /// Whether a version expired and nothing has gone well since. Then the next expiry is not retried at once.
    expired: bool,
    /// Whether the next list is to come in one piece, because the pages of the last one expired.
    unpaged: bool,
}

/// Up to where the sink has seen everything.
#[derive(Debug)]
enum Position {
    /// It must be listed.
    Unknown,
    At(String),
}

/// Why a round did not go well.
enum Trouble {
    /// The server no longer knows the version, or the page, that was asked for.
    Expired(Failure),
    Failed(Failure),
}

struct Failure {
    message: String,
    /// How long the server asks to wait.
    retry_after: Duration,
    /// Whether the server would say the same to a request of another form.
    overloaded: bool,
}

impl Reflector {
    pub(super) fn new(
        list_watch: ListWatch,
        sink: Box<dyn Sink>,
        state: Arc<WatchState>,
        metrics: Arc<WatchMetrics>,
        backoff: WatchBackoff,
    ) -> Self {
        Self {
            list_watch,
            sink,
            state,
            metrics,
            backoff,
            page_size: None,
            streaming_lists: false,
            position: Position::Unknown,
            expired: false,
            unpaged: false,
        }
    }

    pub(super) fn with_lists(mut self, page_size: Option<u32>, streaming_lists: bool) -> Self {
        self.page_size = page_size;
        self.streaming_lists = streaming_lists;
        self
    }

    /// Runs until `stop`.
    pub(super) async fn run(mut self, stop: CancellationToken) {
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = self.reflect() => {}
        }
    }

    async fn reflect(&mut self) {
        loop {
            let failure = match self.round().await {
                Ok(()) => continue,
                Err(Trouble::Failed(failure)) => failure,
                Err(Trouble::Expired(failure)) => {
                    self.position = Position::Unknown;
                    if !std::mem::replace(&mut self.expired, true) {
                        tracing::debug!(watch = %self.state.status(), reason = failure.message, "listing again");
                        continue;
                    }
                    failure
                }
            };
            let delay = self.backoff.delay(Instant::now()).max(failure.retry_after);
            self.state.set_failed(failure.message);
            self.metrics.set_failing(true);
            tracing::warn!(watch = %self.state.status(), ?delay, "a watch failed");
            sleep(delay).await;
        }
    }

    /// One list, or one watch from its start to its end.
    async fn round(&mut self) -> Result<(), Trouble> {
        match &self.position {
            Position::At(version) => {
                let version = version.clone();
                let stream = self.open(&version, false).await?;
                self.follow(stream, false).await
            }
            Position::Unknown if self.streaming_lists => {
                match self.stream_list().await {
                    Err(Trouble::Failed(failure)) if !failure.overloaded => {
                        // The server may not know streaming lists, or a proxy may not let them through.
                        tracing::info!(
                            watch = %self.state.status(),
                            reason = failure.message,
                            "the streaming list failed; listing instead from now on"
                        );
                        self.streaming_lists = false;
                        self.list().await
                    }
                    result => result,
                }
            }
            Position::Unknown => self.list().await,
        }
    }

    /// Lists page by page.
    async fn list(&mut self) -> Result<(), Trouble> {
        self.begin();
        let limit = if std::mem::take(&mut self.unpaged) { None } else { self.page_size };
        let mut continue_token = None;
        loop {
            let going_on = continue_token.is_some();
            let operation = self.list_watch.operation("list");
            let answer = timeout(ANSWER_TIMEOUT, self.list_watch.list(limit, continue_token.take())).await;
            let sink = &mut self.sink;
            let page = settle(&operation, answer).and_then(|page| {
                let page = page.read(|object| sink.stage(object));
                page.map_err(|error| failed(&operation, kube::Error::SerdeError(error)))
            });
            let page = match page {
                Ok(page) => page,
                Err(trouble) => {
                    self.unpaged = going_on && matches!(trouble, Trouble::Expired(_));
                    return Err(trouble);
                }
            };
            continue_token = page.continue_.filter(|token| !token.is_empty());
            if continue_token.is_none() {
                let version = page.resource_version.filter(|version| !version.is_empty());
                let Some(version) = version else {
                    return Err(Trouble::Failed(Failure::new(format!(
                        "cannot {operation}: the list has no resourceVersion, so the resource cannot be watched"
                    ))));
                };
                self.sink.commit();
                self.reached(version);
                return Ok(());
            }
        }
    }

    /// Watches with the present objects sent first.
    async fn stream_list(&mut self) -> Result<(), Trouble> {
        self.begin();
        let stream = self.open("", true).await?;
        self.follow(stream, true).await
    }

    fn begin(&mut self) {
        if self.state.is_synced() {
            self.metrics.restarted();
        }
        self.sink.begin();
    }

    async fn open(&mut self, version: &str, initial_events: bool) -> Result<WatchStream, Trouble> {
        let answer = timeout(ANSWER_TIMEOUT, self.list_watch.watch(version, initial_events)).await;
        let stream = settle(&self.list_watch.operation("watch"), answer)?;
        self.state.set_open();
        self.metrics.set_failing(false);
        Ok(stream)
    }

    /// Takes events until the watch ends. While `listing`, they are the present objects.
    async fn follow(&mut self, mut stream: WatchStream, mut listing: bool) -> Result<(), Trouble> {
        let operation = self.list_watch.operation("watch");
        let started = Instant::now();
        let mut progress = false;
        loop {
            let silence = if listing { ANSWER_TIMEOUT } else { self.list_watch.longest_silence() };
            let event = match timeout(silence, stream.next()).await {
                Ok(Some(event)) => event,
                Ok(None) | Err(_) if listing => {
                    let reason = "the watch ended before the end of its initial events";
                    return Err(Trouble::Failed(Failure::new(format!("cannot {operation}: {reason}"))));
                }
                Ok(None) if !progress && started.elapsed() < SHORTEST_WATCH => {
                    let reason = "the server closed the watch at once, without an event";
                    return Err(Trouble::Failed(Failure::new(format!("cannot {operation}: {reason}"))));
                }
                // The server ends every watch some day. A dead connection looks like silence.
                Ok(None) | Err(_) => return Ok(()),
            };
            if started.elapsed() >= SHORTEST_WATCH {
                self.expired = false;
            }
            match event {
                Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)) if listing => {
                    self.sink.stage(object);
                }
                Ok(WatchEvent::Deleted(_)) if listing => {}
                Ok(WatchEvent::Added(object) | WatchEvent::Modified(object)) => {
                    let version = self.version_of(&operation, identity_of(&object).resource_version)?;
                    self.sink.apply(object);
                    self.reached(version);
                    progress = true;
                }
                Ok(WatchEvent::Deleted(object)) => {
                    let version = self.version_of(&operation, identity_of(&object).resource_version)?;
                    self.sink.delete(object);
                    self.reached(version);
                    progress = true;
                }
                Ok(WatchEvent::Bookmark(bookmark)) => {
                    if listing && bookmark.metadata.annotations.contains_key(INITIAL_EVENTS_END) {
                        self.sink.commit();
                        listing = false;
                        progress = true;
                    }
                    if !listing {
                        self.reached(bookmark.metadata.resource_version);
                    }
                }
                Ok(WatchEvent::Error(status)) => return Err(refused(&operation, *status)),
                // The event that could not be read is lost, so the watch cannot just go on.
                Err(error @ kube::Error::SerdeError(_)) => {
                    self.position = Position::Unknown;
                    return Err(failed(&operation, error));
                }
                Err(error) if progress || started.elapsed() >= SHORTEST_WATCH => {
                    tracing::debug!(watch = %self.state.status(), %error, "the watch broke; watching on");
                    return if listing { Err(failed(&operation, error)) } else { Ok(()) };
                }
                Err(error) => return Err(failed(&operation, error)),
            }
        }
    }

    /// The version of an event's object, without which the watch could not be resumed after it.
    fn version_of(&mut self, operation: &Operation, version: Option<&str>) -> Result<String, Trouble> {
        version.map(str::to_owned).ok_or_else(|| {
            self.position = Position::Unknown;
            Trouble::Failed(Failure::new(format!(
                "cannot {operation}: an object came without a resourceVersion"
            )))
        })
    }

    /// Everything up to `version` is in the sink.
    fn reached(&mut self, version: String) {
        if matches!(self.position, Position::At(_)) {
            self.expired = false;
        }
        self.sink.reached(&version);
        self.position = Position::At(version);
    }
}

// === impl Trouble ===

/// Turns the outcome of a request into its answer or the trouble.
fn settle<T>(
    operation: &Operation,
    answer: Result<Result<T, kube::Error>, tokio::time::error::Elapsed>,
) -> Result<T, Trouble> {
    match answer {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(kube::Error::Api(status))) => Err(refused(operation, *status)),
        Ok(Err(error)) => Err(failed(operation, error)),
        Err(_) => {
            let message = format!("cannot {operation}: no answer within {ANSWER_TIMEOUT:?}");
            Err(Trouble::Failed(Failure { overloaded: true, ..Failure::new(message) }))
        }
    }
}

fn refused(operation: &Operation, status: Status) -> Trouble {
    let code = status.code;
    let seconds = status.details.as_ref().map_or(0, |details| details.retry_after_seconds);
    let expired = code == 410 || matches!(status.reason.as_str(), "Expired" | "Gone");
    let mut message = ClientError::from_kube(operation, kube::Error::Api(Box::new(status))).to_string();
    if code == 404 {
        message.push_str("; the server does not serve the kind in this version: is its CRD installed?");
    }
    let failure = Failure {
        message,
        retry_after: Duration::from_secs(u64::from(seconds)),
        overloaded: matches!(code, 429 | 500 | 502 | 503 | 504),
    };
    if expired { Trouble::Expired(failure) } else { Trouble::Failed(failure) }
}

fn failed(operation: &Operation, error: kube::Error) -> Trouble {
    let overloaded =
        matches!(error, kube::Error::HyperError(_) | kube::Error::Service(_) | kube::Error::ReadEvents(_));
    let message = ClientError::from_kube(operation, error).to_string();
    Trouble::Failed(Failure { overloaded, ..Failure::new(message) })
}

impl Failure {
    fn new(message: String) -> Self {
        Self { message, retry_after: Duration::ZERO, overloaded: false }
    }
}
