//! Webhooks behind a listener on the loopback address.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use http::{Request, Response, Version};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use kubewright_apiserver::{
    ApiServer,
    listener::{self, ListenOptions, Listening},
};
use serde_json::{Value, json};
use tower::{ServiceExt, service_fn};

use crate::cluster::map;

/// A webhook that denies everything and says over which version of HTTP it was asked.
async fn listen(names: &[&str]) -> (Listening, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let count = count.clone();
        async move {
            count.fetch_add(1, Ordering::Relaxed);
            let is_newer = request.version() == Version::HTTP_2;
            let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
            let review: Value = serde_json::from_slice(&body.unwrap_or_default()).unwrap_or_default();
            let message = if is_newer { "over HTTP/2" } else { "over HTTP/1.1" };
            let answer = json!({
                "apiVersion": "admission.k8s.io/v1",
                "kind": "AdmissionReview",
                "response": {
                    "uid": review["request"]["uid"], "allowed": false, "status": {"code": 403, "message": message},
                },
            });
            Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(answer.to_string()))))
        }
    });
    let mut options = ListenOptions::default();
    options.extra_names = names.iter().map(|name| (*name).to_owned()).collect();
    (listener::listen(service, options).await.expect("it listens"), asked)
}

/// What comes of creating an object about which a webhook with this `clientConfig` is asked.
async fn create(server: &ApiServer, client_config: Value) -> String {
    let configuration = json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"generateName": "v-"},
        "webhooks": [{
            "name": "v.example.com",
            "clientConfig": client_config,
            "rules": [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["configmaps"]}],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }],
    });
    let created = server.create(configuration).expect("a configuration");
    let body = Full::from(map("a").to_string());
    let request = Request::post("/api/v1/namespaces/default/configmaps").body(body).expect("a request");
    let response = server.service().oneshot(request).await.expect("an answer");
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let answer: Value = serde_json::from_slice(&body).expect("an answer");
    let name = created["metadata"]["name"].as_str().expect("a name");
    let path = format!("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{name}");
    let request = Request::delete(path).body(Full::<Bytes>::default()).expect("a request");
    server.service().oneshot(request).await.expect("an answer");
    answer["message"].as_str().unwrap_or_default().to_owned()
}

fn failed(address: SocketAddr, why: &str) -> String {
    format!(
        "Internal error occurred: failed calling webhook \"v.example.com\": failed to call webhook: Post \
         \"https://{address}/v?timeout=10s\": {why}"
    )
}

#[tokio::test]
async fn a_webhook_is_asked_over_tls() {
    let (listening, asked) = listen(&[]).await;
    let server = ApiServer::builder().build();
    let address = listening.address();
    let ca = STANDARD.encode(listening.ca_pem().expect("an authority"));
    let url = format!("https://{address}/v");
    let denied = "admission webhook \"v.example.com\" denied the request: over HTTP/2";
    for _ in 0..2 {
        assert_eq!(create(&server, json!({"url": url, "caBundle": ca})).await, denied);
    }
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    assert_eq!(
        create(&server, json!({"url": url})).await,
        failed(address, "tls: failed to verify certificate: x509: certificate signed by unknown authority")
    );
    listening.shutdown().await;
    let server = ApiServer::builder().build();
    assert_eq!(
        create(&server, json!({"url": url, "caBundle": ca})).await,
        failed(address, &format!("dial tcp {address}: connect: connection refused"))
    );
}

#[tokio::test]
async fn a_service_is_on_this_machine_where_its_target_port_says() {
    let (listening, _) = listen(&["hook.default.svc"]).await;
    let server = ApiServer::builder().build();
    let ca = STANDARD.encode(listening.ca_pem().expect("an authority"));
    let config = |port: u16| json!({"service": {"namespace": "default", "name": "hook", "path": "/v", "port": port}, "caBundle": ca});
    let failed = |port: u16, why: &str| {
        format!(
            "Internal error occurred: failed calling webhook \"v.example.com\": failed to call webhook: Post \
             \"https://hook.default.svc:{port}/v?timeout=10s\": {why}"
        )
    };
    assert_eq!(create(&server, config(443)).await, failed(443, "service \"hook\" not found"));
    let service = json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook", "namespace": "default"},
        "spec": {"ports": [{"port": 443, "targetPort": listening.address().port()}]},
    });
    server.create(service).expect("a service");
    assert_eq!(
        create(&server, config(444)).await,
        failed(444, "no service port 444 found for service \"hook\"")
    );
    assert_eq!(
        create(&server, config(443)).await,
        "admission webhook \"v.example.com\" denied the request: over HTTP/2"
    );
}
