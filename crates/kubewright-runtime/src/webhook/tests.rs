use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::{
    AdmissionRequest, AdmissionResponse, Defaulter, FieldErrors, Validator, Warnings, Webhook, Webhooks,
};
use crate::{Error, Result, metrics::Metrics};

/// Sets a color, and refuses all but red.
struct Colors;

impl Defaulter<ConfigMap> for Colors {
    async fn default(&self, map: &mut ConfigMap, _: &AdmissionRequest) -> Result<()> {
        if map.metadata.name.as_deref() == Some("panic") {
            panic!("no color");
        }
        if map.metadata.name.as_deref() == Some("slow") {
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        map.data.get_or_insert_default().entry("color".to_owned()).or_insert_with(|| "red".to_owned());
        Ok(())
    }
}

impl Validator<ConfigMap> for Colors {
    async fn validate_create(&self, map: &ConfigMap, _: &AdmissionRequest) -> Result<Warnings> {
        let color = map.data.as_ref().and_then(|data| data.get("color")).map(String::as_str);
        let mut errors = FieldErrors::new();
        match color {
            Some("red") => return Ok("red is bright".into()),
            None => return Err(Error::other("a color is needed")),
            Some(other) => errors.not_supported("data.color", other, ["red"]),
        }
        errors.invalid("data", 1, "is odd");
        errors.into_result()?;
        Ok(Warnings::none())
    }

    async fn validate_update(
        &self,
        _: &ConfigMap,
        new: &ConfigMap,
        request: &AdmissionRequest,
    ) -> Result<Warnings> {
        self.validate_create(new, request).await
    }

    async fn validate_delete(&self, _: &ConfigMap, _: &AdmissionRequest) -> Result<Warnings> {
        let status = kube::core::Status::failure("come back later", "TooManyRequests").with_code(429);
        Err(Error::other(status))
    }
}

fn webhooks() -> (Webhooks, Metrics) {
    let metrics = Metrics::new();
    let webhooks = Webhooks::new(metrics.clone());
    Webhook::new::<ConfigMap>(&webhooks).defaulter(Colors).validator(Colors).serve().expect("free paths");
    (webhooks, metrics)
}

const DEFAULT: &str = "/mutate--v1-configmap";
const VALIDATE: &str = "/validate--v1-configmap";

fn review(version: &str, operation: &str, object: &Value, old: &Value) -> Value {
    json!({
        "apiVersion": format!("admission.k8s.io/{version}"),
        "kind": "AdmissionReview",
        "request": {
            "uid": "705ab4f5",
            "kind": {"group": "", "version": "v1", "kind": "ConfigMap"},
            "resource": {"group": "", "version": "v1", "resource": "configmaps"},
            "name": "settings",
            "namespace": "default",
            "operation": operation,
            "userInfo": {"username": "admin"},
            "object": object,
            "oldObject": old,
            "dryRun": null,
        },
    })
}

fn map(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data})
}

#[allow(clippy::needless_pass_by_value, reason = "texts and values are easier to give so")]
fn post(path: &str, body: impl ToString) -> Request<Full<Bytes>> {
    Request::post(path)
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from(body.to_string())))
        .expect("a request")
}

async fn send(webhooks: &Webhooks, request: Request<Full<Bytes>>) -> (StatusCode, Value) {
    let response: Response<Full<Bytes>> = webhooks.service().oneshot(request).await.expect("an answer");
    let status = response.status();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&body).expect("JSON"))
}

async fn ask(webhooks: &Webhooks, path: &str, review: &Value) -> Value {
    let (status, answer) = send(webhooks, post(path, review)).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    assert_eq!(answer["response"]["uid"], "705ab4f5");
    answer
}

fn patch_of(answer: &Value) -> Value {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let patch = answer["response"]["patch"].as_str().expect("a patch");
    serde_json::from_slice(&STANDARD.decode(patch).expect("base64")).expect("JSON")
}

#[tokio::test]
async fn a_review_is_answered_in_the_version_in_which_it_was_asked() {
    let (webhooks, _) = webhooks();
    for version in ["v1", "v1beta1"] {
        let review = review(version, "CREATE", &map("m", &json!({"color": "red"})), &Value::Null);
        let answer = ask(&webhooks, VALIDATE, &review).await;
        assert_eq!(
            answer,
            json!({
                "apiVersion": format!("admission.k8s.io/{version}"),
                "kind": "AdmissionReview",
                "response": {"uid": "705ab4f5", "allowed": true, "warnings": ["red is bright"]},
            })
        );
    }
}

