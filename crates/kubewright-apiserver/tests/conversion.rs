//! Conversion of custom resources by a webhook, in process. What is expected was seen on a real server.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt, BodyStream, Full};
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::{ServiceExt, service_fn};

/// How the webhook answers: with a status, a content type and a body, or not at all.
type Answer = fn(&Value) -> Option<(u16, String)>;

struct Cluster {
    server: ApiServer,
    answer: Arc<Mutex<Answer>>,
    asked: Arc<Mutex<Vec<Value>>>,
}

const V1: &str = "/apis/example.com/v1/namespaces/default/gadgets";
const V2: &str = "/apis/example.com/v2/namespaces/default/gadgets";

impl Cluster {
    fn new(storage: &str) -> Self {
        let answer: Arc<Mutex<Answer>> = Arc::new(Mutex::new(convert));
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let (current, log) = (answer.clone(), asked.clone());
        let webhook = service_fn(move |request: Request<Full<Bytes>>| {
            let (current, log) = (current.clone(), log.clone());
            async move {
                assert_eq!(request.uri(), "https://hooks/convert?timeout=30s");
                let body = request.into_body().collect().await?.to_bytes();
                let review: Value = serde_json::from_slice(&body).unwrap_or_default();
                log.lock().expect("a lock").push(review.clone());
                let answer = *current.lock().expect("a lock");
                let Some((code, body)) = answer(&review) else { return std::future::pending().await };
                let response =
                    Response::builder().status(StatusCode::from_u16(code).expect("a status")).header(
                        header::CONTENT_TYPE,
                        if code == 200 { "application/json" } else { "text/plain" },
                    );
                Ok::<_, Infallible>(response.body(Full::new(Bytes::from(body))).expect("a response"))
            }
        });
        let server = ApiServer::builder().webhook_client(webhook).build();
        server.create(gadgets(storage)).expect("a CRD");
        Self { server, answer, asked }
    }

    fn answer(&self, answer: Answer) {
        *self.answer.lock().expect("a lock") = answer;
    }

    fn asked(&self) -> Vec<Value> {
        std::mem::take(&mut self.asked.lock().expect("a lock"))
    }

    async fn request(
        &self,
        method: &str,
        path: &str,
        body: Value,
    ) -> Response<kubewright_apiserver::ApiBody> {
        let (method, content_type) = match method {
            "APPLY" => ("PATCH", "application/apply-patch+yaml"),
            "PATCH" => ("PATCH", "application/merge-patch+json"),
            other => (other, "application/json"),
        };
        let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::CONTENT_TYPE, content_type)
            .body(Full::new(body))
            .expect("a request");
        self.server.service().oneshot(request).await.expect("an answer")
    }

    async fn send(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let response = self.request(method, path, body).await;
        let code = response.status().as_u16();
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        (code, serde_json::from_slice(&body).expect("JSON"))
    }
}

/// `spec.old` in version 1 is `spec.new` in version 2; the versions have a default of their own each.
fn gadgets(storage: &str) -> Value {
    let version = |name: &str, field: &str| {
        let own_default = format!("d{name}");
        json!({
            "name": name, "served": true, "storage": name == storage, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "properties": {
                    field: {"type": "string"}, own_default: {"type": "string", "default": name},
                }},
                "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
            }}},
        })
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gadgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget"},
            "versions": [version("v1", "old"), version("v2", "new")],
            "conversion": {"strategy": "Webhook", "webhook": {
                "clientConfig": {"url": "https://hooks/convert"}, "conversionReviewVersions": ["v1"],
            }},
        },
    })
}

fn gadget(version: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("example.com/{version}"), "kind": "Gadget", "metadata": {"name": name}, "spec": spec})
}

/// The objects of a review in the desired version.
fn converted(review: &Value) -> Vec<Value> {
    let desired = review["request"]["desiredAPIVersion"].clone();
    let objects = review["request"]["objects"].as_array().expect("objects");
    let convert = |object: &Value| {
        let mut object = object.clone();
        let (from, to) = if desired == "example.com/v2" { ("old", "new") } else { ("new", "old") };
        let spec = object["spec"].as_object_mut().expect("a spec");
        if let Some(value) = spec.remove(from) {
            spec.insert(to.to_owned(), value);
        }
        object["apiVersion"] = desired.clone();
        object
    };
    objects.iter().map(convert).collect()
}

