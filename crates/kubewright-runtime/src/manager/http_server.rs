use std::{convert::Infallible, net::TcpListener, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::runnable::{Group, Runnable};
use crate::{
    Result,
    health::HealthChecks,
    metrics::{CONTENT_TYPE, Metrics},
};

/// A small server of text: probes or metrics.
pub(super) struct HttpServer {
    listener: TcpListener,
    routes: Routes,
}

type Routes = Arc<dyn Fn(&Request<()>) -> Response<String> + Send + Sync>;

/// Go's limit in controller-runtime: a client has to have sent its headers by then.
const HEADER_TIMEOUT: Duration = Duration::from_secs(32);

// === impl HttpServer ===

impl HttpServer {
    /// `/healthz` and `/readyz`.
    pub(super) fn probes(listener: TcpListener, healthz: HealthChecks, readyz: HealthChecks) -> Self {
        let routes = move |request: &Request<()>| {
            let path = request.uri().path();
            let under = |root: &str| {
                path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if under("/healthz") {
                healthz.respond("/healthz", request)
            } else if under("/readyz") {
                readyz.respond("/readyz", request)
            } else {
                not_found()
            }
        };
        Self { listener, routes: Arc::new(routes) }
    }

    /// `/metrics`.
    pub(super) fn metrics(listener: TcpListener, metrics: Metrics) -> Self {
        let routes = move |request: &Request<()>| {
            if request.uri().path() != "/metrics" {
                return not_found();
            }
            let mut response = Response::new(metrics.encode());
            let content_type = header::HeaderValue::from_static(CONTENT_TYPE);
            response.headers_mut().insert(header::CONTENT_TYPE, content_type);
            response
        };
        Self { listener, routes: Arc::new(routes) }
    }
}

impl Runnable for HttpServer {
    async fn run(self, stop: CancellationToken) -> Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let connections = TaskTracker::new();
        loop {
            let accepted = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                accepted = listener.accept() => accepted,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // The connection was lost before it was ours, or the process has too many files open.
                    // Either passes; a pause keeps the latter from becoming a loop.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            };
            connections.spawn(serve(stream, self.routes.clone(), stop.clone()));
        }
        connections.close();
        connections.wait().await;
        Ok(())
    }

    fn group(&self) -> Group {
        Group::Servers
    }
}

async fn serve(stream: tokio::net::TcpStream, routes: Routes, stop: CancellationToken) {
    let service = service_fn(move |request: Request<Incoming>| {
        let response = respond(&routes, &request.map(drop));
        async move { Ok::<_, Infallible>(response) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        biased;
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

fn respond(routes: &Routes, request: &Request<()>) -> Response<Full<Bytes>> {
    let response = if matches!(*request.method(), Method::GET | Method::HEAD) {
        routes(request)
    } else {
        let mut response = Response::new("method not allowed\n".to_owned());
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET, HEAD"));
        response
    };
    response.map(|body| Full::new(Bytes::from(body)))
}

fn not_found() -> Response<String> {
    let mut response = Response::new("404 page not found\n".to_owned());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}
