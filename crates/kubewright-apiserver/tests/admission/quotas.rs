//! Quotas under concurrent writes.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use crate::cluster::{Cluster, webhook};

const SECRETS: &str = "/api/v1/namespaces/t/secrets";
const PODS: &str = "/api/v1/namespaces/t/pods";

/// A quota of which nothing is used yet.
async fn quota(cluster: &Cluster, name: &str, hard: Value) {
    let used: Value = hard.as_object().expect("a map").keys().map(|key| (key.clone(), json!("0"))).collect();
    cluster.create(json!({
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name, "namespace": "t"}, "spec": {"hard": hard},
    }));
    let status = json!({"status": {"hard": hard, "used": used}});
    let path = format!("/api/v1/namespaces/t/resourcequotas/{name}/status");
    assert_eq!(cluster.send("PATCH", &path, status).await.code, 200);
}

async fn used(cluster: &Cluster, name: &str) -> Value {
    let path = format!("/api/v1/namespaces/t/resourcequotas/{name}");
    cluster.send("GET", &path, Value::Null).await.body["status"]["used"].clone()
}

/// How many of the requests were allowed; the others have to be refused for the quota.
async fn allowed(
    requests: impl IntoIterator<Item = impl Future<Output = crate::cluster::Answered>>,
) -> usize {
    let answers = join_all(requests).await;
    for refused in answers.iter().filter(|answered| answered.code != 201) {
        assert_eq!(refused.code, 403, "{refused:?}");
        assert!(refused.message().contains("exceeded quota: "), "{refused:?}");
    }
    answers.iter().filter(|answered| answered.code == 201).count()
}

#[tokio::test(start_paused = true)]
async fn concurrent_creates_never_exceed_a_quota() {
    let cluster = Cluster::new();
    quota(&cluster, "few", json!({"secrets": "10"})).await;
    quota(&cluster, "many", json!({"count/secrets": "25"})).await;
    // Each create waits for a webhook, for another time than the others, before it is charged.
    cluster.configure("Validating", "slow", vec![webhook("slow", "/slow", &json!({}))]).await;
    let create = |index: u64| {
        let cluster = &cluster;
        async move {
            tokio::time::sleep(Duration::from_millis(index * 7 % 13)).await;
            cluster.send("POST", SECRETS, json!({"metadata": {"name": format!("s{index}")}})).await
        }
    };
    assert_eq!(allowed((0..60).map(create)).await, 10);
    assert_eq!(used(&cluster, "few").await, json!({"secrets": "10"}));
    // Who is refused by one quota is not charged to another one.
    assert_eq!(used(&cluster, "many").await, json!({"count/secrets": "10"}));
    let list = cluster.send("GET", SECRETS, Value::Null).await;
    assert_eq!(list.body["items"].as_array().map(Vec::len), Some(10));
}

#[tokio::test(start_paused = true)]
async fn what_is_charged_adds_up_while_others_write_the_quota() {
    let cluster = Cluster::new();
    quota(&cluster, "cpu", json!({"requests.cpu": "1"})).await;
    let create = |index: usize| {
        let cluster = &cluster;
        let container = json!({"name": "c", "image": "i", "resources": {"requests": {"cpu": format!("{}m", 100 + index)}}});
        let pod = json!({"metadata": {"name": format!("p{index}")}, "spec": {"containers": [container]}});
        async move { cluster.send("POST", PODS, pod).await }
    };
    let label = |index: usize| {
        let cluster = &cluster;
        let patch = json!({"metadata": {"labels": {"a": index.to_string()}}});
        async move { cluster.send("PATCH", "/api/v1/namespaces/t/resourcequotas/cpu", patch).await }
    };
    let labels = join_all((0..20).map(label));
    let (count, labels) = tokio::join!(allowed((0..30).map(create)), labels);
    assert!(labels.iter().all(|answered| answered.code == 200), "{labels:?}");
    let list = cluster.send("GET", PODS, Value::Null).await;
    let pods = list.body["items"].as_array().expect("a list");
    assert_eq!(pods.len(), count);
    let milli = |pod: &Value| -> u64 {
        let text = pod["spec"]["containers"][0]["resources"]["requests"]["cpu"].as_str().expect("text");
        text.trim_end_matches('m').parse().expect("a number")
    };
    let total: u64 = pods.iter().map(milli).sum();
    assert!(total <= 1000, "{total}");
    assert_eq!(used(&cluster, "cpu").await, json!({"requests.cpu": format!("{total}m")}));
}