fn answer(review: &Value, response: &Value) -> Option<(u16, String)> {
    let mut own = json!({
        "uid": review["request"]["uid"], "convertedObjects": converted(review), "result": {"status": "Success"},
    });
    own.as_object_mut().expect("an object").extend(response.as_object().expect("an object").clone());
    let body = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": own});
    Some((200, body.to_string()))
}

fn convert(review: &Value) -> Option<(u16, String)> {
    answer(review, &json!({}))
}

/// An answer whose objects were changed after they were converted.
fn changed(review: &Value, change: fn(&mut Value)) -> Option<(u16, String)> {
    let mut objects = converted(review);
    objects.iter_mut().for_each(change);
    answer(review, &json!({"convertedObjects": objects}))
}

#[tokio::test(start_paused = true)]
async fn objects_are_written_and_read_in_each_version() {
    let cluster = Cluster::new("v1");
    let (code, created) = cluster.send("POST", V1, gadget("v1", "a", &json!({"old": "x"}))).await;
    assert_eq!((code, &created["spec"]), (201, &json!({"old": "x", "dv1": "v1"})));
    assert_eq!(cluster.asked().len(), 0, "it is stored as it came");

    let (_, read) = cluster.send("GET", &format!("{V2}/a"), Value::Null).await;
    assert_eq!((&read["apiVersion"], &read["spec"]), (&json!("example.com/v2"), &json!({"new": "x"})));
    assert_eq!(read["metadata"]["resourceVersion"], created["metadata"]["resourceVersion"]);
    let mut sent = created.clone();
    sent["metadata"].as_object_mut().expect("metadata").remove("resourceVersion");
    let [review] = <[Value; 1]>::try_from(cluster.asked()).expect("one question");
    assert_eq!(
        review,
        json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "ConversionReview",
            "request": {
                "uid": review["request"]["uid"], "desiredAPIVersion": "example.com/v2", "objects": [sent],
            },
            // As empty as a real server sends it.
            "response": {"uid": "", "convertedObjects": null, "result": {"metadata": {}}},
        })
    );
    cluster.send("GET", &format!("{V2}/a"), Value::Null).await;
    assert_eq!(cluster.asked().len(), 0, "the answer is known");

    let (code, created) = cluster.send("POST", V2, gadget("v2", "b", &json!({"new": "y"}))).await;
    assert_eq!((code, &created["spec"]), (201, &json!({"new": "y"})));
    let (_, read) = cluster.send("GET", &format!("{V1}/b"), Value::Null).await;
    assert_eq!(read["spec"], json!({"old": "y", "dv1": "v1"}));

    let (code, patched) = cluster.send("PATCH", &format!("{V2}/a"), json!({"spec": {"new": "x2"}})).await;
    assert_eq!(
        (code, &patched["spec"]["new"], &patched["metadata"]["generation"]),
        (200, &json!("x2"), &json!(2))
    );
    let applied = format!("{V2}/a?fieldManager=m&force=true");
    let (code, applied) = cluster.send("APPLY", &applied, gadget("v2", "a", &json!({"new": "x3"}))).await;
    assert_eq!((code, &applied["spec"]["new"]), (200, &json!("x3")), "{applied}");
    let (code, status) = cluster.send("PATCH", &format!("{V2}/a/status"), json!({"status": {"s": 1}})).await;
    assert_eq!((code, &status["status"]), (200, &json!({"s": 1})));
    let (_, read) = cluster.send("GET", &format!("{V1}/a"), Value::Null).await;
    assert_eq!((&read["spec"]["old"], &read["status"]), (&json!("x3"), &json!({"s": 1})));

    let (_, list) = cluster.send("GET", V2, Value::Null).await;
    let specs: Vec<&Value> =
        list["items"].as_array().expect("items").iter().map(|item| &item["spec"]["new"]).collect();
    assert_eq!(specs, ["x3", "y"]);
    let (code, _) = cluster.send("DELETE", &format!("{V2}/b"), Value::Null).await;
    assert_eq!(code, 200);
}

