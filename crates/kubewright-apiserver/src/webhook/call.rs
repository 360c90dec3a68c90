use std::{error::Error, io, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, Uri, header};
use http_body_util::Full;
use kubewright_schema::error::go;
use rustls::{CertificateError, Error as TlsError};
use serde_json::Value;

use super::{BoxError, ClientConfig, WebhookTarget, Webhooks};
use crate::{
    admission::KindName,
    types::strict,
    wire::{decode, yaml},
};

/// How often a webhook may send elsewhere, as often as Go's client goes.
const MOST_REDIRECTS: usize = 10;

/// Why a call brought no answer, in the words of kube-apiserver.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct CallError(pub(crate) String);

impl Webhooks {
    /// Posts a review, and gives the one of `kind` that comes back. The webhook is told how long it may take.
    ///
    /// # Errors
    /// If there is no answer in time, or one that is no such review.
    pub(crate) async fn post(
        &self,
        config: &ClientConfig,
        timeout: Duration,
        review: &Value,
        kind: KindName<'_>,
    ) -> Result<Value, CallError> {
        let url = format!("{}?timeout={}s", config.url, timeout.as_secs());
        let not_sent = |url: &str, why: &str| CallError(format!("Post {}: {why}", go::quote(url)));
        let target = WebhookTarget {
            service: config.service.clone(),
            ca_bundle: config.ca_bundle.clone(),
            address: config.service.as_ref().map(|service| self.addresses.find(&self.store, service)),
        };
        let body = Full::new(Bytes::from(review.to_string()));
        let mut uri = url.parse::<Uri>().map_err(|error| not_sent(&url, &error.to_string()))?;
        // Whom an error blames: who was asked last.
        let mut asked = url;
        let mut method = Method::POST;
        let calling = async {
            for redirects in 1..=MOST_REDIRECTS {
                let request = Request::builder()
                    .method(&method)
                    .uri(&uri)
                    .header(header::ACCEPT, "application/json, */*")
                    .header(header::CONTENT_TYPE, "application/json")
                    .header(header::USER_AGENT, "kube-apiserver-admission")
                    .extension(target.clone())
                    .body(if method == Method::POST { body.clone() } else { Full::default() })?;
                let response = self.client.send(request).await?;
                let Some((location, next)) = redirected(&uri, &response) else { return Ok(response) };
                if !matches!(response.status().as_u16(), 307 | 308) {
                    method = Method::GET;
                }
                asked = if redirects == MOST_REDIRECTS { location } else { next.to_string() };
                uri = next;
            }
            Err(BoxError::from("stopped after 10 redirects"))
        };
        let response = tokio::time::timeout(timeout, calling).await;
        let response = response
            .map_err(|_| not_sent(&asked, "context deadline exceeded"))?
            .map_err(|error| not_sent(&asked, &reason(&error)))?;
        read(&response, kind)
    }
}

/// Where an answer says to ask instead, in its words and as a whole.
fn redirected(from: &Uri, response: &Response<Bytes>) -> Option<(String, Uri)> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(header::LOCATION)?.to_str().ok()?;
    let next: Uri = location.parse().ok()?;
    if next.scheme().is_some() {
        return Some((location.to_owned(), next));
    }
    let mut parts = from.clone().into_parts();
    parts.path_and_query = next.into_parts().path_and_query;
    Some((location.to_owned(), Uri::from_parts(parts).ok()?))
}

