use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::{BodyExt, Either, Full};
use kubewright_world::Random;
use tower::{BoxError, Service, ServiceExt};

use super::{
    Conditions, Fault, Faults, Process,
    body::{TransportBody, Watch},
    faults::{Draw, happens},
    history::History,
};

/// A client's connection to the service `S`, recorded and made to misbehave.
#[derive(Clone, Debug)]
pub struct Transport<S> {
    service: S,
    client: String,
    history: History,
    conditions: Conditions,
    random: Random,
    process: Process,
}

/// What the client sees when the network fails.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The connection broke before or after the server acted: the client cannot know which.
    #[error("connection reset by peer")]
    Reset,
    /// A watch broke off.
    #[error("unexpected end of the watch stream")]
    WatchCut,
    /// The service itself failed.
    #[error("{0}")]
    Service(BoxError),
}

impl<S> Transport<S> {
    /// The connection of the client named `client`, as its lines in `history` show. The decisions that `faults`
    /// call for are drawn from `random`.
    pub fn new(
        service: S,
        client: impl Into<String>,
        history: History,
        faults: Faults,
        random: Random,
    ) -> Self {
        Self::of_process(service, client, history, Conditions::new(faults), random, Process::default())
    }

    /// The same for a process that may die, under faults that change.
    pub(crate) fn of_process(
        service: S,
        client: impl Into<String>,
        history: History,
        conditions: Conditions,
        random: Random,
        process: Process,
    ) -> Self {
        Self { service, client: client.into(), history, conditions, random, process }
    }
}

/// The body of an answer: the service's, or that of an error which the network made up.
type Answer<B> = Either<TransportBody<B>, Full<Bytes>>;

impl<S, Q, B> Service<Request<Q>> for Transport<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    Q: Body<Data = Bytes> + Send + 'static,
    Q::Error: Into<BoxError>,
    B: Body<Data = Bytes> + Unpin + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Answer<B>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // Each request waits for the service in its own future.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        let connection = self.clone();
        // Drawn here and not in the future: the order of calls decides, not that of polls.
        let faults = self.conditions.faults();
        let draw = faults.draw(&self.random);
        let crash = happens(faults.crashes, &self.random);
        Box::pin(async move { connection.carry(request, draw, crash).await })
    }
}

impl<S> Transport<S> {
    async fn carry<Q, B>(
        self,
        request: Request<Q>,
        draw: Draw,
        crash: bool,
    ) -> Result<Response<Answer<B>>, BoxError>
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>>,
        S::Error: Into<BoxError>,
        Q: Body<Data = Bytes>,
        Q::Error: Into<BoxError>,
        B: Body<Data = Bytes>,
    {
        let (parts, body) = request.into_parts();
        let body = body.collect().await.map_err(Into::into)?.to_bytes();
        let path = parts.uri.path_and_query().map_or("/", http::uri::PathAndQuery::as_str).to_owned();
        let what = format!("{} {path} {}", parts.method, String::from_utf8_lossy(&body));
        let is_watch = parts.method == Method::GET && path.contains("watch=true");
        let is_write = !matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS);
        let method = parts.method.clone();
        let inject = |fault| self.conditions.inject(fault, format_args!("{} {} {path}", self.client, method));
        if !draw.delay.is_zero() && inject(Fault::Delayed) {
            tokio::time::sleep(draw.delay).await;
        }
        if self.process.is_dead() {
            return std::future::pending().await;
        }
        let record = |outcome: std::fmt::Arguments<'_>| {
            self.history.record(&self.client, format_args!("{what} -> {outcome}"));
        };
        let fault = draw.fault.filter(|fault| inject(*fault));
        match fault {
            Some(Fault::LostRequest) => {
                record(format_args!("lost"));
                return Err(TransportError::Reset.into());
            }
            Some(Fault::ServerError) => {
                record(format_args!("500"));
                return Ok(refusal(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "InternalError",
                    "etcdserver: request timed out",
                ));
            }
            Some(Fault::Throttled) => {
                record(format_args!("429"));
                let text = "too many requests, please try again later";
                return Ok(refusal(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests", text));
            }
            // A watch without a version has nothing that could be too old.
            _ if draw.expired && is_watch && has_version(&path) && inject(Fault::Expired) => {
                record(format_args!("410"));
                return Ok(refusal(StatusCode::GONE, "Expired", "too old resource version: 1 (2)"));
            }
            _ => {}
        }
        let request = Request::from_parts(parts, Full::new(body));
        let response = self.service.oneshot(request).await.map_err(Into::into)?;
        if is_write
            && response.status().is_success()
            && (self.process.wrote() || crash && inject(Fault::Crash))
        {
            record(format_args!("{}, and the process is dead", response.status().as_u16()));
            self.process.die();
            return std::future::pending().await;
        }
        if fault == Some(Fault::LostAnswer) {
            record(format_args!("{} lost", response.status().as_u16()));
            return Err(TransportError::Reset.into());
        }
        record(format_args!("{}", response.status().as_u16()));
        let Self { client, history, conditions, random, process, .. } = self;
        Ok(response.map(|body| {
            Either::Left(if is_watch {
                TransportBody::watched(body, Watch::new(client, path, history, conditions, random, process))
            } else {
                TransportBody::whole(body)
            })
        }))
    }
}