#[tokio::test(start_paused = true)]
async fn a_watch_is_of_one_version() {
    let cluster = Cluster::new("v1");
    cluster.send("POST", V1, gadget("v1", "a", &json!({"old": "x"}))).await;
    let response = cluster.request("GET", &format!("{V2}?watch=true"), Value::Null).await;
    let mut events = BodyStream::new(response.into_body());
    cluster.send("PATCH", &format!("{V1}/a"), json!({"spec": {"old": "y"}})).await;
    cluster.send("DELETE", &format!("{V1}/a"), Value::Null).await;
    let mut seen: Vec<Value> = Vec::new();
    while seen.len() < 3 {
        let frame = events.next().await.expect("an event").expect("a frame").into_data().expect("data");
        let lines = frame.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        seen.extend(lines.map(|line| serde_json::from_slice::<Value>(line).expect("JSON")));
    }
    for (event, (kind, new)) in seen.iter().zip([("ADDED", "x"), ("MODIFIED", "y"), ("DELETED", "y")]) {
        assert_eq!(
            (&event["type"], &event["object"]["apiVersion"], &event["object"]["spec"]["new"]),
            (&json!(kind), &json!("example.com/v2"), &json!(new))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_with_what_cannot_be_converted() {
    let cluster = Cluster::new("v1");
    cluster.send("POST", V1, gadget("v1", "a", &json!({"old": "x"}))).await;
    cluster.answer(|_| Some((500, "boom".to_owned())));
    let response = cluster.request("GET", &format!("{V2}?watch=true"), Value::Null).await;
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    let event: Value = serde_json::from_slice(&body).expect("one event");
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(500)));
    let message = event["object"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("conversion webhook for example.com/v1, Kind=Gadget failed: "), "{message}");
}

#[tokio::test(start_paused = true)]
async fn metadata_stays_but_for_labels_and_annotations() {
    let cluster = Cluster::new("v1");
    let (_, created) = cluster.send("POST", V1, gadget("v1", "a", &json!({"old": "x"}))).await;
    cluster.answer(|review| {
        changed(review, |object| {
            let metadata = object["metadata"].as_object_mut().expect("metadata");
            metadata.insert("labels".to_owned(), json!({"n": "1"}));
            metadata.insert("annotations".to_owned(), json!({"a": "b"}));
            metadata.insert("finalizers".to_owned(), json!(["f/x"]));
            metadata.insert("generation".to_owned(), json!(77));
            metadata.insert("resourceVersion".to_owned(), json!("1"));
            metadata.insert("managedFields".to_owned(), json!([]));
            object["spec"]["unknown"] = json!(1);
        })
    });
    let (_, read) = cluster.send("GET", &format!("{V2}/a"), Value::Null).await;
    let mut expected = created["metadata"].clone();
    expected["labels"] = json!({"n": "1"});
    expected["annotations"] = json!({"a": "b"});
    assert_eq!(read["metadata"], expected);
    assert_eq!(read["spec"], json!({"new": "x"}), "fields that the version does not have go");
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_no_conversion_fail_the_request() {
    let cases: Vec<(Answer, &str)> = vec![
        (
            |_| Some((500, "boom".to_owned())),
            " failed: an error on the server (\"boom\") has prevented the request from succeeding",
        ),
        (
            |review| answer(review, &json!({"result": {"status": "Failure", "message": "cannot"}})),
            " failed: cannot",
        ),
        (
            |review| answer(review, &json!({"result": {"status": "Failure"}})),
            " failed: response.result.status was 'Failure', not 'Success'",
        ),
        (
            |review| answer(review, &json!({"result": null})),
            " failed: response.result.status was '', not 'Success'",
        ),
        (|review| answer(review, &json!({"convertedObjects": []})), " returned 0 objects, expected 1"),
        (
            |review| {
                let mut objects = converted(review);
                objects.extend(objects.clone());
                answer(review, &json!({"convertedObjects": objects}))
            },
            " returned 2 objects, expected 1",
        ),
        (
            |_| {
                let review = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview"});
                Some((200, review.to_string()))
            },
            " failed: no response provided",
        ),
        (
            |_| Some((200, json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "Foo"}).to_string())),
            " failed: no kind \"Foo\" is registered for version \"apiextensions.k8s.io/v1\" in scheme \
             \"pkg/runtime/scheme.go:111\"",
        ),
        (
            |review| changed(review, |object| object["apiVersion"] = json!("example.com/v3")),
            " returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v3)",
        ),
        (
            |review| changed(review, |object| object["kind"] = json!("Foo")),
            " returned invalid object at index 0: invalid kind (expected Gadget, received Foo)",
        ),
        (
            |review| changed(review, |object| object["metadata"]["name"] = json!("q")),
            " returned invalid object: must have the same name: a != q",
        ),
        (
            |review| changed(review, |object| object["metadata"]["namespace"] = json!("q")),
            " returned invalid object: must have the same namespace: default != q",
        ),
        (
            |review| changed(review, |object| object["metadata"]["labels"] = json!({"a": 1})),
            " returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object",
        ),
        (|_| None, " failed: Post \"https://hooks/convert?timeout=30s\": context deadline exceeded"),
    ];
    for (fault, why) in cases {
        let cluster = Cluster::new("v1");
        let (_, created) = cluster.send("POST", V1, gadget("v1", "a", &json!({"old": "x"}))).await;
        cluster.answer(fault);
        let start = Instant::now();
        let (code, refused) = cluster.send("GET", &format!("{V2}/a"), Value::Null).await;
        let revision = created["metadata"]["resourceVersion"].as_str().expect("a version");
        let expected = format!(
            "Internal error occurred: StorageError: corrupt object, Code: 7, Key: /example.com/gadgets/default/a, \
             ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision={revision}: conversion webhook for \
             example.com/v1, Kind=Gadget{why}"
        );
        assert_eq!((code, refused["message"].as_str()), (500, Some(expected.as_str())));
        assert!(start.elapsed() <= Duration::from_secs(30), "{:?}", start.elapsed());
        let other = gadget("v2", "b", &json!({"new": "q"}));
        if why.contains("cannot") {
            let (code, refused) = cluster.send("POST", V2, other).await;
            assert_eq!(
                (code, refused["message"].as_str(), refused.get("reason")),
                (500, Some("conversion webhook for example.com/v2, Kind=Gadget failed: cannot"), None)
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn another_storage_version_keeps_what_is_stored() {
    let cluster = Cluster::new("v1");
    cluster.send("POST", V1, gadget("v1", "a", &json!({"old": "x"}))).await;
    let versions = gadgets("v2")["spec"]["versions"].clone();
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com";
    let (code, crd) = cluster.send("PATCH", path, json!({"spec": {"versions": versions}})).await;
    assert_eq!(code, 200, "{crd}");
    cluster.asked();
    let (_, read) = cluster.send("GET", &format!("{V2}/a"), Value::Null).await;
    assert_eq!((&read["spec"]["new"], cluster.asked().len()), (&json!("x"), 1));
    let (_, read) = cluster.send("GET", &format!("{V1}/a"), Value::Null).await;
    assert_eq!((&read["spec"]["old"], cluster.asked().len()), (&json!("x"), 0));
    // A write stores it anew.
    cluster.send("PATCH", &format!("{V2}/a"), json!({"metadata": {"labels": {"t": "1"}}})).await;
    cluster.asked();
    cluster.send("GET", &format!("{V2}/a"), Value::Null).await;
    assert_eq!(cluster.asked().len(), 0);
    let (_, read) = cluster.send("GET", &format!("{V1}/a"), Value::Null).await;
    assert_eq!((&read["spec"]["old"], cluster.asked().len()), (&json!("x"), 1));
}
