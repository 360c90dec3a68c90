//! What test suites of other projects ask of a server, one by one; each was seen on a running kube-apiserver 1.37.2.
//!
//! `conformance/suites/run` runs the suites themselves.

use http::{Request, StatusCode};
use kube::Client;
use kubewright_apiserver::ApiServer;
use serde_json::{Value, json};

/// Sends a request with a JSON body, and returns the code and the body of the answer.
async fn send(server: &ApiServer, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
    let content_type = if method == "PATCH" { "application/merge-patch+json" } else { "application/json" };
    send_as(server, method, path, body, content_type, "application/json").await
}

async fn send_as(
    server: &ApiServer,
    method: &str,
    path: &str,
    body: Value,
    content_type: &str,
    accept: &str,
) -> (StatusCode, Value) {
    let client = Client::new(server.service(), "default");
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("Content-Type", content_type)
        .header("Accept", accept)
        .body(kube::client::Body::from(body.to_string().into_bytes()))
        .expect("a request");
    let answer = client.send(request).await.expect("an answer");
    let status = answer.status();
    let text = answer.into_body().collect_bytes().await.expect("a body");
    let value = if text.is_empty() { Value::Null } else { serde_json::from_slice(&text).expect("JSON") };
    (status, value)
}

/// controller-runtime creates an object that it has read before, as a dry run.
#[tokio::test(start_paused = true)]
async fn a_version_on_a_new_object_is_refused_by_the_store_alone() {
    let server = ApiServer::builder().build();
    let maps = "/api/v1/namespaces/default/configmaps";
    let map = |version: &str| json!({"metadata": {"name": "a", "resourceVersion": version}});

    let (code, made) = send(&server, "POST", &format!("{maps}?dryRun=All"), map("5")).await;
    assert_eq!(code, 201);
    assert_eq!(made["metadata"]["resourceVersion"], "5", "it comes back as it was sent");
    let (code, refused) = send(&server, "POST", maps, map("5")).await;
    assert_eq!(code, 500);
    assert_eq!(refused["message"], "resourceVersion should not be set on objects to be created");

    for unreadable in ["0", "abc", "-1", "99999999999999999999"] {
        let (code, made) = send(&server, "POST", maps, map(unreadable)).await;
        assert_eq!(code, 201, "{unreadable}");
        assert_ne!(made["metadata"]["resourceVersion"], unreadable);
        send(&server, "DELETE", &format!("{maps}/a"), json!({})).await;
    }

    send(&server, "POST", maps, map("")).await;
    let (code, _) = send(&server, "POST", &format!("{maps}?dryRun=All"), map("5")).await;
    assert_eq!(code, 409, "a dry run looks whether it is there");
    let (code, _) = send(&server, "POST", maps, map("5")).await;
    assert_eq!(code, 500, "the version comes first");
}

