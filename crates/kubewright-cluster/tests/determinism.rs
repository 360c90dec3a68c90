//! One operator-like set of controllers and one server in one thread: two runs with one seed are the same.

mod harness;

use std::time::Duration;

use harness::{TestCluster, deployment};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{DeleteParams, Patch, PatchParams};
use serde_json::{Value, json};

/// Everything the server has, as it would send it.
async fn contents(cluster: &TestCluster) -> Vec<String> {
    let mut contents = vec![format!("revision {}", cluster.server.revision())];
    for path in [
        "/api/v1/namespaces",
        "/api/v1/nodes",
        "/api/v1/pods",
        "/api/v1/events",
        "/api/v1/configmaps",
        "/api/v1/serviceaccounts",
        "/apis/apps/v1/deployments",
        "/apis/apps/v1/replicasets",
        "/apis/coordination.k8s.io/v1/leases",
    ] {
        let request = http::Request::get(path).body(Vec::new()).expect("a request");
        let list: Value = cluster.client.request(request).await.expect("a list");
        contents.extend(list["items"].as_array().into_iter().flatten().map(Value::to_string));
    }
    contents
}

async fn scenario(seed: u64) -> Vec<String> {
    let cluster = TestCluster::start(seed);
    cluster.create(deployment("web", 5));
    cluster.until_available("web").await;
    let api = cluster.api::<Deployment>();
    let image =
        json!({"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:2"}]}}}});
    api.patch("web", &PatchParams::default(), &Patch::Merge(image)).await.expect("the patch");
    cluster.until_available("web").await;
    let mut history = contents(&cluster).await;
    api.delete("web", &DeleteParams::foreground()).await.expect("the deletion");
    cluster.until("all is gone", async || cluster.list::<Deployment>().await.is_empty()).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    history.extend(contents(&cluster).await);
    cluster.stop().await;
    history
}

#[tokio::test(start_paused = true)]
async fn one_seed_gives_one_history() {
    let (one, two) = (scenario(1).await, scenario(1).await);
    for (one, two) in one.iter().zip(&two) {
        assert_eq!(one, two);
    }
    assert_eq!(one.len(), two.len());
    assert_ne!(one, scenario(2).await, "another seed gives other names");
}
