//! HTTP: one request and its answer, tried again where that can help.

use std::{
    convert::Infallible,
    error::Error as StdError,
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use rustls::{ClientConfig, RootCertStore};

use super::{Event, Progress, error::RegistryError};
use crate::spec::Descriptor;

/// How often a request is sent before it has failed.
pub(super) const ATTEMPTS: u32 = 5;

/// How long a connection may take to open.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a request may take, beside the time for its content.
const ANSWER: Duration = Duration::from_secs(60);

/// A connection that is slower than this many bytes a second is taken for a broken one.
const SLOWEST: u64 = 16 << 10;

/// The longest pause that a registry may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The longest answer that is no blob.
const DOCUMENT: u64 = 4 << 20;

/// How many redirections are followed.
const REDIRECTIONS: usize = 5;

/// How much of a body is sent before the progress is told.
const PIECE: usize = 64 << 10;

/// Sends requests.
#[derive(Debug)]
pub(super) struct Transport {
    client: Client<HttpsConnector<HttpConnector>, Body>,
    progress: Progress,
    /// The first pause before another attempt.
    pause: Duration,
    /// Whether anything was ever answered: where nothing was, it is more likely that the name is wrong.
    reached: AtomicBool,
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) url: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Whether to send it again if that may help: not where the registry's state has changed on the way.
    pub(super) repeat: bool,
    /// The blob that is moved by it, how much of that is already there, and how long it is.
    pub(super) moves: Option<(Descriptor, u64)>,
}

impl Request {
    pub(super) fn new(method: Method, url: Uri) -> Self {
        Self { method, url, headers: HeaderMap::new(), body: Bytes::new(), repeat: true, moves: None }
    }

    pub(super) fn header(mut self, name: HeaderName, value: impl TryInto<HeaderValue>) -> Self {
        // What is set here are numbers, digests and media types.
        if let Ok(value) = value.try_into() {
            self.headers.append(name, value);
        }
        self
    }

    pub(super) fn body(mut self, body: Bytes) -> Self {
        self.body = body;
        self
    }

    pub(super) fn once(mut self) -> Self {
        self.repeat = false;
        self
    }
}

/// An answer, read to its end.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// What was asked last, after redirections.
    pub(super) url: Uri,
}

impl Response {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Why there is no answer.
#[derive(Debug)]
struct Failure {
    reason: String,
    /// Whether it may be otherwise the next time.
    passing: bool,
    /// Whether the other side's certificate is the reason.
    untrusted: bool,
}

impl Transport {
    pub(super) fn new(progress: Progress, pause: Duration) -> Result<Self, RegistryError> {
        let mut roots = RootCertStore::empty();
        // What the system trusts, or SSL_CERT_FILE names; a certificate in it that cannot be read is one less.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            roots.add_parsable_certificates(webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().cloned());
        }
        let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| RegistryError::Tls(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_connect_timeout(Some(CONNECT));
        http.set_nodelay(true);
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(config)
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        let client = Client::builder(TokioExecutor::new()).build(connector);
        Ok(Self { client, progress, pause, reached: AtomicBool::new(false) })
    }

    /// Sends `request` until there is an answer that is worth having.
    ///
    /// A request that may be repeated is, after connections that broke and answers that say that the registry is busy or unwell, with growing
    /// pauses. The last answer is given back, whatever its status.
    pub(super) async fn send(&self, request: &Request) -> Result<Response, RegistryError> {
        let mut attempt = 1;
        loop {
            let last = !request.repeat || attempt == ATTEMPTS;
            let (pause, reason) = match self.follow(request).await {
                Ok(response) if last || !is_passing(response.status) => return Ok(response),
                Ok(response) => (asked_pause(&response), format!("it answers {}", response.status)),
                Err(failure) if last || !failure.passing => {
                    let (url, reason) = (without_query(&request.url), failure.reason);
                    return Err(if failure.untrusted {
                        RegistryError::Untrusted { url, reason }
                    } else {
                        RegistryError::Connect { url, reason }
                    });
                }
                Err(failure) => (None, failure.reason),
            };
            self.pause(attempt, pause, &format!("{}: {reason}", without_query(&request.url))).await;
            attempt += 1;
        }
    }

