//! Binding, eviction and scale.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;

use super::super::{client, server, status_of};

#[tokio::test(start_paused = true)]
async fn pods_are_bound_and_evicted() {
    use k8s_openapi::api::policy::v1::PodDisruptionBudget;
    use kube::api::EvictParams;

    let server = server();
    let pods: Api<Pod> = Api::default_namespaced(client(&server));
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {"name": "p", "labels": {"app": "p"}}, "spec": {"containers": [{"name": "c", "image": "i"}]},
    }))
    .expect("a pod");
    pods.create(&PostParams::default(), &pod).await.expect("created");
    let bind = async || {
        let body = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"}});
        let request = http::Request::post("/api/v1/namespaces/default/pods/p/binding")
            .body(serde_json::to_vec(&body).expect("JSON"))
            .expect("a request");
        client(&server).request::<serde_json::Value>(request).await
    };
    bind().await.expect("bound");
    let bound = pods.get("p").await.expect("there");
    assert_eq!(bound.spec.and_then(|spec| spec.node_name).as_deref(), Some("n"));
    let again = bind().await.expect_err("it is bound");
    assert_eq!(
        status_of(&again).1,
        "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n\""
    );

    let budgets: Api<PodDisruptionBudget> = Api::default_namespaced(client(&server));
    let budget: PodDisruptionBudget = serde_json::from_value(json!({
        "metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "p"}}},
    }))
    .expect("a budget");
    budgets.create(&PostParams::default(), &budget).await.expect("created");
    let set = async |allowed: i32| {
        let status = json!({"status": {
            "observedGeneration": 1, "disruptionsAllowed": allowed, "desiredHealthy": 1, "currentHealthy": 1,
        }});
        budgets.patch_status("b", &PatchParams::default(), &Patch::Merge(status)).await.expect("patched");
    };
    let ready = json!({"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}});
    pods.patch_status("p", &PatchParams::default(), &Patch::Merge(ready)).await.expect("patched");
    set(0).await;
    let refused = pods.evict("p", &EvictParams::default()).await.expect_err("the budget is used up");
    assert_eq!(status_of(&refused).0, 429);
    set(1).await;
    pods.evict("p", &EvictParams::default()).await.expect("evicted");
    assert!(pods.get("p").await.expect("it has grace").metadata.deletion_timestamp.is_some());
}

#[tokio::test(start_paused = true)]
async fn the_number_of_replicas_has_an_endpoint_of_its_own() {
    let server = server();
    let deployments: Api<Deployment> = Api::default_namespaced(client(&server));
    let deployment: Deployment = serde_json::from_value(json!({
        "metadata": {"name": "d"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "d"}},
            "template": {"metadata": {"labels": {"app": "d"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        },
    }))
    .expect("a deployment");
    deployments.create(&PostParams::default(), &deployment).await.expect("created");
    let patch = Patch::Merge(json!({"spec": {"replicas": 4}}));
    let scale = deployments.patch_scale("d", &PatchParams::default(), &patch).await.expect("scaled");
    assert_eq!(scale.spec.and_then(|spec| spec.replicas), Some(4));
    assert_eq!(scale.status.and_then(|status| status.selector).as_deref(), Some("app=d"));
    let scaled = deployments.get("d").await.expect("there");
    assert_eq!((scaled.spec.replicas, scaled.metadata.generation), (Some(4), Some(2)));
    let wrong = Patch::Merge(json!({"spec": {"replicas": -1}}));
    let refused = deployments.patch_scale("d", &PatchParams::default(), &wrong).await.expect_err("negative");
    assert_eq!(
        status_of(&refused).1,
        "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0"
    );
}