#[tokio::test]
async fn what_a_defaulter_changes_is_patched_and_nothing_else() {
    let (webhooks, _) = webhooks();
    let mut unknown = map("m", &json!({"a": "b"}));
    unknown["metadata"]["futureField"] = json!(1);
    let answer = ask(&webhooks, DEFAULT, &review("v1", "CREATE", &unknown, &Value::Null)).await;
    assert_eq!(answer["response"]["patchType"], "JSONPatch");
    assert_eq!(patch_of(&answer), json!([{"op": "add", "path": "/data/color", "value": "red"}]));

    let complete = map("m", &json!({"color": "blue"}));
    let answer = ask(&webhooks, DEFAULT, &review("v1", "CREATE", &complete, &Value::Null)).await;
    assert_eq!(answer["response"], json!({"uid": "705ab4f5", "allowed": true}));
    let answer = ask(&webhooks, DEFAULT, &review("v1", "DELETE", &Value::Null, &map("m", &json!({})))).await;
    assert_eq!(answer["response"], json!({"uid": "705ab4f5", "allowed": true}));
}

#[tokio::test]
async fn refusals_say_what_they_are() {
    let (webhooks, _) = webhooks();
    let verdict = async |operation: &str, object: Value, old: Value| {
        let answer = ask(&webhooks, VALIDATE, &review("v1", operation, &object, &old)).await;
        assert_eq!(answer["response"]["allowed"], false, "{answer}");
        answer["response"]["status"].clone()
    };
    let status = verdict("CREATE", map("m", &json!({"color": "blue"})), Value::Null).await;
    assert_eq!(
        status,
        json!({
            "status": "Failure",
            "code": 422,
            "reason": "Invalid",
            "message": "ConfigMap \"settings\" is invalid: [data.color: Unsupported value: \"blue\": supported values: \
                        \"red\", data: Invalid value: 1: is odd]",
            "details": {
                "name": "settings",
                "kind": "ConfigMap",
                "causes": [
                    {
                        "reason": "FieldValueNotSupported",
                        "message": "Unsupported value: \"blue\": supported values: \"red\"",
                        "field": "data.color",
                    },
                    {"reason": "FieldValueInvalid", "message": "Invalid value: 1: is odd", "field": "data"},
                ],
            },
        })
    );
    let status = verdict("UPDATE", map("m", &json!({})), map("m", &json!({}))).await;
    assert_eq!(
        status,
        json!({"status": "Failure", "code": 403, "reason": "Forbidden", "message": "a color is needed"})
    );
    let status = verdict("DELETE", Value::Null, map("m", &json!({}))).await;
    assert_eq!((&status["code"], &status["message"]), (&json!(429), &json!("come back later")));
    let status = verdict("CREATE", map("m", &json!({"color": 1})), Value::Null).await;
    assert_eq!(status["code"], 400);
    assert!(status["message"].as_str().is_some_and(|text| text.contains("data.color")), "{status}");
    let connect = review("v1", "CONNECT", &Value::Null, &Value::Null);
    assert_eq!(ask(&webhooks, VALIDATE, &connect).await["response"]["allowed"], true);
}