    /// Waits before another attempt, longer after each, and tells so.
    pub(super) async fn pause(&self, attempt: u32, asked: Option<Duration>, reason: &str) {
        let pause = asked.unwrap_or_else(|| self.pause * (1 << attempt.saturating_sub(1).min(5)));
        self.progress.tell(Event::Retry(format!("{reason}; trying again in {} s", pause.as_secs())));
        tokio::time::sleep(pause).await;
    }

    /// Sends `request` and follows where it is sent.
    async fn follow(&self, request: &Request) -> Result<Response, Failure> {
        let mut request = request.clone();
        for _ in 0..=REDIRECTIONS {
            let response = self.once(&request).await?;
            let read = matches!(request.method, Method::GET | Method::HEAD);
            if !response.status.is_redirection() || response.status == StatusCode::NOT_MODIFIED || !read {
                return Ok(response);
            }
            let Some(next) = response.header("location").and_then(|location| resolve(&request.url, location))
            else {
                return Ok(response);
            };
            if request.url.scheme_str() == Some("https") && next.scheme_str() != Some("https") {
                let reason = format!("it redirects to {}, which is not HTTPS", without_query(&next));
                return Err(Failure::new(reason, false));
            }
            if next.authority() != request.url.authority() {
                // A secret is for whom it was given to.
                request.headers.remove(header::AUTHORIZATION);
            }
            request.url = next;
        }
        Err(Failure::new("it redirects again and again".to_owned(), false))
    }

    async fn once(&self, request: &Request) -> Result<Response, Failure> {
        let total = request.moves.as_ref().map_or(0, |(blob, _)| blob.size).max(request.body.len() as u64);
        let within = ANSWER + Duration::from_secs(total / SLOWEST);
        tokio::time::timeout(within, self.exchange(request))
            .await
            .unwrap_or_else(|_| Err(Failure::new(format!("no answer within {} s", within.as_secs()), true)))
    }

    async fn exchange(&self, request: &Request) -> Result<Response, Failure> {
        let mut message = http::Request::new(Body {
            rest: request.body.clone(),
            sent: request.moves.as_ref().map_or(0, |(_, before)| *before),
            moves: (!request.body.is_empty()).then(|| request.moves.clone()).flatten().map(|(blob, _)| blob),
            progress: self.progress.clone(),
        });
        *message.method_mut() = request.method.clone();
        *message.uri_mut() = request.url.clone();
        *message.headers_mut() = request.headers.clone();
        message.headers_mut().insert(header::USER_AGENT, HeaderValue::from_static(USER_AGENT));
        let response = self.client.request(message).await.map_err(|error| {
            let reached = self.reached.load(Ordering::Relaxed);
            Failure::of(&error, reached || !error.is_connect())
        })?;
        self.reached.store(true, Ordering::Relaxed);
        let (parts, mut body) = response.into_parts();
        let blob = request.moves.as_ref().filter(|_| request.body.is_empty() && parts.status.is_success());
        let limit = blob.map_or(DOCUMENT, |(blob, _)| blob.size);
        let mut content = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|error| Failure::of(&error, true))?;
            let Ok(data) = frame.into_data() else { continue };
            if (content.len() + data.len()) as u64 > limit {
                return Err(Failure::new(
                    format!("its answer is longer than the {limit} bytes that are expected"),
                    false,
                ));
            }
            content.extend_from_slice(&data);
            if let Some((blob, _)) = blob {
                self.progress.tell(Event::Moved(blob.clone(), content.len() as u64));
            }
        }
        Ok(Response {
            status: parts.status,
            headers: parts.headers,
            body: content.freeze(),
            url: request.url.clone(),
        })
    }
}

const USER_AGENT: &str = concat!("kubewright/", env!("CARGO_PKG_VERSION"));

