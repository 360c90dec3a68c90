//! What is too much for the server.

use http::{Request, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::ApiServer;
use serde_json::Value;
use tower::ServiceExt;

#[tokio::test(start_paused = true)]
async fn a_body_that_is_too_large_is_refused() {
    let request = Request::post("/api/v1/namespaces/default/configmaps")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::from("x".repeat(3 * 1024 * 1024 + 1)))
        .expect("a request");
    let response = ApiServer::builder().build().service().oneshot(request).await.expect("an answer");
    assert_eq!(response.status(), 413);
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let status: Value = serde_json::from_slice(&body).expect("JSON");
    assert_eq!(status["message"], "Request entity too large: limit is 3145728");
}
