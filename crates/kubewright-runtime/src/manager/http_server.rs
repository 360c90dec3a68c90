use std::{
    convert::Infallible,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};

use super::{
    access::Access,
    reporter::Reporter,
    runnable::{Group, Runnable},
};
use crate::{
    Result,
    certificates::ServingCertificate,
    health::HealthChecks,
    metrics::{CONTENT_TYPE, Metrics},
    webhook::Webhooks,
};

/// What is served to those who may read it.
#[derive(Clone)]
pub(super) struct Pages {
    pub(super) metrics: Metrics,
    pub(super) reporter: Reporter,
}

/// A server of the operator: probes, metrics, diagnostics or webhooks.
pub(super) struct HttpServer {
    listener: TcpListener,
    routes: Routes,
    protocol: Protocol,
    certificate: Option<ServingCertificate>,
}

type Routes = Arc<dyn Fn(Request<Incoming>) -> BoxFuture<'static, Response<Full<Bytes>>> + Send + Sync>;

/// What is spoken on a connection.
#[derive(Clone)]
struct Protocol {
    tls: Option<TlsAcceptor>,
    http: auto::Builder<TokioExecutor>,
}

/// Go's limit in controller-runtime: a client has to have sent its headers by then.
const HEADER_TIMEOUT: Duration = Duration::from_secs(32);

// === impl HttpServer ===

impl HttpServer {
    /// `/healthz` and `/readyz`.
    pub(super) fn probes(listener: TcpListener, healthz: HealthChecks, readyz: HealthChecks) -> Self {
        let respond = move |request: &Request<()>| {
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
        let routes = pages(move |request| std::future::ready(respond(&request)).boxed());
        Self { listener, routes, protocol: Protocol::plain(), certificate: None }
    }

    /// `/metrics`, for everybody.
    pub(super) fn metrics(listener: TcpListener, metrics: Metrics) -> Self {
        let routes = pages(move |request| std::future::ready(respond_metrics(&metrics, &request)).boxed());
        Self { listener, routes, protocol: Protocol::plain(), certificate: None }
    }

    /// `/debug`, for everybody.
    pub(super) fn debug(listener: TcpListener, reporter: Reporter) -> Self {
        let routes = pages(move |request| std::future::ready(respond_debug(&reporter, &request)).boxed());
        Self { listener, routes, protocol: Protocol::plain(), certificate: None }
    }

    /// `/metrics` and `/debug` by HTTPS, each for those whom `access` lets pass.
    pub(super) fn secure(
        listener: TcpListener,
        pages: Pages,
        access: Access,
        certificate: ServingCertificate,
        http2: bool,
    ) -> Result<Self> {
        let access = Arc::new(access);
        let routes = self::pages(move |request| {
            let (pages, access) = (pages.clone(), access.clone());
            async move {
                let path = request.uri().path();
                if matches!(path, "/metrics" | "/debug")
                    && let Err((status, reason)) =
                        access.check(request.method(), path, request.headers()).await
                {
                    return refusal(status, &reason);
                }
                match path {
                    "/debug" => respond_debug(&pages.reporter, &request),
                    _ => respond_metrics(&pages.metrics, &request),
                }
            }
            .boxed()
        });
        let protocol = Protocol::secure(certificate.acceptor(http2)?, http2);
        Ok(Self { listener, routes, protocol, certificate: Some(certificate) })
    }

    /// Webhooks, by HTTPS.
    pub(super) fn webhooks(
        listener: TcpListener,
        webhooks: Webhooks,
        certificate: ServingCertificate,
        http2: bool,
    ) -> Result<Self> {
        let routes: Routes = Arc::new(move |request| {
            let webhooks = webhooks.clone();
            async move { webhooks.respond(request).await }.boxed()
        });
        let protocol = Protocol::secure(certificate.acceptor(http2)?, http2);
        Ok(Self { listener, routes, protocol, certificate: Some(certificate) })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> Result<SocketAddr> {
        Ok(self.listener.local_addr()?)
    }
}

impl Runnable for HttpServer {
    async fn run(self, stop: CancellationToken) -> Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let _watch = self.certificate.map(|certificate| {
            AbortOnDropHandle::new(tokio::spawn(async move { certificate.watch().await }))
        });
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
            let (protocol, routes, stop) = (self.protocol.clone(), self.routes.clone(), stop.clone());
            connections.spawn(async move { protocol.serve(stream, routes, stop).await });
        }
        connections.close();
        connections.wait().await;
        Ok(())
    }