/// Whether the same request may be answered otherwise a little later.
pub(super) fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504)
}

/// The pause that a busy registry asks for, if it is in seconds; dates are rare, and would need a clock.
fn asked_pause(response: &Response) -> Option<Duration> {
    let seconds = response.header("retry-after")?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_PAUSE))
}

/// A URL as it can be shown: queries of redirections have signatures.
pub(super) fn without_query(url: &Uri) -> String {
    url.to_string().split('?').next().unwrap_or_default().to_owned()
}

/// What a `Location` means after a request to `base`. On the same host, HTTPS stays HTTPS: behind a proxy that ends TLS, many a registry
/// does not know that it is spoken to with it.
pub(super) fn resolve(base: &Uri, location: &str) -> Option<Uri> {
    let authority = base.authority()?;
    let scheme = base.scheme_str()?;
    if location.starts_with("http://") || location.starts_with("https://") {
        let url: Uri = location.parse().ok()?;
        if url.authority() == Some(authority) && scheme == "https" {
            return format!("https://{authority}{}", url.path_and_query()?).parse().ok();
        }
        return Some(url);
    }
    let path = if location.starts_with('/') {
        location.to_owned()
    } else {
        let folder = base.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        format!("{folder}/{location}")
    };
    format!("{scheme}://{authority}{path}").parse().ok()
}

impl Failure {
    fn new(reason: String, passing: bool) -> Self {
        Self { reason, passing, untrusted: false }
    }

    fn of(error: &(dyn StdError + 'static), passing: bool) -> Self {
        let mut next = Some(error);
        let mut deepest = error.to_string();
        while let Some(error) = next {
            if let Some(tls) = tls_error(error) {
                let untrusted = matches!(tls, rustls::Error::InvalidCertificate(_));
                return Self { reason: tls_advice(tls), passing: false, untrusted };
            }
            deepest = error.to_string();
            next = error.source();
        }
        Self::new(deepest, passing)
    }
}

/// The error of TLS that `error` is, or holds.
fn tls_error<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e rustls::Error> {
    match error.downcast_ref::<io::Error>() {
        // What an I/O error holds is not its source.
        Some(error) => tls_error(error.get_ref()?),
        None => error.downcast_ref(),
    }
}

fn tls_advice(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(why) => why.to_string(),
        rustls::Error::InvalidMessage(_) => {
            "it does not speak HTTPS; if that is intended, plain HTTP must be allowed for it".to_owned()
        }
        _ => format!("TLS failed: {error}"),
    }
}

/// A body that tells how much of it was taken.
#[derive(Debug)]
struct Body {
    rest: Bytes,
    sent: u64,
    moves: Option<Descriptor>,
    progress: Progress,
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let length = self.rest.len().min(PIECE);
        if length == 0 {
            return Poll::Ready(None);
        }
        let piece = self.rest.split_to(length);
        self.sent += length as u64;
        if let Some(blob) = &self.moves {
            self.progress.tell(Event::Moved(blob.clone(), self.sent));
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_resolved_as_urls_are() {
        for (base, location, expected) in [
            (
                "https://r.io/v2/a/blobs/uploads/",
                "/v2/a/blobs/uploads/1?state=x",
                "https://r.io/v2/a/blobs/uploads/1?state=x",
            ),
            ("https://r.io/v2/a/", "1", "https://r.io/v2/a/1"),
            ("https://r.io/v2/a", "https://s.io/b", "https://s.io/b"),
            ("https://r.io/v2/a", "http://r.io/b?c", "https://r.io/b?c"),
            ("https://r.io/v2/a", "http://s.io/b", "http://s.io/b"),
            ("http://127.0.0.1:5000/v2/", "/v2/b", "http://127.0.0.1:5000/v2/b"),
        ] {
            let base = base.parse().expect("a URL");
            assert_eq!(resolve(&base, location).map(|url| url.to_string()), Some(expected.to_owned()));
        }
    }
}
