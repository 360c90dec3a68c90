//! What comes of the answers of webhooks.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::cluster::{Cluster, MAPS, Reply, deny, json as reply, map, patch, response, webhook};

/// Creates an object, about which one webhook is asked that answers so.
async fn create_with(
    own: Value,
    answer: impl Fn(&Value) -> Reply + Send + Sync + 'static,
) -> crate::cluster::Answered {
    let cluster = Cluster::new();
    cluster.answer("/v", answer);
    cluster.configure("Validating", "v", vec![webhook("v", "/v", &own)]).await;
    cluster.send("POST", MAPS, map("a")).await
}

#[tokio::test(start_paused = true)]
async fn a_denial_is_passed_on() {
    for (status, code, reason, message) in [
        (json!(null), 400, "", " without explanation"),
        (json!({"message": "no way"}), 400, "", ": no way"),
        (json!({"reason": "Conflict"}), 400, "Conflict", ": Conflict"),
        (json!({"code": 200, "message": "x"}), 400, "", ": x"),
        (json!({"code": 403, "message": "x"}), 403, "", ": x"),
    ] {
        let shown = status.clone();
        let denied = create_with(json!({}), move |review| deny(review, &status)).await;
        let message = format!("admission webhook \"v.example.com\" denied the request{message}");
        assert_eq!(denied.refusal(), (code, message.as_str()), "{shown}");
        assert_eq!(denied.body["reason"].as_str().unwrap_or_default(), reason, "{shown}");
    }
    let whole = json!({
        "status": "Success",
        "code": 418,
        "reason": "Teapot",
        "message": "m \"q\"",
        "metadata": {"continue": "x"},
        "details": {
            "name": "n",
            "kind": "k",
            "causes": [{"reason": "r", "message": "mm", "field": "f"}],
            "retryAfterSeconds": 7,
        },
    });
    let mut expected = whole.clone();
    expected["status"] = json!("Failure");
    expected["message"] = json!("admission webhook \"v.example.com\" denied the request: m \"q\"");
    expected["kind"] = json!("Status");
    expected["apiVersion"] = json!("v1");
    let denied = create_with(json!({}), move |review| deny(review, &whole)).await;
    assert_eq!((denied.code, denied.body), (418, expected));
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_none_fail_the_request_or_are_ignored() {
    type Make = fn(&Value) -> Reply;
    let text: fn(u16, &str) -> Reply = |code, body| Some((code, "text/plain", body.to_owned()));
    let _ = text;
    let cases: [(&str, Make); 20] = [
        (
            "failed to call webhook: converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
            |review| {
                reply(&json!({"apiVersion": "admission.k8s.io/v1beta1", "kind": "AdmissionReview",
                    "response": {"uid": review["request"]["uid"], "allowed": true}}))
            },
        ),
        (
            "failed to call webhook: no kind \"Other\" is registered for version \"admission.k8s.io/v1\" in scheme \
             \"pkg/runtime/scheme.go:111\"",
            |review| {
                reply(&json!({"apiVersion": "admission.k8s.io/v1", "kind": "Other",
                    "response": {"uid": review["request"]["uid"], "allowed": true}}))
            },
        ),
        (
            "received invalid webhook response: expected webhook response of admission.k8s.io/v1, \
             Kind=AdmissionReview, got /, Kind=",
            |review| reply(&json!({"response": {"uid": review["request"]["uid"], "allowed": true}})),
        ),
        ("received invalid webhook response: webhook response was absent", |_| {
            reply(&json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}))
        }),
        ("received invalid webhook response: webhook response was absent", |_| reply(&json!(null))),
        (
            "failed to call webhook: couldn't get version/kind; json parse error: json: cannot unmarshal string into \
             Go value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \
             \"json:\\\"kind,omitempty\\\"\" }",
            |_| Some((200, "application/json", "hello".to_owned())),
        ),
        (
            "failed to call webhook: 0-length response with status code: 200 and content type: application/json",
            |_| Some((200, "application/json", String::new())),
        ),
        (
            "failed to call webhook: json: cannot unmarshal string into Go struct field \
             AdmissionResponse.response.allowed of type bool",
            |review| response(review, &json!({"allowed": "yes"})),
        ),
        (
            "failed to call webhook: an error on the server (\"unknown\") has prevented the request from succeeding",
            |_| Some((500, "application/json", "boom".to_owned())),
        ),
        (
            "failed to call webhook: an error on the server (\"boom\") has prevented the request from succeeding",
            |_| Some((500, "text/plain", "boom".to_owned())),
        ),
        ("failed to call webhook: the server could not find the requested resource", |_| {
            Some((404, "text/plain", "404 page not found\n".to_owned()))
        }),
        ("failed to call webhook: bad", |_| Some((403, "text/plain", "bad".to_owned()))),
        (
            "failed to call webhook: the server has received too many requests and has asked us to try again later",
            |_| Some((429, "text/plain", "bad".to_owned())),
        ),
        ("failed to call webhook: the server is currently unable to handle the request", |_| {
            Some((503, "text/plain", "bad".to_owned()))
        }),
        (
            "failed to call webhook: the server responded with the status code 418 but did not return more information",
            |_| Some((418, "text/plain", "bad".to_owned())),
        ),
        (
            "failed to call webhook: 0-length response with status code: 204 and content type: application/json",
            |_| Some((204, "application/json", String::new())),
        ),
        ("failed to call webhook: sts", |_| {
            let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "sts"});
            Some((403, "application/json", status.to_string()))
        }),
        ("received invalid webhook response: validating webhook may not return response.patch", |review| {
            patch(review, &json!([{"op": "add", "path": "/data/x", "value": "y"}]))
        }),
        ("failed to call webhook: Post \"https://hooks/v?timeout=10s\": context deadline exceeded", |_| None),
        ("received invalid webhook response: expected response.uid=", |review| {
            response(review, &json!({"uid": "other"}))
        }),
    ];
    for (why, answer) in cases {
        let refused = create_with(json!({}), answer).await;
        let what = format!("failed calling webhook \"v.example.com\": {why}");
        let expected = format!("Internal error occurred: {what}");
        if why.ends_with("uid=") {
            assert!(refused.message().starts_with(&expected), "{refused:?}");
            assert!(refused.message().ends_with("\", got \"other\""), "{refused:?}");
            continue;
        }
        assert_eq!(refused.refusal(), (500, expected.as_str()));
        assert_eq!(refused.body["reason"], "InternalError", "{why}");
        assert_eq!(refused.body["details"], json!({"causes": [{"message": what}]}), "{why}");
        let ignored = create_with(json!({"failurePolicy": "Ignore"}), answer).await;
        assert_eq!(ignored.code, 201, "{why}: {ignored:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn answers_of_many_forms_are_taken() {
    type Make = fn(&Value) -> Reply;
    let cases: [Make; 3] = [
        |review| response(review, &json!({"foo": 1, "auditAnnotations": {"a": "b"}})),
        |review| response(review, &json!({})).map(|(_, _, body)| (201, "text/html", body)),
        |review| {
            let uid = review["request"]["uid"].as_str().expect("a uid");
            let text = format!(
                "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse: {{uid: {uid}, allowed: true}}\n"
            );
            Some((200, "application/yaml", text))
        },
    ];
    for (index, answer) in cases.into_iter().enumerate() {
        let answered = create_with(json!({}), answer).await;
        assert_eq!(answered.code, 201, "{index}: {answered:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_may_send_elsewhere() {
    let cluster = Cluster::new();
    cluster.answer("/v", |_| Some((302, "text/plain", String::new())));
    cluster.answer("/elsewhere", |review| {
        // As with Go's client, what is asked there is asked without a body.
        assert!(review.is_null());
        reply(&json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}))
    });
    cluster.configure("Validating", "v", vec![webhook("v", "/v", &json!({}))]).await;
    let refused = cluster.send("POST", MAPS, map("a")).await;
    assert!(refused.message().ends_with("webhook response was absent"), "{refused:?}");
    assert_eq!(cluster.asked_paths(), ["/v", "/elsewhere"]);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_is_waited_for_as_long_as_it_may_take() {
    let start = Instant::now();
    let refused = create_with(json!({"timeoutSeconds": 7}), |_| None).await;
    assert_eq!((refused.code, start.elapsed()), (500, Duration::from_secs(7)));
}

#[tokio::test(start_paused = true)]
async fn all_are_asked_at_once_and_the_first_refusal_counts() {
    let cluster = Cluster::new();
    cluster.answer("/slow", |_| None);
    cluster.answer("/b", |review| deny(review, &json!({"message": "b"})));
    let hooks = vec![
        webhook("slow", "/slow", &json!({"timeoutSeconds": 5})),
        webhook("b", "/b", &json!({})),
        webhook("slow2", "/slow", &json!({"timeoutSeconds": 5})),
    ];
    cluster.configure("Validating", "v", hooks).await;
    let start = Instant::now();
    let refused = cluster.send("POST", MAPS, map("a")).await;
    assert_eq!(start.elapsed(), Duration::from_secs(5));
    assert!(refused.message().contains("failed calling webhook \"slow.example.com\""), "{refused:?}");
    assert_eq!(cluster.asked_paths(), ["/slow", "/b", "/slow"]);
}

#[tokio::test(start_paused = true)]
async fn warnings_are_passed_on_within_limits() {
    let denied = create_with(json!({}), |review| {
        response(review, &json!({"allowed": false, "warnings": ["w1"], "status": {"message": "no"}}))
    })
    .await;
    assert_eq!((denied.code, denied.warnings), (400, vec!["299 - \"w1\"".to_owned()]));
    let long = create_with(json!({}), |review| {
        let warnings = json!(["w1", "w\"2", "control \n", "x".repeat(300), "y".repeat(5000)]);
        response(review, &json!({"warnings": warnings}))
    })
    .await;
    let expected = ["w1".to_owned(), "w\\\"2".to_owned(), "x".repeat(256), "y".repeat(256)];
    assert_eq!(long.warnings, expected.map(|text| format!("299 - \"{text}\"")));
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_is_told() {
    let cluster = Cluster::new();
    cluster.configure("Validating", "v", vec![webhook("v", "/v", &json!({}))]).await;
    let answered = cluster.send("POST", &format!("{MAPS}?dryRun=All"), map("a")).await;
    assert_eq!(answered.code, 201);
    let asked = cluster.asked();
    assert_eq!(asked[0].1["request"]["dryRun"], json!(true));
    assert_eq!(asked[0].1["request"]["options"]["dryRun"], json!(["All"]));
    assert_eq!(cluster.send("GET", &format!("{MAPS}/a"), Value::Null).await.code, 404);
}
