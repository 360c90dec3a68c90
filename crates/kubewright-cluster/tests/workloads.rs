//! Deployments, ReplicaSets and their pods on the embedded API server.

mod harness;

use std::time::Duration;

use harness::{TestCluster, deployment, is_rolled_out, names};
use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::{Node, Pod},
};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::{Value, json};

async fn patch(cluster: &TestCluster, name: &str, patch: Value) {
    let api = cluster.api::<Deployment>();
    api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.expect("the patch");
}

fn image(image: &str) -> Value {
    json!({"spec": {"template": {"spec": {"containers": [{"name": "web", "image": image}]}}}})
}

fn condition(deployment: &Deployment, kind: &str) -> (String, String) {
    let conditions = deployment.status.as_ref().and_then(|status| status.conditions.as_ref());
    let condition = conditions.into_iter().flatten().find(|c| c.type_.as_deref() == Some(kind));
    let condition = condition.cloned().unwrap_or_default();
    (condition.status.unwrap_or_default(), condition.reason.unwrap_or_default())
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

#[tokio::test(start_paused = true)]
async fn a_deployment_becomes_available_with_ready_pods() {
    let cluster = TestCluster::start(1);
    cluster.create(deployment("web", 3));
    cluster.until_available("web").await;

    let web = cluster.deployment("web").await;
    assert_eq!(condition(&web, "Available"), ("True".into(), "MinimumReplicasAvailable".into()));
    cluster
        .until("the rollout is judged complete", async || {
            condition(&cluster.deployment("web").await, "Progressing").1 == "NewReplicaSetAvailable"
        })
        .await;
    let web = cluster.deployment("web").await;
    assert_eq!(web.annotations()["deployment.kubernetes.io/revision"], "1");

    let replica_sets = cluster.replica_sets().await;
    assert_eq!(replica_sets.len(), 1);
    let pods = cluster.pods().await;
    assert_eq!(pods.len(), 3);
    let mut addresses: Vec<_> =
        pods.iter().map(|pod| pod.status.as_ref().and_then(|status| status.pod_ip.clone())).collect();
    addresses.dedup();
    assert_eq!(addresses.len(), 3);
    for pod in &pods {
        assert!(is_ready(pod), "{pod:?}");
        assert!(pod.name_any().starts_with(&format!("{}-", replica_sets[0].name_any())));
        assert_eq!(pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()), Some("kubewright-node"));
    }

    let events = cluster.events("Deployment", "web").await;
    let name = replica_sets[0].name_any();
    assert_eq!(events, [format!("ScalingReplicaSet: Scaled up replica set {name} from 0 to 3")]);
    let pod = pods[0].name_any();
    let mut told: Vec<_> = cluster
        .events("Pod", &pod)
        .await
        .iter()
        .map(|event| event.split(':').next().unwrap_or("").to_owned())
        .collect();
    told.sort();
    assert_eq!(told, ["Created", "Pulled", "Scheduled", "Started"]);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_rolling_update_respects_its_bounds() {
    let cluster = TestCluster::start(2);
    let mut web = deployment("web", 4);
    web["spec"]["strategy"]["rollingUpdate"] = json!({"maxSurge": 1, "maxUnavailable": 1});
    web["spec"]["template"]["metadata"]["annotations"] = json!({"kubewright.dev/ready-delay": "5s"});
    cluster.create(web);
    cluster.until_available("web").await;

    patch(&cluster, "web", image("nginx:1.30")).await;
    let mut steps = 0;
    while !is_rolled_out(&cluster.deployment("web").await) {
        let pods = cluster.pods().await;
        let live = pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
        let ready = live.clone().filter(|pod| is_ready(pod)).count();
        assert!(ready >= 3, "{ready} pods are ready, 3 are needed:\n{}", cluster.dump().await);
        assert!(live.count() <= 5, "at most 5 pods are allowed");
        steps += 1;
        assert!(steps < 3000, "the rollout ends: {}", cluster.dump().await);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(steps > 50, "pods take five seconds to become ready");
    let mut sizes: Vec<_> = cluster
        .replica_sets()
        .await
        .iter()
        .map(|rs| (rs.annotations()["deployment.kubernetes.io/revision"].clone(), rs.spec.replicas))
        .collect();
    sizes.sort();
    assert_eq!(sizes, [("1".into(), Some(0)), ("2".into(), Some(4))]);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn scaling_down_deletes_pods_and_scaling_to_zero_all() {
    let cluster = TestCluster::start(3);
    cluster.create(deployment("web", 5));
    cluster.until_available("web").await;
    patch(&cluster, "web", json!({"spec": {"replicas": 2}})).await;
    cluster.until("two pods are left", async || cluster.pods().await.len() == 2).await;
    cluster.until_available("web").await;
    patch(&cluster, "web", json!({"spec": {"replicas": 0}})).await;
    cluster.until("no pod is left", async || cluster.pods().await.is_empty()).await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn history_is_numbered_and_bounded_and_rolled_back_to() {
    let cluster = TestCluster::start(4);
    let mut web = deployment("web", 1);
    web["spec"]["revisionHistoryLimit"] = json!(2);
    cluster.create(web);
    for version in 1..=5 {
        patch(&cluster, "web", image(&format!("nginx:{version}"))).await;
        cluster.until_available("web").await;
    }
    let revisions = async || {
        let mut revisions: Vec<_> = cluster
            .replica_sets()
            .await
            .iter()
            .map(|rs| rs.annotations()["deployment.kubernetes.io/revision"].clone())
            .collect();
        revisions.sort();
        revisions
    };
    cluster.until("old ReplicaSets are cleaned up", async || revisions().await.len() == 3).await;
    let current = cluster.deployment("web").await.annotations()["deployment.kubernetes.io/revision"].clone();
    assert!(revisions().await.contains(&current));

    patch(&cluster, "web", image("nginx:4")).await;
    cluster.until_available("web").await;
    assert_eq!(revisions().await.len(), 3, "the ReplicaSet of nginx:4 is used again");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_broken_rollout_times_out_and_recovers() {
    let cluster = TestCluster::start(5);
    let mut web = deployment("web", 2);
    web["spec"]["progressDeadlineSeconds"] = json!(60);
    cluster.create(web);
    cluster.until_available("web").await;
    patch(
        &cluster,
        "web",
        json!({"spec": {"template": {"metadata": {"annotations": {"kubewright.dev/image-pull-error": "*"}}}}}),
    )
    .await;
    cluster
        .until("the rollout times out", async || {
            condition(&cluster.deployment("web").await, "Progressing")
                == ("False".into(), "ProgressDeadlineExceeded".into())
        })
        .await;
    let web = cluster.deployment("web").await;
    assert_eq!(condition(&web, "Available").0, "True", "the old pods still serve");
    patch(
        &cluster,
        "web",
        json!({"spec": {"template": {"metadata": {"annotations": {"kubewright.dev/image-pull-error": null}}}}}),
    )
    .await;
    cluster.until_available("web").await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pod_is_replaced() {
    let cluster = TestCluster::start(6);
    cluster.create(deployment("web", 2));
    cluster.until_available("web").await;
    let before = names(cluster.pods().await.iter().map(|pod| &pod.metadata));
    cluster.api::<Pod>().delete(&before[0], &DeleteParams::default()).await.expect("the deletion");
    cluster
        .until("another pod is ready", async || {
            let pods = cluster.pods().await;
            pods.len() == 2
                && pods.iter().all(is_ready)
                && !pods.iter().any(|pod| pod.name_any() == before[0])
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_replica_set_adopts_and_releases_pods() {
    let cluster = TestCluster::start(7);
    cluster.create(deployment("web", 2));
    cluster.until_available("web").await;
    let replica_set = cluster.replica_sets().await[0].name_any();
    let pod = cluster.pods().await[0].name_any();
    let api = cluster.api::<Pod>();
    let relabel = json!({"metadata": {"labels": {"app": "other"}}});
    api.patch(&pod, &PatchParams::default(), &Patch::Merge(relabel)).await.expect("the patch");
    cluster
        .until("the pod is released and replaced", async || {
            let pods = cluster.pods().await;
            pods.len() == 3 && pods.iter().any(|p| p.name_any() == pod && p.owner_references().is_empty())
        })
        .await;
    // It is taken back, and one is too many then.
    let relabel = json!({"metadata": {"labels": {"app": "web"}}});
    api.patch(&pod, &PatchParams::default(), &Patch::Merge(relabel)).await.expect("the patch");
    cluster.until("one pod goes", async || cluster.pods().await.len() == 2).await;
    let owned = |pod: &Pod| pod.owner_references().iter().any(|owner| owner.name == replica_set);
    assert!(cluster.pods().await.iter().all(owned));
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_fits_nowhere_stays_pending_until_it_does() {
    let cluster = TestCluster::start(8);
    let mut web = deployment("web", 1);
    web["spec"]["template"]["spec"]["nodeSelector"] = json!({"disk": "ssd"});
    cluster.create(web);
    let message = "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.";
    cluster
        .until("the pod is unschedulable", async || {
            cluster.pods().await.iter().any(|pod| {
                let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
                conditions.into_iter().flatten().any(|c| c.message.as_deref() == Some(message))
            })
        })
        .await;
    let nodes: Api<Node> = Api::all(cluster.client.clone());
    let label = json!({"metadata": {"labels": {"disk": "ssd"}}});
    nodes.patch("kubewright-node", &PatchParams::default(), &Patch::Merge(label)).await.expect("the patch");
    cluster.until_available("web").await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn many_pods_are_created_exactly_once() {
    let cluster = TestCluster::start(9);
    cluster.create(deployment("web", 120));
    let mut most = 0;
    while !is_rolled_out(&cluster.deployment("web").await) {
        most = most.max(cluster.pods().await.len());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(most <= 120, "{most} pods");
    let sets: Vec<ReplicaSet> = cluster.replica_sets().await;
    assert_eq!(sets.len(), 1);
    cluster.stop().await;
}
