//! What the server says to requests that are wrong, in the words of a real one.
//!
//! `data/refusals.json` are requests in their order, with the answers of kube-apiserver 1.37.2 to them. It begins with
//! a definition of `widgets` and goes on with what one can do wrong: bodies, names, options, selectors, tokens,
//! versions, media types, patches, preconditions. Requests that succeed are there for those that follow.

use http::{Request, header};
use http_body_util::{BodyExt, Full};
use kubewright_apiserver::ApiServer;
use serde::Deserialize;
use serde_json::{Value, json};
use tower::ServiceExt;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    request: String,
    content_type: Option<String>,
    accept: Option<String>,
    #[serde(default)]
    body: String,
    code: u16,
    #[serde(default)]
    message: String,
}

/// The code and the message of the answer; an object has no message.
async fn send(server: &ApiServer, case: &Case) -> (u16, String) {
    let (method, target) = case.request.split_once(' ').expect("a method and a path");
    let mut request = Request::builder().method(method).uri(target).header(header::USER_AGENT, "tester/1.0");
    for (name, value) in [(header::CONTENT_TYPE, &case.content_type), (header::ACCEPT, &case.accept)] {
        if let Some(value) = value {
            request = request.header(name, value);
        }
    }
    let request = request.body(Full::from(case.body.clone())).expect("a request");
    let response = server.service().oneshot(request).await.expect("an answer");
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let message = match serde_json::from_slice::<Value>(&body) {
        Ok(object) if object["kind"] == "Status" => object["message"].as_str().unwrap_or_default().to_owned(),
        Ok(_) => String::new(),
        Err(_) => String::from_utf8_lossy(&body).into_owned(),
    };
    (code, message)
}

#[tokio::test(start_paused = true)]
async fn refusals_are_those_of_a_real_server() {
    let cases: Vec<Case> = serde_json::from_str(include_str!("data/refusals.json")).expect("the cases");
    let server = ApiServer::builder().build();
    server
        .create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cmp"}}))
        .expect("a namespace");
    let mut wrong = Vec::new();
    for case in &cases {
        let (code, message) = send(&server, case).await;
        if (code, &message) != (case.code, &case.message) {
            wrong.push(format!(
                "{} {}\n  expected {} {}\n  got      {code} {message}",
                case.request, case.body, case.code, case.message
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_too_large_is_refused() {
    let case = Case {
        request: "POST /api/v1/namespaces/default/configmaps".to_owned(),
        content_type: Some("application/json".to_owned()),
        accept: None,
        body: "x".repeat(3 * 1024 * 1024 + 1),
        code: 413,
        message: "Request entity too large: limit is 3145728".to_owned(),
    };
    let server = ApiServer::builder().build();
    assert_eq!(send(&server, &case).await, (case.code, case.message));
}
