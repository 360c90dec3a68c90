//! A server with a webhook in the test's own thread.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use jiff::Timestamp;
use kubewright_apiserver::{ApiServer, User};
use kubewright_world::{Clock, Random};
use serde_json::{Value, json};
use tower::{ServiceExt, service_fn};

/// How a webhook answers a review.
pub(crate) type Answer = Arc<dyn Fn(&Value) -> Reply + Send + Sync>;

/// An answer over HTTP; none at all if the webhook hangs.
pub(crate) type Reply = Option<(u16, &'static str, String)>;

/// A server, its webhooks by path, and the reviews they were sent.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) server: ApiServer,
    answers: Arc<Mutex<BTreeMap<String, Answer>>>,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

/// What the server answers.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) code: u16,
    pub(crate) body: Value,
    pub(crate) warnings: Vec<String>,
}

impl Cluster {
    /// A server with a namespace `t` and a resource `widgets` at two versions. Webhooks allow what they are not told to
    /// refuse.
    pub(crate) fn new() -> Self {
        let answers: Arc<Mutex<BTreeMap<String, Answer>>> = Arc::default();
        let asked: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
        let (known, log) = (answers.clone(), asked.clone());
        let webhook = service_fn(move |request: Request<Full<Bytes>>| {
            let (known, log) = (known.clone(), log.clone());
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await?.to_bytes();
                let review: Value = serde_json::from_slice(&body).unwrap_or_default();
                let path = head.uri.path().to_owned();
                let answer = known.lock().expect("a lock").get(&path).cloned();
                log.lock().expect("a lock").push((head.uri.to_string(), review.clone()));
                let reply = answer.map_or_else(|| allow(&review), |answer| answer(&review));
                let Some((code, content_type, body)) = reply else { return std::future::pending().await };
                let response = Response::builder()
                    .status(StatusCode::from_u16(code).expect("a status"))
                    .header(header::CONTENT_TYPE, content_type)
                    .header(header::LOCATION, "/elsewhere");
                Ok::<_, Infallible>(response.body(Full::new(Bytes::from(body))).expect("a response"))
            }
        });
        let epoch: Timestamp = "2030-01-01T00:00:00Z".parse().expect("a timestamp");
        let server = ApiServer::builder()
            .clock(Clock::starting_at(epoch))
            .random(Random::seeded(1))
            .webhook_client(webhook)
            .build();
        let cluster = Self { server, answers, asked };
        cluster.create(json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "t", "labels": {"hook": "yes"}},
        }));
        cluster.create(widgets());
        cluster
    }

    /// Creates an object without anybody being asked.
    pub(crate) fn create(&self, object: Value) {
        self.server.create(object).expect("created");
    }

    /// Lets the webhook at a path answer so.
    pub(crate) fn answer(&self, path: &str, answer: impl Fn(&Value) -> Reply + Send + Sync + 'static) {
        self.answers.lock().expect("a lock").insert(path.to_owned(), Arc::new(answer));
    }

    /// The reviews that webhooks were sent since the last time, with their URLs.
    pub(crate) fn asked(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.asked.lock().expect("a lock"))
    }

    /// The paths of the webhooks that were asked since the last time.
    pub(crate) fn asked_paths(&self) -> Vec<String> {
        let path = |(url, _): (String, Value)| {
            url.trim_start_matches("https://hooks").split('?').next().unwrap_or_default().to_owned()
        };
        self.asked().into_iter().map(path).collect()
    }

    /// Installs a configuration of `kind` (`Mutating` or `Validating`) in place of the one with this name.
    pub(crate) async fn configure(&self, kind: &str, name: &str, webhooks: Vec<Value>) {
        let path = format!(
            "/apis/admissionregistration.k8s.io/v1/{}webhookconfigurations",
            kind.to_ascii_lowercase()
        );
        self.send("DELETE", &format!("{path}/{name}"), Value::Null).await;
        let configuration = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": format!("{kind}WebhookConfiguration"),
            "metadata": {"name": name},
            "webhooks": webhooks,
        });
        let answered = self.send("POST", &path, configuration).await;
        assert_eq!(answered.code, 201, "{answered:?}");
    }

    /// Sends a request of the administrator. The method may name the kind of a patch: `PATCH apply`.
    pub(crate) async fn send(&self, method: &str, path: &str, body: Value) -> Answered {
        self.send_as(User::admin(), method, path, body).await
    }

    pub(crate) async fn send_as(&self, user: User, method: &str, path: &str, body: Value) -> Answered {
        let (method, content_type) = match method.split_once(' ') {
            Some((method, "apply")) => (method, "application/apply-patch+yaml"),
            Some((method, "json")) => (method, "application/json-patch+json"),
            Some((method, "strategic")) => (method, "application/strategic-merge-patch+json"),
            _ if method == "PATCH" => (method, "application/merge-patch+json"),
            _ => (method, "application/json"),
        };
        let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::USER_AGENT, "rec/1")
            .header(header::CONTENT_TYPE, content_type)
            .body(Full::new(body))
            .expect("a request");
        let response = self.server.service_as(user).oneshot(request).await.expect("an answer");
        let warnings = response.headers().get_all(header::WARNING).iter();
        let warnings = warnings.map(|warning| warning.to_str().expect("text").to_owned()).collect::<Vec<_>>();
        let code = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        Answered { code, body: serde_json::from_slice(&body).unwrap_or_default(), warnings }
    }
}

