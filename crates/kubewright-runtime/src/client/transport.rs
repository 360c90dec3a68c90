use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};
use http_body_util::BodyExt;
use kube::core::Status;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tracing::Instrument;

use super::{ClientError, Operation};

/// One HTTP request, as data.
pub(super) struct Call {
    pub(super) operation: Operation,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: Vec<(&'static str, String)>,
    pub(super) accept: &'static str,
    pub(super) content_type: &'static str,
    pub(super) body: Vec<u8>,
}

pub(super) const JSON: &str = "application/json";
pub(super) const APPLY_PATCH: &str = "application/apply-patch+yaml";
pub(super) const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
pub(super) const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";

impl Call {
    pub(super) fn new(operation: Operation, method: Method, path: String) -> Self {
        Self {
            operation,
            method,
            path,
            query: Vec::new(),
            accept: JSON,
            content_type: JSON,
            body: Vec::new(),
        }
    }

    pub(super) fn query(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.query.push((name, value.into()));
        self
    }

    pub(super) fn accept(mut self, accept: &'static str) -> Self {
        self.accept = accept;
        self
    }

    pub(super) fn body(mut self, content_type: &'static str, body: Vec<u8>) -> Self {
        self.content_type = content_type;
        self.body = body;
        self
    }

    /// Sends the request and returns the body of a successful answer.
    ///
    /// Every error status becomes [`ClientError::Api`], also when the body is no `Status`, as that of a
    /// proxy or of a path that the server does not serve.
    pub(super) async fn send(&self, client: &kube::Client, timeout: Duration) -> Result<Bytes, ClientError> {
        let answer = async {
            let response = client.send(self.request()?).await.map_err(|error| self.failed(error))?;
            let (head, body) = response.into_parts();
            let body = body.collect().await.map_err(|error| self.failed(error))?.to_bytes();
            Ok::<_, ClientError>((head, body))
        };
        let answer = tokio::time::timeout(timeout, answer).instrument(self.span());
        let Ok(answer) = answer.await else {
            return Err(ClientError::Timeout { operation: Box::new(self.operation.clone()), timeout });
        };
        let (head, body) = answer?;
        log_warnings(&head.headers, &self.operation);
        if head.status.is_success() {
            return Ok(body);
        }
        let status = Box::new(read_status(head.status, &body));
        Err(ClientError::Api { operation: Box::new(self.operation.clone()), status })
    }

    /// One step of a reconciliation's trace. At the level of debug, so that the lines of a log do not carry it.
    fn span(&self) -> tracing::Span {
        let Operation { verb, group, resource, subresource, namespace, name } = &self.operation;
        let subresource = subresource.as_deref();
        tracing::debug_span!(
            "request",
            otel.name = format!("{verb} {resource}"),
            otel.kind = "client",
            verb,
            group,
            resource,
            subresource,
            requestNamespace = namespace.as_deref(),
            requestName = name.as_deref(),
        )
    }

    fn request(&self) -> Result<http::Request<kube::client::Body>, ClientError> {
        let mut target = self.path.clone();
        if !self.query.is_empty() {
            target.push('?');
            let query = self.query.iter().map(|(name, value)| (*name, value.as_str()));
            target.push_str(&form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish());
        }
        let mut request =
            http::Request::builder().method(&self.method).uri(target).header(header::ACCEPT, self.accept);
        if !self.body.is_empty() {
            request = request.header(header::CONTENT_TYPE, self.content_type);
        }
        request.body(self.body.clone().into()).map_err(|error| ClientError::BadObject {
            operation: Box::new(self.operation.clone()),
            reason: format!("the namespace or the name does not fit into a path: {error}"),
        })
    }

    fn failed(&self, error: kube::Error) -> ClientError {
        ClientError::from_kube(&self.operation, error)
    }
}

/// Reads an object out of the answer to `operation`.
pub(super) fn decode<T: DeserializeOwned>(operation: &Operation, body: &[u8]) -> Result<T, ClientError> {
    serde_json::from_slice(body)
        .map_err(|source| ClientError::Decode { operation: Box::new(operation.clone()), source })
}

/// Writes the object of `operation`.
pub(super) fn encode(operation: &Operation, object: &impl Serialize) -> Result<Vec<u8>, ClientError> {
    serde_json::to_vec(object)
        .map_err(|source| ClientError::Encode { operation: Box::new(operation.clone()), source })
}

fn read_status(code: StatusCode, body: &[u8]) -> Status {
    match serde_json::from_slice::<Status>(body) {
        Ok(status) if status.is_failure() || !status.reason.is_empty() || !status.message.is_empty() => {
            let code = if status.code == 0 { code.as_u16() } else { status.code };
            status.with_code(code)
        }
        _ => {
            let text = String::from_utf8_lossy(body);
            let message = match text.trim() {
                "" => code.canonical_reason().unwrap_or("an answer without a body"),
                text => text,
            };
            Status::failure(message, "").with_code(code.as_u16())
        }
    }
}

/// Logs what the server warns of (a deprecated version, an unknown field), as client-go does.
fn log_warnings(headers: &HeaderMap, operation: &Operation) {
    for warning in headers.get_all(header::WARNING) {
        // `299 - "text"`; other codes are those of caches on the way.
        let Some(text) = warning.to_str().ok().and_then(|warning| warning.strip_prefix("299 ")) else {
            continue;
        };
        let text = text.split_once('"').map_or(text, |(_agent, text)| text.trim_end_matches('"'));
        tracing::warn!(%operation, "the API server warns: {text}");
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use http::HeaderValue;

    use super::*;
    use crate::{Request, client::Target};

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic under the lock").extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn warnings_of_the_server_are_logged() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        let mut headers = HeaderMap::new();
        headers.append(header::WARNING, HeaderValue::from_static("299 - \"unknown field \\\"spec.x\\\"\""));
        headers.append(header::WARNING, HeaderValue::from_static("110 - \"a stale cache on the way\""));
        let target = Target::of::<k8s_openapi::api::core::v1::ConfigMap>();
        let operation = target.on("create", &Request::namespaced("shop", "cart"));
        tracing::subscriber::with_default(subscriber, || log_warnings(&headers, &operation));
        let text = String::from_utf8(lines.0.lock().expect("no panic").clone()).expect("utf-8");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(text.contains("WARN") && text.contains("the API server warns: unknown field"), "{text}");
    }
}
