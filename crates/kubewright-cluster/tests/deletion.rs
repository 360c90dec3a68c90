//! The end of objects: cascades, namespaces, finalizers.

mod harness;

use harness::{TestCluster, config_map, deployment, names, owner};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Namespace, Pod, Secret, ServiceAccount},
};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::json;

#[tokio::test(start_paused = true)]
async fn background_deletion_takes_everything_below() {
    let cluster = TestCluster::start(1);
    cluster.create(deployment("web", 2));
    cluster.until_available("web").await;
    let api = cluster.api::<Deployment>();
    api.delete("web", &DeleteParams::background()).await.expect("the deletion");
    assert!(api.get_opt("web").await.expect("an answer").is_none(), "it goes at once");
    cluster
        .until("ReplicaSets and pods are gone", async || {
            cluster.replica_sets().await.is_empty() && cluster.pods().await.is_empty()
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn foreground_deletion_goes_bottom_up() {
    let cluster = TestCluster::start(2);
    cluster.create(deployment("web", 2));
    cluster.until_available("web").await;
    // A pod with a finalizer holds its owners.
    let pod = cluster.pods().await[0].name_any();
    let hold = json!({"metadata": {"finalizers": ["example.com/hold"]}});
    let pods = cluster.api::<Pod>();
    pods.patch(&pod, &PatchParams::default(), &Patch::Merge(hold)).await.expect("the patch");
    cluster.api::<Deployment>().delete("web", &DeleteParams::foreground()).await.expect("the deletion");
    cluster.until("one pod is left", async || cluster.pods().await.len() == 1).await;
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    assert_eq!(names(cluster.pods().await.iter().map(|pod| &pod.metadata)), [&*pod]);
    assert_eq!(cluster.replica_sets().await.len(), 1);
    let web = cluster.deployment("web").await;
    assert_eq!(web.finalizers(), ["foregroundDeletion"]);

    let release = json!({"metadata": {"finalizers": null}});
    pods.patch(&pod, &PatchParams::default(), &Patch::Merge(release)).await.expect("the patch");
    cluster
        .until("all is gone", async || {
            cluster.pods().await.is_empty()
                && cluster.replica_sets().await.is_empty()
                && cluster.list::<Deployment>().await.is_empty()
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn orphaning_leaves_the_dependents() {
    let cluster = TestCluster::start(3);
    cluster.create(deployment("web", 2));
    cluster.until_available("web").await;
    let api = cluster.api::<Deployment>();
    api.delete("web", &DeleteParams::orphan()).await.expect("the deletion");
    cluster.until("the deployment is gone", async || cluster.list::<Deployment>().await.is_empty()).await;
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    let sets = cluster.replica_sets().await;
    assert!(sets.len() == 1 && sets[0].owner_references().is_empty(), "{sets:?}");
    assert_eq!(cluster.pods().await.len(), 2);

    // A new Deployment of the same template takes the ReplicaSet over.
    cluster.create(deployment("web", 2));
    cluster.until_available("web").await;
    assert_eq!(cluster.replica_sets().await.len(), 1);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_object_goes_with_its_last_owner() {
    let cluster = TestCluster::start(4);
    let one = cluster.create(config_map("one", &[]));
    let two = cluster.create(config_map("two", &[]));
    cluster.create(config_map("child", &[owner(&one), owner(&two)]));
    let api = cluster.api::<ConfigMap>();
    api.delete("one", &DeleteParams::background()).await.expect("the deletion");
    cluster
        .until("the absent owner is dropped", async || {
            let child = api.get_opt("child").await.expect("an answer").expect("it has an owner left");
            child.owner_references().len() == 1
        })
        .await;
    api.delete("two", &DeleteParams::background()).await.expect("the deletion");
    cluster
        .until("the child is gone", async || api.get_opt("child").await.expect("an answer").is_none())
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_object_whose_owner_never_was_is_deleted_and_another_namespace_is_told() {
    let cluster = TestCluster::start(5);
    let foreign = cluster.create(json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "foreign", "namespace": "kube-system"},
    }));
    let mut gone = owner(&foreign);
    gone["uid"] = json!("00000000-0000-4000-8000-000000000000");
    cluster.create(config_map("dangling", &[gone]));
    cluster.create(config_map("abroad", &[owner(&foreign)]));
    let api = cluster.api::<ConfigMap>();
    for name in ["dangling", "abroad"] {
        cluster.until("it is deleted", async || api.get_opt(name).await.expect("an answer").is_none()).await;
    }
    let secrets: Api<Secret> = Api::namespaced(cluster.client.clone(), "kube-system");
    assert!(secrets.get_opt("foreign").await.expect("an answer").is_some());
    cluster
        .until("the reference is told", async || {
            let events = cluster.events("ConfigMap", "abroad").await;
            events.iter().any(|event| event.starts_with("OwnerRefInvalidNamespace: ownerRef [v1/Secret,"))
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_cluster_scoped_owner_is_one() {
    let cluster = TestCluster::start(6);
    let class = cluster.create(json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 10,
    }));
    cluster.create(config_map("child", &[owner(&class)]));
    tokio::time::sleep(std::time::Duration::from_secs(60)).await;
    let api = cluster.api::<ConfigMap>();
    assert!(api.get_opt("child").await.expect("an answer").is_some());
    let classes: Api<k8s_openapi::api::scheduling::v1::PriorityClass> = Api::all(cluster.client.clone());
    classes.delete("high", &DeleteParams::background()).await.expect("the deletion");
    cluster.until("it is gone", async || api.get_opt("child").await.expect("an answer").is_none()).await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_goes_with_its_contents() {
    let cluster = TestCluster::start(7);
    cluster.create(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}));
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client.clone(), "shop");
    let config_maps: Api<ConfigMap> = Api::namespaced(cluster.client.clone(), "shop");
    cluster
        .until("the namespace has what every namespace has", async || {
            accounts.get_opt("default").await.expect("an answer").is_some()
                && config_maps.get_opt("kube-root-ca.crt").await.expect("an answer").is_some()
        })
        .await;
    let mut web = deployment("web", 2);
    web["metadata"]["namespace"] = json!("shop");
    cluster.create(web);
    let mut held = config_map("held", &[]);
    held["metadata"]["namespace"] = json!("shop");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    cluster.create(held);

    let namespaces: Api<Namespace> = Api::all(cluster.client.clone());
    namespaces.delete("shop", &DeleteParams::default()).await.expect("the deletion");
    cluster
        .until("the finalizer is told", async || {
            let shop = namespaces.get_opt("shop").await.expect("an answer").expect("it is held");
            let conditions = shop.status.and_then(|status| status.conditions).unwrap_or_default();
            let told = conditions.iter().find(|condition| condition.type_ == "NamespaceFinalizersRemaining");
            told.and_then(|condition| condition.message.as_deref())
                == Some(
                    "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
                )
        })
        .await;
    let release = json!({"metadata": {"finalizers": null}});
    config_maps.patch("held", &PatchParams::default(), &Patch::Merge(release)).await.expect("the patch");
    cluster
        .until("the namespace is gone", async || {
            namespaces.get_opt("shop").await.expect("an answer").is_none()
        })
        .await;
    let pods: Api<Pod> = Api::all(cluster.client.clone());
    let left = pods.list(&Default::default()).await.expect("a list").items;
    assert!(left.iter().all(|pod| pod.namespace().as_deref() != Some("shop")), "{left:?}");
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_default_service_account_comes_back() {
    let cluster = TestCluster::start(8);
    let api = cluster.api::<ServiceAccount>();
    let exists = async || api.get_opt("default").await.expect("an answer").is_some();
    cluster.until("it is created", exists).await;
    let first = api.get("default").await.expect("the account").uid();
    api.delete("default", &DeleteParams::default()).await.expect("the deletion");
    cluster
        .until("it is created again", async || {
            api.get_opt("default").await.expect("an answer").is_some_and(|account| account.uid() != first)
        })
        .await;
    cluster.stop().await;
}