    fn group(&self) -> Group {
        Group::Servers
    }
}

// === impl Protocol ===

impl Protocol {
    fn plain() -> Self {
        let mut http = auto::Builder::new(TokioExecutor::new()).http1_only();
        http.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
        Self { tls: None, http }
    }

    /// HTTP/2 only where it is asked for: clients can make a server work for requests that they take back at once.
    fn secure(tls: TlsAcceptor, http2: bool) -> Self {
        let mut protocol = Self { tls: Some(tls), ..Self::plain() };
        if http2 {
            protocol.http = auto::Builder::new(TokioExecutor::new());
            protocol.http.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
        }
        protocol
    }

    async fn serve(self, stream: TcpStream, routes: Routes, stop: CancellationToken) {
        let Some(tls) = &self.tls else { return self.speak(stream, routes, stop).await };
        let handshake = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            handshake = timeout(HEADER_TIMEOUT, tls.accept(stream)) => handshake,
        };
        match handshake {
            Ok(Ok(stream)) => self.speak(stream, routes, stop).await,
            Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
            Err(_) => tracing::debug!("a TLS handshake took too long"),
        }
    }

    async fn speak(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        routes: Routes,
        stop: CancellationToken,
    ) {
        let service = service_fn(move |request: Request<Incoming>| {
            let routes = routes.clone();
            async move { Ok::<_, Infallible>(routes(request).await) }
        });
        let connection = self.http.serve_connection(TokioIo::new(stream), service);
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
}

/// Routes to texts, which can be read alone.
fn pages(
    page: impl Fn(Request<()>) -> BoxFuture<'static, Response<String>> + Send + Sync + 'static,
) -> Routes {
    Arc::new(move |request| {
        let response = if matches!(*request.method(), Method::GET | Method::HEAD) {
            page(request.map(drop))
        } else {
            let mut response = Response::new("method not allowed\n".to_owned());
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("GET, HEAD"));
            std::future::ready(response).boxed()
        };
        response.map(|response| response.map(|body| Full::new(Bytes::from(body)))).boxed()
    })
}

fn respond_metrics(metrics: &Metrics, request: &Request<()>) -> Response<String> {
    if request.uri().path() != "/metrics" {
        return not_found();
    }
    let mut response = Response::new(metrics.encode());
    let content_type = header::HeaderValue::from_static(CONTENT_TYPE);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// The report as text or, if asked for, as JSON.
fn respond_debug(reporter: &Reporter, request: &Request<()>) -> Response<String> {
    if request.uri().path() != "/debug" {
        return not_found();
    }
    let report = reporter.report();
    let accept = request.headers().get(header::ACCEPT).and_then(|accept| accept.to_str().ok());
    let (body, content_type) = if accept.is_some_and(|accept| accept.contains("application/json")) {
        match serde_json::to_string(&report) {
            Ok(json) => (json, "application/json"),
            Err(error) => return refusal(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    } else {
        (report.to_string(), "text/plain; charset=utf-8")
    };
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    response
}

fn not_found() -> Response<String> {
    let mut response = Response::new("404 page not found\n".to_owned());
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// As Go's `http.Error`.
fn refusal(status: StatusCode, reason: &str) -> Response<String> {
    let mut response = Response::new(format!("{reason}\n"));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, header::HeaderValue::from_static("nosniff"));
    response
}