#[tokio::test]
async fn a_panic_is_an_answer_and_counted() {
    let (webhooks, metrics) = webhooks();
    let review = review("v1", "CREATE", &map("panic", &json!({})), &Value::Null);
    let answer = ask(&webhooks, DEFAULT, &review).await;
    assert_eq!(
        answer["response"]["status"],
        json!({"status": "Failure", "code": 500, "message": "panic: no color [recovered]"})
    );
    let text = metrics.encode();
    for series in [
        "controller_runtime_webhook_panics_total 1",
        "controller_runtime_conversion_webhook_panics_total 0",
        r#"controller_runtime_webhook_requests_total{code="200",webhook="/mutate--v1-configmap"} 1"#,
        r#"controller_runtime_webhook_requests_total{code="500",webhook="/mutate--v1-configmap"} 0"#,
        r#"controller_runtime_webhook_requests_in_flight{webhook="/mutate--v1-configmap"} 0"#,
        r#"controller_runtime_webhook_latency_seconds_count{webhook="/mutate--v1-configmap"} 1"#,
    ] {
        assert!(text.contains(series), "{series} is missing in\n{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_takes_too_long_is_cut_off() {
    let (webhooks, _) = webhooks();
    let review = review("v1", "CREATE", &map("slow", &json!({})), &Value::Null);
    let began = tokio::time::Instant::now();
    let answer = ask(&webhooks, &format!("{DEFAULT}?timeout=5s"), &review).await;
    assert_eq!(answer["response"]["status"]["code"], 504);
    assert_eq!(began.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn a_bad_request_is_refused_with_a_status_that_says_why() {
    let (webhooks, metrics) = webhooks();
    let good = review("v1", "CREATE", &map("m", &json!({"color": "red"})), &Value::Null);
    let refused = async |request: Request<Full<Bytes>>| {
        let (status, answer) = send(&webhooks, request).await;
        assert_eq!((&answer["kind"], &answer["status"]), (&json!("Status"), &json!("Failure")));
        (status.as_u16(), answer["message"].as_str().unwrap_or_default().to_owned())
    };
    let big = review("v1", "CREATE", &map("m", &json!({"a": "a".repeat(8 << 20)})), &Value::Null);
    let too_large = (413, "request entity is too large; limit is 7340032 bytes".to_owned());
    assert_eq!(refused(post(VALIDATE, &big)).await, too_large);
    let mut text = post(VALIDATE, &good);
    text.headers_mut().insert("content-type", "application/json; charset=utf-8".parse().expect("a header"));
    let (status, message) = refused(text).await;
    assert_eq!(
        (status, message.as_str()),
        (400, "contentType=application/json; charset=utf-8, expected application/json")
    );
    assert_eq!(refused(post(VALIDATE, "")).await, (400, "request body is empty".to_owned()));
    assert_eq!(refused(post("/nowhere", &good)).await.0, 404);
    let mut get = post(VALIDATE, &good);
    *get.method_mut() = http::Method::GET;
    assert_eq!(refused(get).await.0, 405);
    let (status, message) = refused(post(VALIDATE, review("v2", "CREATE", &json!({}), &Value::Null))).await;
    assert!(
        status == 400 && message.contains("admission.k8s.io/v1 or admission.k8s.io/v1beta1"),
        "{message}"
    );
    let count =
        r#"controller_runtime_webhook_requests_total{code="413",webhook="/validate--v1-configmap"} 1"#;
    assert!(metrics.encode().contains(count), "{}", metrics.encode());
}

#[test]
fn a_path_answers_once_and_a_webhook_does_something() {
    let (webhooks, _) = webhooks();
    let twice = Webhook::new::<ConfigMap>(&webhooks).validator(Colors).serve().expect_err("taken");
    assert!(twice.to_string().contains(VALIDATE), "{twice}");
    let nothing = Webhook::new::<ConfigMap>(&webhooks).serve().expect_err("nothing to do");
    assert!(nothing.to_string().contains("nothing to do"), "{nothing}");
    let handler = |_: AdmissionRequest| async { AdmissionResponse::allowed() };
    assert!(webhooks.handle("relative", handler).is_err());
    assert_eq!(webhooks.paths(), [DEFAULT, VALIDATE]);
}

#[test]
fn configurations_are_those_of_plain_markers() {
    let (webhooks, _) = webhooks();
    let documents = webhooks.configurations("shop", "webhook-service");
    let kinds: Vec<_> = documents.iter().map(|document| document["kind"].as_str()).collect();
    assert_eq!(kinds, [Some("MutatingWebhookConfiguration"), Some("ValidatingWebhookConfiguration")]);
    assert_eq!(
        documents[0]["webhooks"][0],
        json!({
            "name": "mconfigmap-v1.kb.io",
            "admissionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": "shop", "name": "webhook-service", "path": DEFAULT}},
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "rules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"],
            }],
        })
    );
}

