//! The webhooks of cases: what they answer is data of the case, and what they are asked is kept for it to look at.
//!
//! The embedded server asks them in process, a real one over TLS at a listener on loopback.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures::FutureExt;
use http::{Request, Response, header};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{
    listener::{self, CertificateAuthority, ListenOptions, Listening},
    patch,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tower::service_fn;

use crate::{case::Case, player::PlayError};

/// How a webhook answers. Without a word it allows, and converts by the apiVersion alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Webhook {
    /// Fields of the response, beside or in place of those that it has anyway.
    pub response: Map<String, Value>,
    /// A JSON patch of the object of an admission review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Value>,
    /// JSON patches of objects that are converted, by the version into which.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub convert: BTreeMap<String, Value>,
    /// A merge patch of the whole answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<Value>,
    /// What is sent in place of a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The HTTP status. Default: 200.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The `Content-Type`. Default: `application/json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Another webhook of the case, to which the caller is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Whether there is no answer at all.
    pub hang: bool,
}

/// The webhooks of the cases that are played at the moment.
#[derive(Clone, Debug)]
pub(crate) struct Webhooks {
    known: Arc<Mutex<BTreeMap<String, Known>>>,
    /// `host:port`.
    address: String,
    /// The certificate that callers are to trust.
    ca: String,
    _listening: Option<Arc<Listening>>,
}

#[derive(Debug)]
struct Known {
    webhook: Webhook,
    asked: Vec<Value>,
}

// === impl Webhooks ===

impl Webhooks {
    /// Webhooks that are asked in process.
    pub(crate) fn in_process() -> Self {
        // It is never looked at, but it has to be one.
        static CA: LazyLock<String> = LazyLock::new(|| {
            CertificateAuthority::generate()
                .map_or_else(|_| String::new(), |ca| ca.certificate_pem().to_owned())
        });
        Self { known: Arc::default(), address: "127.0.0.1:9443".to_owned(), ca: CA.clone(), _listening: None }
    }

    /// Webhooks on a port of the loopback address.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) async fn listen() -> Result<Self, PlayError> {
        let known: Arc<Mutex<BTreeMap<String, Known>>> = Arc::default();
        let asked = known.clone();
        let service = service_fn(move |request| answer(asked.clone(), request));
        let listening = listener::listen(service, ListenOptions::default())
            .await
            .map_err(|error| PlayError::Connection(error.to_string()))?;
        let ca = listening.ca_pem().unwrap_or_default().to_owned();
        Ok(Self {
            known,
            address: listening.address().to_string(),
            ca,
            _listening: Some(Arc::new(listening)),
        })
    }

    /// Answers a call in process.
    pub(crate) async fn answer(
        self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Full<Bytes>>, Infallible> {
        answer(self.known, request).await
    }

    /// Lets the webhooks of a case be asked.
    pub(crate) fn install(&self, case: &Case) {
        let mut known = lock(&self.known);
        for (name, webhook) in &case.webhooks {
            let path = format!("/{}/{name}", case.name);
            known.insert(path, Known { webhook: webhook.clone(), asked: Vec::new() });
        }
    }

    /// What a webhook of a case was asked since the last time, and where.
    pub(crate) fn asked(&self, case: &str, name: &str) -> Option<Value> {
        let mut known = lock(&self.known);
        let asked = &mut known.get_mut(&format!("/{case}/{name}"))?.asked;
        Some(Value::Array(std::mem::take(asked)))
    }

    /// What cases refer to as `$(hooks.url)` and `$(hooks.ca)`.
    pub(crate) fn variables(&self, case: &str) -> Value {
        json!({"url": format!("https://{}/{case}", self.address), "ca": STANDARD.encode(&self.ca)})
    }

    /// Takes out of a value where the webhooks are.
    pub(crate) fn hide(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let ca = STANDARD.encode(&self.ca);
                if text.contains(&self.address) || text.contains(&ca) {
                    *text = text.replace(&self.address, "<hooks>").replace(&ca, "<ca>");
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide(item)),
            Value::Object(fields) => fields.values_mut().for_each(|value| self.hide(value)),
            _ => {}
        }
    }
}

fn lock(known: &Mutex<BTreeMap<String, Known>>) -> MutexGuard<'_, BTreeMap<String, Known>> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer<B>(
    known: Arc<Mutex<BTreeMap<String, Known>>>,
    request: Request<B>,
) -> Result<Response<Full<Bytes>>, Infallible>
where
    B: Body<Data = Bytes>,
{
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let review: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (path, query) = (head.uri.path(), head.uri.query().unwrap_or_default());
    let webhook = lock(&known).get_mut(path).map(|known| {
        known.asked.push(json!({"query": query, "review": review}));
        known.webhook.clone()
    });
    let Some(webhook) = webhook else {
        return Ok(response(404, "text/plain", "no such webhook".to_owned(), None));
    };
    if webhook.hang {
        return std::future::pending().map(Ok).await;
    }
    let location = webhook.location.as_ref().map(|name| match path.rsplit_once('/') {
        Some((case, _)) => format!("{case}/{name}"),
        None => name.clone(),
    });
    let body = webhook.raw.clone().unwrap_or_else(|| webhook.review(&review).to_string());
    let content_type = webhook.content_type.as_deref().unwrap_or("application/json");
    Ok(response(webhook.status.unwrap_or(200), content_type, body, location))
}

fn response(
    status: u16,
    content_type: &str,
    body: String,
    location: Option<String>,
) -> Response<Full<Bytes>> {
    let mut response = Response::builder().status(status).header(header::CONTENT_TYPE, content_type);
    if let Some(location) = location {
        response = response.header(header::LOCATION, location);
    }
    response.body(Full::new(body.into())).expect("a status and headers of a case")
}

// === impl Webhook ===

impl Webhook {
    /// The answer to a review.
    fn review(&self, review: &Value) -> Value {
        let request = &review["request"];
        let mut response = if review["kind"] == "ConversionReview" {
            let objects = request["objects"].as_array().cloned().unwrap_or_default();
            let converted: Vec<Value> = objects
                .into_iter()
                .map(|object| self.convert(object, &request["desiredAPIVersion"]))
                .collect();
            json!({"uid": request["uid"], "convertedObjects": converted, "result": {"status": "Success"}})
        } else {
            let mut response = json!({"uid": request["uid"], "allowed": true});
            if let Some(patch) = &self.patch {
                response["patchType"] = json!("JSONPatch");
                response["patch"] = json!(STANDARD.encode(patch.to_string()));
            }
            response
        };
        for (name, value) in &self.response {
            response[name] = value.clone();
        }
        let answer =
            json!({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response});
        match &self.review {
            Some(merge) => {
                let merged = patch::merge_patch(&answer, merge.to_string().as_bytes());
                merged.expect("a merge patch of a case").value
            }
            None => answer,
        }
    }

    fn convert(&self, mut object: Value, api_version: &Value) -> Value {
        object["apiVersion"] = api_version.clone();
        let version = api_version.as_str().and_then(|text| text.rsplit('/').next()).unwrap_or_default();
        match self.convert.get(version) {
            Some(operations) => {
                let patched = patch::json_patch(&object, operations.to_string().as_bytes());
                patched.expect("a JSON patch of a case").value
            }
            None => object,
        }
    }
}