/// `kubectl autoscale` of version 1.32 writes `autoscaling/v1`, and others read what it wrote as `autoscaling/v2`.
#[tokio::test(start_paused = true)]
async fn autoscalers_have_two_versions() {
    let server = ApiServer::builder().build();
    let path =
        |version: &str| format!("/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers");
    let old = json!({
        "apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "web"},
        "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 3,
                 "targetCPUUtilizationPercentage": 70},
    });
    let (code, made) = send(&server, "POST", &path("v1"), old).await;
    assert_eq!(code, 201, "{made}");
    assert_eq!(made["apiVersion"], "autoscaling/v1");
    assert_eq!(
        (&made["spec"]["minReplicas"], &made["spec"]["targetCPUUtilizationPercentage"]),
        (&json!(1), &json!(70))
    );

    let (_, new) = send(&server, "GET", &format!("{}/web", path("v2")), Value::Null).await;
    assert_eq!(new.pointer("/spec/metrics/0/resource/target/averageUtilization"), Some(&json!(70)));
    assert_eq!(
        new["metadata"]["resourceVersion"], made["metadata"]["resourceVersion"],
        "there is one object"
    );

    let memory = json!({"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}}});
    send(&server, "PATCH", &format!("{}/web", path("v2")), json!({"spec": {"metrics": [memory]}})).await;
    let (_, old) = send(&server, "GET", &format!("{}/web", path("v1")), Value::Null).await;
    assert_eq!(old["spec"].get("targetCPUUtilizationPercentage"), None);
    assert_eq!(
        old["metadata"]["annotations"]["autoscaling.alpha.kubernetes.io/metrics"],
        r#"[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]"#
    );

    let patch = json!({"spec": {"targetCPUUtilizationPercentage": 60}});
    let (_, patched) = send(&server, "PATCH", &format!("{}/web?fieldManager=old", path("v1")), patch).await;
    let entries = patched["metadata"]["managedFields"].as_array().expect("a list");
    let own = entries.iter().find(|entry| entry["manager"] == "old").expect("an entry");
    assert_eq!(own["apiVersion"], "autoscaling/v1");
    assert_eq!(own["fieldsV1"], json!({"f:spec": {"f:targetCPUUtilizationPercentage": {}}}));
    let (_, new) = send(&server, "GET", &format!("{}/web", path("v2")), Value::Null).await;
    assert_eq!(new["spec"]["metrics"][0], memory);
    assert_eq!(new.pointer("/spec/metrics/1/resource/name"), Some(&json!("cpu")));
}

/// `kubectl get --subresource=scale`.
#[tokio::test(start_paused = true)]
async fn a_scale_has_a_table_and_metadata() {
    let server = ApiServer::builder().build();
    let deployments = "/apis/apps/v1/namespaces/default/deployments";
    let labels = json!({"app": "web"});
    let deployment = json!({
        "metadata": {"name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": {
            "metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "web"}]},
        }},
    });
    send(&server, "POST", deployments, deployment).await;
    let scale = format!("{deployments}/web/scale");
    let get = |accept: &'static str| send_as(&server, "GET", &scale, Value::Null, "application/json", accept);
    let (_, table) = get("application/json;as=Table;v=v1;g=meta.k8s.io").await;
    let names = table["columnDefinitions"].as_array().expect("columns").iter().map(|column| &column["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["Name", "Desired", "Available", "Age"]);
    assert_eq!(
        table["rows"][0]["cells"].as_array().map(|cells| &cells[..3]),
        Some(&[json!("web"), json!(2), json!(0)][..])
    );
    let (_, partial) = get("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io").await;
    assert_eq!(
        (&partial["kind"], &partial["metadata"]["name"]),
        (&json!("PartialObjectMetadata"), &json!("web"))
    );
}

/// `kubectl logs` of a pod that does not run.
#[tokio::test(start_paused = true)]
async fn a_pod_that_runs_nowhere_has_an_empty_log() {
    let server = ApiServer::builder().build();
    let pods = "/api/v1/namespaces/default/pods";
    let container = |name: &str| json!({"name": name, "image": "image"});
    let pod = |name: &str, node: Value, containers: Value| json!({"metadata": {"name": name}, "spec": {"nodeName": node, "initContainers": [container("i")], "containers": containers}});
    send(&server, "POST", pods, pod("two", Value::Null, json!([container("a"), container("b")]))).await;
    let one =
        json!({"metadata": {"name": "one"}, "spec": {"nodeName": "n1", "containers": [container("a")]}});
    send(&server, "POST", pods, one).await;
    for (path, code, message) in [
        ("two/log?container=a", 204, ""),
        ("two/log?container=i&follow=true", 204, ""),
        ("two/log", 400, "a container name must be specified for pod two, choose one of: [i a b]"),
        ("two/log?container=z", 400, "container z is not valid for pod two"),
        ("one/log", 404, "pods \"n1\" not found"),
        ("none/log", 404, "pods \"none\" not found"),
        ("two/log?container=a&tailLines=x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax"),
        (
            "two/log?container=a&tailLines=-1",
            422,
            "PodLogOptions \"two\" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            "two/log?container=a&sinceSeconds=0",
            422,
            "PodLogOptions \"two\" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0",
        ),
    ] {
        let (answered, answer) = send(&server, "GET", &format!("{pods}/{path}"), Value::Null).await;
        assert_eq!(
            (answered.as_u16(), answer["message"].as_str().unwrap_or_default()),
            (code, message),
            "{path}"
        );
    }
}
