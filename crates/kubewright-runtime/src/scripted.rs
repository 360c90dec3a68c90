//! An API server that answers as a test scripts it, and remembers what it was asked.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};
use tower::service_fn;

use crate::client::Client;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) method: Method,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) accept: String,
    pub(crate) content_type: String,
    pub(crate) body: Value,
}

#[derive(Clone, Default)]
pub(crate) struct Scripted {
    asked: Arc<Mutex<Vec<Asked>>>,
    answers: Arc<Mutex<VecDeque<(u16, Answer)>>>,
}

enum Answer {
    Json(Value),
    Text(String),
}

impl Answer {
    fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Json(value) => value.to_string().into_bytes(),
            Self::Text(text) => text.into_bytes(),
        }
    }
}

impl Scripted {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// The next answer. Without one, the server says 500.
    pub(crate) fn answer(self, code: u16, body: Value) -> Self {
        self.push(code, Answer::Json(body))
    }

    pub(crate) fn answer_text(self, code: u16, body: &str) -> Self {
        self.push(code, Answer::Text(body.to_owned()))
    }

    fn push(self, code: u16, answer: Answer) -> Self {
        self.answers.lock().expect("no panic under the lock").push_back((code, answer));
        self
    }

    pub(crate) fn failure(self, code: u16, reason: &str, message: &str) -> Self {
        self.answer(
            code,
            json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
                   "message": message}),
        )
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic under the lock").clone()
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.kube(), "operator")
    }

    pub(crate) fn kube(&self) -> kube::Client {
        let this = self.clone();
        let service = service_fn(move |request: Request<Body>| {
            let this = this.clone();
            async move {
                let (head, body) = request.into_parts();
                let body = body.collect().await?.to_bytes();
                let header = |name| {
                    let value = head.headers.get(name);
                    value.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
                };
                let asked = Asked {
                    method: head.method.clone(),
                    target: head.uri.to_string(),
                    accept: header(http::header::ACCEPT),
                    content_type: header(http::header::CONTENT_TYPE),
                    body: serde_json::from_slice(&body).unwrap_or_default(),
                };
                this.asked.lock().expect("no panic under the lock").push(asked);
                let answer = this.answers.lock().expect("no panic under the lock").pop_front();
                let (code, body) = answer.unwrap_or((500, Answer::Text("no answer is scripted".to_owned())));
                let response = Response::builder().status(code).body(Body::from(body.into_bytes()));
                Ok::<_, kube::Error>(response.expect("a response"))
            }
        });
        kube::Client::new(service, "default")
    }
}