mod conversion {
    use kube::CustomResource;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};

    use super::*;
    use crate::webhook::{Spoke, round_trip};

    #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
    #[kube(group = "cache.example.com", version = "v1", kind = "Memcached", namespaced)]
    struct MemcachedSpec {
        replicas: i32,
        image: Option<String>,
    }

    mod v1alpha1 {
        use super::*;

        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "cache.example.com", version = "v1alpha1", kind = "Memcached", namespaced)]
        pub(super) struct MemcachedSpec {
            /// +kubebuilder:validation:Minimum=0
            /// +kubebuilder:validation:Maximum=10
            pub(super) size: i32,
        }
    }

    mod v2 {
        use super::*;

        #[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
        #[kube(group = "cache.example.com", version = "v2", kind = "Memcached", namespaced)]
        pub(super) struct MemcachedSpec {
            pub(super) count: i32,
            pub(super) image: String,
        }
    }

    impl Spoke for v1alpha1::Memcached {
        type Hub = Memcached;

        fn into_hub(self) -> Result<Memcached> {
            if self.spec.size == 7 {
                panic!("seven");
            }
            Ok(Memcached::new("", MemcachedSpec { replicas: self.spec.size, image: None }))
        }

        fn from_hub(hub: Memcached) -> Result<Self> {
            let size = hub.spec.replicas;
            if size > 10 {
                return Err(Error::other(format!("{size} replicas do not fit into v1alpha1")));
            }
            Ok(Self::new("", v1alpha1::MemcachedSpec { size }))
        }
    }

    impl Spoke for v2::Memcached {
        type Hub = Memcached;

        fn into_hub(self) -> Result<Memcached> {
            Ok(Memcached::new("", MemcachedSpec { replicas: self.spec.count, image: Some(self.spec.image) }))
        }

        fn from_hub(hub: Memcached) -> Result<Self> {
            let spec = v2::MemcachedSpec {
                count: hub.spec.replicas,
                image: hub.spec.image.unwrap_or_else(|| "memcached".to_owned()),
            };
            Ok(Self::new("", spec))
        }
    }

    fn converting() -> (Webhooks, Metrics) {
        let metrics = Metrics::new();
        let webhooks = Webhooks::new(metrics.clone());
        let webhook = Webhook::new::<Memcached>(&webhooks);
        webhook.spoke::<v1alpha1::Memcached>().spoke::<v2::Memcached>().serve().expect("it fits");
        (webhooks, metrics)
    }

    async fn convert(webhooks: &Webhooks, version: &str, to: &str, objects: &Value) -> Value {
        let review = json!({
            "apiVersion": format!("apiextensions.k8s.io/{version}"),
            "kind": "ConversionReview",
            "request": {"uid": "u", "desiredAPIVersion": format!("cache.example.com/{to}"), "objects": objects},
        });
        let (status, answer) = send(webhooks, post("/convert", review)).await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(answer["apiVersion"], format!("apiextensions.k8s.io/{version}"));
        assert_eq!(answer["response"]["uid"], "u");
        answer["response"].clone()
    }

    fn object(version: &str, spec: &Value) -> Value {
        json!({
            "apiVersion": format!("cache.example.com/{version}"),
            "kind": "Memcached",
            "metadata": {"name": "m", "namespace": "n", "uid": "1", "labels": {"a": "b"}},
            "spec": spec,
        })
    }

    #[tokio::test]
    async fn objects_go_through_the_hub_and_keep_their_metadata() {
        let (webhooks, _) = converting();
        let objects = json!([object("v1alpha1", &json!({"size": 3}))]);
        for version in ["v1", "v1beta1"] {
            let answer = convert(&webhooks, version, "v2", &objects).await;
            assert_eq!(answer["result"], json!({"status": "Success"}));
            let expected = object("v2", &json!({"count": 3, "image": "memcached"}));
            assert_eq!(answer["convertedObjects"], json!([expected]));
        }
    }

    #[tokio::test]
    async fn a_failure_names_the_object() {
        let (webhooks, metrics) = converting();
        let objects = json!([object("v1", &json!({"replicas": 11}))]);
        let answer = convert(&webhooks, "v1", "v1alpha1", &objects).await;
        assert_eq!(
            answer["result"],
            json!({
                "status": "Failure",
                "message": "cannot convert Memcached n/m from cache.example.com/v1 to cache.example.com/v1alpha1: 11 replicas \
                            do not fit into v1alpha1",
            })
        );
        let objects = json!([object("v1alpha1", &json!({"size": 7}))]);
        let answer = convert(&webhooks, "v1", "v1", &objects).await;
        let message = answer["result"]["message"].as_str().unwrap_or_default();
        assert!(message.ends_with("panic: seven [recovered]"), "{message}");
        assert!(metrics.encode().contains("controller_runtime_conversion_webhook_panics_total 1"));
        let answer = convert(&webhooks, "v1", "v3", &objects).await;
        let message = answer["result"]["message"].as_str().unwrap_or_default();
        assert!(message.contains("does not know the version v3"), "{message}");
    }

    #[test]
    fn a_version_without_a_converter_is_found() {
        let (webhooks, _) = converting();
        let versions = |known: &[&str]| known.iter().map(|version| (*version).to_owned()).collect();
        assert!(webhooks.check(|_, _| versions(&["v1", "v1alpha1", "v2"])).is_ok());
        let error = webhooks.check(|_, _| versions(&["v1", "v3"])).expect_err("v3 is missing");
        assert!(error.to_string().contains("cannot be converted: v3"), "{error}");
        let same = Webhook::new::<Memcached>(&webhooks).spoke_with::<Memcached>(Ok, Ok).serve();
        assert!(same.expect_err("the hub").to_string().contains("the version of the hub"));
    }

    #[test]
    fn a_round_trip_tells_what_is_lost() {
        let seven = round_trip::spoke_hub_spoke::<v2::Memcached>(200);
        assert_eq!(seven, Ok(()));
        let lost =
            round_trip::hub_spoke_hub::<v1alpha1::Memcached>(200).expect_err("no image, too many replicas");
        assert!(lost.to_string().starts_with("Memcached v1 -> v1alpha1"), "{lost}");
        let again = round_trip::hub_spoke_hub::<v1alpha1::Memcached>(200);
        assert_eq!(again, Err(lost), "equal in each run");
    }
}