/// Whether a watch begins at a version, and not with everything there is.
fn has_version(path: &str) -> bool {
    let version = path.split(['?', '&']).find_map(|part| part.strip_prefix("resourceVersion="));
    version.is_some_and(|version| !matches!(version, "" | "0"))
}

/// An error that the server, or something before it, answers without acting.
fn refusal<B>(code: StatusCode, reason: &str, message: &str) -> Response<Answer<B>> {
    let mut status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code.as_u16(),
    });
    let is_temporary = code != StatusCode::GONE;
    if is_temporary {
        status["details"] = serde_json::json!({"retryAfterSeconds": 1});
    }
    let mut response = Response::new(Either::Right(Full::new(Bytes::from(status.to_string()))));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    if is_temporary {
        headers.insert(header::RETRY_AFTER, header::HeaderValue::from_static("1"));
    }
    response
}

#[cfg(test)]
mod tests {
    use std::{convert::Infallible, time::Duration};

    use tower::service_fn;

    use super::*;

    async fn statuses(faults: Faults, seed: u64) -> (Vec<String>, String) {
        let echo = service_fn(|request: Request<Full<Bytes>>| async move {
            Ok::<_, Infallible>(Response::new(
                request.into_body().map_err(|never| -> BoxError { match never {} }).boxed_unsync(),
            ))
        });
        let history = History::new();
        let mut transport = Transport::new(echo, "test", history.clone(), faults, Random::seeded(seed));
        let mut outcomes = Vec::new();
        for index in 0..50 {
            let request = Request::get(format!("/things/{index}"))
                .body(Full::new(Bytes::from("{}")))
                .expect("a request");
            outcomes.push(match transport.call(request).await {
                Ok(response) => response.status().as_u16().to_string(),
                Err(error) => error.to_string(),
            });
        }
        (outcomes, history.text())
    }

    #[tokio::test(start_paused = true)]
    async fn one_seed_gives_one_history_and_another_gives_another() {
        let (outcomes, history) = statuses(Faults::storm(), 4).await;
        assert_eq!((outcomes.clone(), history), statuses(Faults::storm(), 4).await);
        assert_ne!(outcomes, statuses(Faults::storm(), 5).await.0);
        assert!(outcomes.iter().any(|outcome| outcome == "connection reset by peer"), "{outcomes:?}");
        assert!(outcomes.iter().any(|outcome| outcome == "200"), "{outcomes:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_delay_passes_in_virtual_time() {
        let started = tokio::time::Instant::now();
        let faults = Faults { delayed: 1000, longest_delay: Duration::from_secs(60), ..Faults::none() };
        let (outcomes, _) = statuses(faults, 1).await;
        assert!(outcomes.iter().all(|outcome| outcome == "200"));
        assert!(started.elapsed() > Duration::from_secs(60));
    }
}