/// Reads an answer, which is to be of this kind.
fn read(response: &Response<Bytes>, kind: KindName<'_>) -> Result<Value, CallError> {
    let code = response.status().as_u16();
    if !(200..=206).contains(&code) {
        return Err(CallError(refusal(response)));
    }
    let body = response.body();
    if body.is_empty() {
        return Err(CallError(format!(
            "0-length response with status code: {code} and content type: {}",
            content_type(response)
        )));
    }
    let unreadable = |why: String| CallError(format!("couldn't get version/kind; json parse error: {why}"));
    let value = match strict::decode(body, None) {
        Ok(decoded) => decoded.value,
        // Whatever the content type says, the answer may be YAML.
        Err(error) => yaml::parse(body).map_err(|_| unreadable(error.to_string()))?,
    };
    if !(value.is_object() || value.is_null()) {
        return Err(unreadable(format!(
            "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \
             \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
            go::kind(&value)
        )));
    }
    let text = |field: &str| value[field].as_str().unwrap_or_default();
    let (group_version, found) = (text("apiVersion"), text("kind"));
    if !found.is_empty() && !group_version.is_empty() {
        let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
        if group != kind.group || found != kind.kind {
            return Err(CallError(decode::no_such_kind(found, group_version)));
        }
        if version != kind.version {
            return Err(CallError(format!(
                "converting ({version}.{found}) to ({}.{}): unknown conversion",
                kind.version, kind.kind
            )));
        }
    }
    let Some(ty) = kind.go_type() else { return Ok(value) };
    let decoded = strict::decode(value.to_string().as_bytes(), Some(ty));
    Ok(decoded.map_err(|error| CallError(error.to_string()))?.value)
}

fn content_type(response: &Response<Bytes>) -> &str {
    let value = response.headers().get(header::CONTENT_TYPE);
    value.and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// What client-go says of an answer that is none.
fn refusal(response: &Response<Bytes>) -> String {
    let code = response.status().as_u16();
    let is_text = content_type(response).starts_with("text/");
    let body = String::from_utf8_lossy(response.body());
    let message = if is_text { body.trim() } else { "unknown" };
    // What is a refusal of an API server speaks for itself.
    if let Ok(status) = serde_json::from_slice::<Value>(response.body())
        && status["kind"] == "Status"
        && status["status"] == "Failure"
        && let Some(text) = status["message"].as_str()
    {
        return text.to_owned();
    }
    match code {
        400 => "the server rejected our request for an unknown reason".to_owned(),
        401 => "the server has asked for the client to provide credentials".to_owned(),
        403 | 406 | 415 => message.to_owned(),
        404 => "the server could not find the requested resource".to_owned(),
        405 => "the server does not allow this method on the requested resource".to_owned(),
        409 => "the server reported a conflict".to_owned(),
        422 => "the server rejected our request due to an error in our request".to_owned(),
        429 => "the server has received too many requests and has asked us to try again later".to_owned(),
        503 => "the server is currently unable to handle the request".to_owned(),
        504 => "the server was unable to return a response in the time allotted, but may still be processing the \
                request"
            .to_owned(),
        500.. => format!(
            "an error on the server ({}) has prevented the request from succeeding",
            go::quote(message)
        ),
        _ => format!("the server responded with the status code {code} but did not return more information"),
    }
}

/// The innermost reason why a request was not answered.
fn reason(error: &BoxError) -> String {
    let mut innermost: &(dyn Error + 'static) = error.as_ref();
    loop {
        if let Some(tls) = innermost.downcast_ref::<TlsError>() {
            return tls_reason(tls);
        }
        let inner = match innermost.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => innermost.source(),
        };
        match inner {
            Some(inner) => innermost = inner,
            None => return innermost.to_string(),
        }
    }
}

/// What Go says about a certificate.
fn tls_reason(error: &TlsError) -> String {
    let TlsError::InvalidCertificate(why) = error else { return format!("tls: {error}") };
    let why = match why {
        CertificateError::UnknownIssuer => "certificate signed by unknown authority".to_owned(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names: Vec<&str> =
                presented.iter().map(|name| name.split('"').nth(1).unwrap_or(name.as_str())).collect();
            format!("certificate is valid for {}, not {}", names.join(", "), expected.to_str())
        }
        other => other.to_string(),
    };
    format!("tls: failed to verify certificate: x509: {why}")
}
