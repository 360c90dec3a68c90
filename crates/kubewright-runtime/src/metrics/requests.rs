use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use http::{Method, Request, Response};
use pin_project_lite::pin_project;
use tokio::time::Instant;
use tower::{Layer, Service};

use super::Metrics;

/// Counts requests to one API server (`rest_client_requests_total`) and measures them
/// (`rest_client_request_duration_seconds`).
#[derive(Clone)]
pub struct RequestMetrics {
    metrics: Metrics,
    host: String,
}

/// A tower layer that counts what passes through it. Put it inside of retries, to count each attempt.
#[derive(Clone, Debug)]
pub struct RequestMetricsLayer {
    metrics: RequestMetrics,
}

/// What [`RequestMetricsLayer`] makes of a service.
#[derive(Clone, Debug)]
pub struct CountRequests<S> {
    inner: S,
    metrics: RequestMetrics,
}

pin_project! {
    /// The answer to a counted request.
    pub struct CountedResponse<F> {
        #[pin]
        inner: F,
        method: Method,
        started: Instant,
        metrics: RequestMetrics,
    }
}

// === impl RequestMetrics ===

impl RequestMetrics {
    pub(super) fn new(metrics: Metrics, host: String) -> Self {
        Self { metrics, host }
    }

    /// The layer that counts.
    #[must_use]
    pub fn layer(&self) -> RequestMetricsLayer {
        RequestMetricsLayer { metrics: self.clone() }
    }

    /// A request was answered after this time with this status code; `None` if no answer came, which client-go reports
    /// as `<error>`.
    pub fn answered(&self, method: &Method, code: Option<u16>, took: Duration) {
        let families = &self.metrics.shared.families;
        let labels = [("host", self.host.clone()), ("verb", method.to_string())];
        families.request_duration.get_or_create(&labels).observe(took.as_secs_f64());
        let code = code.map_or_else(|| "<error>".to_owned(), |code| code.to_string());
        let labels = [("code", code), ("host", self.host.clone()), ("method", method.to_string())];
        families.requests.get_or_create(&labels).inc();
    }
}

impl fmt::Debug for RequestMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestMetrics").field("host", &self.host).finish_non_exhaustive()
    }
}

// === impl RequestMetricsLayer ===

impl<S> Layer<S> for RequestMetricsLayer {
    type Service = CountRequests<S>;

    fn layer(&self, inner: S) -> Self::Service {
        CountRequests { inner, metrics: self.metrics.clone() }
    }
}

// === impl CountRequests ===

impl<S, B, R> Service<Request<B>> for CountRequests<S>
where
    S: Service<Request<B>, Response = Response<R>>,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = CountedResponse<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (method, started) = (request.method().clone(), Instant::now());
        CountedResponse { inner: self.inner.call(request), method, started, metrics: self.metrics.clone() }
    }
}

// === impl CountedResponse ===

impl<F, R, E> Future for CountedResponse<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let answer = ready!(this.inner.poll(context));
        let code = answer.as_ref().ok().map(|answer| answer.status().as_u16());
        this.metrics.answered(this.method, code, this.started.elapsed());
        Poll::Ready(answer)
    }
}

impl<F> fmt::Debug for CountedResponse<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CountedResponse").field("method", &self.method).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tower::{ServiceBuilder, ServiceExt, service_fn};

    use super::*;

    #[tokio::test]
    async fn answers_and_failures_are_counted_by_code_method_and_host() {
        let metrics = Metrics::new();
        let mut service = ServiceBuilder::new().layer(metrics.requests("10.96.0.1:443").layer()).service(
            service_fn(|request: Request<()>| async move {
                match request.uri().path() {
                    "/down" => Err("connection refused"),
                    _ => Ok(Response::builder().status(404).body(()).expect("a response")),
                }
            }),
        );
        for path in ["/down", "/missing"] {
            let request = Request::get(path).body(()).expect("a request");
            let _ = service.ready().await.expect("ready").call(request).await;
        }
        let text = metrics.encode();
        for code in ["404", "<error>"] {
            let series = format!(
                "rest_client_requests_total{{code=\"{code}\",host=\"10.96.0.1:443\",method=\"GET\"}} 1\n"
            );
            assert!(text.contains(&series), "{series} is missing in\n{text}");
        }
        let series =
            "rest_client_request_duration_seconds_bucket{host=\"10.96.0.1:443\",verb=\"GET\",le=\"60\"} 2\n";
        assert!(text.contains(series), "{series} is missing in\n{text}");
    }
}