impl Answered {
    pub(crate) fn message(&self) -> &str {
        self.body["message"].as_str().unwrap_or_default()
    }

    /// The code and the message of a refusal.
    pub(crate) fn refusal(&self) -> (u16, &str) {
        (self.code, self.message())
    }
}

/// A webhook that is asked about everything in namespaces with the label `hook: yes`, with some fields of its own.
pub(crate) fn webhook(name: &str, path: &str, own: &Value) -> Value {
    let mut webhook = json!({
        "name": format!("{name}.example.com"),
        "clientConfig": {"url": format!("https://hooks{path}")},
        "rules": [rule("*", "*", "*/*")],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "namespaceSelector": {"matchLabels": {"hook": "yes"}},
    });
    let fields = webhook.as_object_mut().expect("an object");
    fields.extend(own.as_object().expect("an object").clone());
    fields.retain(|_, value| !value.is_null());
    webhook
}

pub(crate) fn rule(group: &str, version: &str, resource: &str) -> Value {
    json!({"apiGroups": [group], "apiVersions": [version], "operations": ["*"], "resources": [resource]})
}

/// The answer that allows a request.
pub(crate) fn allow(review: &Value) -> Reply {
    response(review, &json!({}))
}

/// An answer with these fields besides `uid` and `allowed`.
pub(crate) fn response(review: &Value, fields: &Value) -> Reply {
    let mut response = json!({"uid": review["request"]["uid"], "allowed": true});
    response.as_object_mut().expect("an object").extend(fields.as_object().expect("an object").clone());
    let review = json!({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response});
    json(&review)
}

/// An answer of JSON.
pub(crate) fn json(body: &Value) -> Reply {
    Some((200, "application/json", body.to_string()))
}

/// An answer that allows a request and changes its object.
pub(crate) fn patch(review: &Value, operations: &Value) -> Reply {
    let patch = STANDARD.encode(operations.to_string());
    response(review, &json!({"patch": patch, "patchType": "JSONPatch"}))
}

/// The answer that refuses a request with this `status`.
pub(crate) fn deny(review: &Value, status: &Value) -> Reply {
    response(review, &json!({"allowed": false, "status": status}))
}

pub(crate) const MAPS: &str = "/api/v1/namespaces/t/configmaps";
pub(crate) const WIDGETS: &str = "/apis/example.com/v1/namespaces/t/widgets";
pub(crate) const WIDGETS_V2: &str = "/apis/example.com/v2/namespaces/t/widgets";

pub(crate) fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"a": "1"}})
}

pub(crate) fn widget(name: &str, spec: &Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": name}, "spec": spec})
}

fn widgets() -> Value {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {
            "color": {"type": "string", "default": "red"},
            "size": {"type": "integer", "maximum": 10},
            "replicas": {"type": "integer"},
        }},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }});
    let version = |name: &str| {
        json!({
            "name": name, "served": true, "storage": name == "v1",
            "schema": {"openAPIV3Schema": schema},
            "subresources": {
                "status": {},
                "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
            },
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version("v1"), version("v2")],
        },
    })
}
