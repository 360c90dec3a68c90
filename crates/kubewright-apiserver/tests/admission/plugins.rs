//! Built-in plugins that are switched on and off.

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::{AdmissionPlugins, ApiServer};
use kubewright_world::Random;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::cluster::{rule, webhook};

/// A server without webhooks that answer.
fn server(enabled: &[&str], disabled: &[&str]) -> ApiServer {
    let plugins = AdmissionPlugins::new(enabled, disabled).expect("known plugins");
    ApiServer::builder().random(Random::seeded(1)).admission_plugins(plugins).build()
}

async fn post(server: &ApiServer, path: &str, body: &Value) -> (u16, String) {
    let request = Request::post(path).header("content-type", "application/json");
    let request = request.body(Full::new(Bytes::from(body.to_string()))).expect("a request");
    let response = server.service().oneshot(request).await.expect("an answer");
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    (code, body["message"].as_str().unwrap_or_default().to_owned())
}

fn config_map() -> Value {
    json!({"metadata": {"name": "a"}})
}

#[tokio::test]
async fn a_namespace_may_be_missing_where_nobody_looks() {
    let path = "/api/v1/namespaces/nowhere/configmaps";
    let (code, message) = post(&server(&[], &[]), path, &config_map()).await;
    assert_eq!((code, message.as_str()), (404, "namespaces \"nowhere\" not found"));
    assert_eq!(post(&server(&[], &["NamespaceLifecycle"]), path, &config_map()).await.0, 201);
}

#[tokio::test]
async fn webhooks_are_asked_only_if_their_plugin_is_on() {
    let hook = webhook(
        "gone",
        "/gone",
        &json!({"namespaceSelector": null, "rules": [rule("", "v1", "configmaps")]}),
    );
    for kind in ["Mutating", "Validating"] {
        let plugin = format!("{kind}AdmissionWebhook");
        for (disabled, expected) in [(vec![], 500), (vec![plugin.as_str()], 201)] {
            let server = server(&[], &disabled);
            server
                .create(json!({
                    "apiVersion": "admissionregistration.k8s.io/v1",
                    "kind": format!("{kind}WebhookConfiguration"),
                    "metadata": {"name": "gone"},
                    "webhooks": [hook],
                }))
                .expect("the configuration");
            let (code, message) = post(&server, "/api/v1/namespaces/default/configmaps", &config_map()).await;
            assert_eq!(code, expected, "{kind} {disabled:?}: {message}");
        }
    }
}

#[tokio::test]
async fn everything_can_be_denied() {
    let server = server(&["AlwaysDeny"], &[]);
    let answer = post(&server, "/api/v1/namespaces/default/configmaps", &config_map()).await;
    let message = "configmaps \"a\" is forbidden: admission control is denying all modifications";
    assert_eq!(answer, (403, message.to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_pod_waits_a_little_for_its_account() {
    let server = server(&["ServiceAccount"], &[]);
    let pod = json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
    let create = post(&server, "/api/v1/namespaces/default/pods", &pod);
    let account = async {
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        let account = json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "default"},
        });
        server.create(account).expect("the account");
    };
    let ((code, message), ()) = tokio::join!(create, account);
    assert_eq!(code, 201, "{message}");
}
