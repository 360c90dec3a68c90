//! A server to send definitions and objects to, embedded or real, through the same client.

use std::{path::Path, time::Duration};

use http::{Method, Request, header};
use http_body_util::BodyExt;
use kube::{
    Client, Config,
    client::Body,
    config::{KubeConfigOptions, Kubeconfig},
};
use kubewright_apiserver::ApiServer;
use serde_json::Value;

use crate::{
    definition::{Definition, name},
    recorded::Verdict,
};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// How long a real server may need until it serves a kind, or until it has removed one.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Server {
    client: Client,
}

impl Server {
    pub(crate) fn embedded(server: &ApiServer) -> Self {
        Self { client: Client::new(server.service(), "default") }
    }

    pub(crate) async fn real(kubeconfig: &Path) -> Self {
        let kubeconfig = Kubeconfig::read_from(kubeconfig).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
            .await
            .expect("a usable kubeconfig");
        Self { client: Client::try_from(config).expect("a client") }
    }

    /// Sends a request and gives the status code and the body.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> (u16, Value) {
        let text = body.map(Value::to_string).unwrap_or_default();
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(text.into_bytes()))
            .expect("a request");
        let response = self.client.send(request).await.expect("an answer");
        let code = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        let body = serde_json::from_slice(&body).unwrap_or_else(|_| String::from_utf8_lossy(&body).into());
        (code, body)
    }

    /// Creates the definition and waits until its versions are served.
    pub(crate) async fn define(&self, definition: &Definition) -> Verdict {
        let (code, body) = self.send(Method::POST, DEFINITIONS, Some(&definition.crd)).await;
        let verdict = Verdict::of(code, &body);
        if verdict.is_created() {
            for version in definition.served_versions() {
                let version = name(version);
                self.until(&definition.collection(version), 200).await;
            }
        }
        verdict
    }

    pub(crate) async fn remove_definition(&self, definition: &Definition) {
        if definition.name().is_empty() {
            // The path would be that of all definitions.
            return;
        }
        let path = format!("{DEFINITIONS}/{}", definition.name());
        if self.send(Method::DELETE, &path, None).await.0 == 200 {
            self.until(&path, 404).await;
            // The next definition may have the same name: nothing may be answered from this one any more.
            for version in definition.served_versions() {
                let version = name(version);
                self.until(&definition.collection(version), 404).await;
            }
        }
    }

    /// Creates an object, and checks it strictly.
    pub(crate) async fn create(&self, definition: &Definition, version: &str, object: &Value) -> Verdict {
        let path = format!("{}?fieldValidation=Strict", definition.collection(version));
        let (code, body) = self.send(Method::POST, &path, Some(object)).await;
        Verdict::of(code, &body)
    }

    pub(crate) async fn delete(&self, definition: &Definition, version: &str, name: &str) {
        self.send(Method::DELETE, &format!("{}/{name}", definition.collection(version)), None).await;
    }

    async fn until(&self, path: &str, code: u16) {
        let deadline = tokio::time::Instant::now() + PATIENCE;
        loop {
            let (got, body) = self.send(Method::GET, path, None).await;
            if got == code {
                return;
            }
            assert!(
                tokio::time::Instant::now() < deadline,
                "{path} does not answer {code} within {PATIENCE:?}, but {got}: {body}"
            );
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
