//! What workloads find around them: a node, endpoints, volumes, and garbage collection of custom resources.

mod harness;

use std::time::Duration;

use harness::{TestCluster, config_map, deployment, names};
use k8s_openapi::api::{
    admissionregistration::v1::ValidatingAdmissionPolicy,
    coordination::v1::Lease,
    core::v1::{ConfigMap, Endpoints, Node, PersistentVolume, PersistentVolumeClaim, Pod, ResourceQuota},
    discovery::v1::EndpointSlice,
};
use kube::{Api, ResourceExt, api::DeleteParams};
use serde_json::{Value, json};

#[tokio::test(start_paused = true)]
async fn the_node_is_ready_and_renews_its_lease() {
    let cluster = TestCluster::start(1);
    let nodes: Api<Node> = Api::all(cluster.client.clone());
    let leases: Api<Lease> = Api::namespaced(cluster.client.clone(), "kube-node-lease");
    let renewed = async || leases.get_opt("kubewright-node").await.expect("an answer")?.spec?.renew_time;
    cluster.until("the lease is there", async || renewed().await.is_some()).await;
    let node = nodes.get("kubewright-node").await.expect("the node");
    let status = node.status.expect("a status");
    let ready =
        status.conditions.iter().flatten().find(|condition| condition.type_ == "Ready").expect("Ready");
    assert_eq!((ready.status.as_str(), ready.reason.as_deref()), ("True", Some("KubeletReady")));
    let first = renewed().await;
    tokio::time::sleep(Duration::from_secs(15)).await;
    assert!(renewed().await > first);
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_service_has_the_addresses_of_its_ready_pods() {
    let cluster = TestCluster::start(2);
    cluster.create(deployment("web", 3));
    cluster.create(json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]},
    }));
    cluster.until_available("web").await;
    let slices = cluster.api::<EndpointSlice>();
    let ready = async || {
        let list = slices.list(&Default::default()).await.expect("a list").items;
        let endpoints = list
            .iter()
            .filter(|slice| slice.labels().get("kubernetes.io/service-name").is_some_and(|n| n == "web"));
        endpoints
            .flat_map(|slice| slice.endpoints.iter().flatten())
            .filter(|endpoint| {
                endpoint.conditions.as_ref().and_then(|conditions| conditions.ready) == Some(true)
            })
            .count()
    };
    cluster.until("the slice has three ready endpoints", async || ready().await == 3).await;
    let endpoints = cluster.api::<Endpoints>();
    cluster
        .until("the endpoints have three addresses", async || {
            let web = endpoints.get_opt("web").await.expect("an answer");
            let subsets = web.and_then(|web| web.subsets).unwrap_or_default();
            subsets.len() == 1 && subsets[0].addresses.as_ref().is_some_and(|addresses| addresses.len() == 3)
        })
        .await;
    cluster
        .api::<k8s_openapi::api::core::v1::Service>()
        .delete("web", &DeleteParams::default())
        .await
        .expect("the deletion");
    cluster
        .until("both go with the service", async || {
            ready().await == 0 && endpoints.get_opt("web").await.expect("an answer").is_none()
        })
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_gets_a_volume_and_takes_it_along() {
    let cluster = TestCluster::start(3);
    cluster.create(json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }));
    let claims = cluster.api::<PersistentVolumeClaim>();
    let volumes: Api<PersistentVolume> = Api::all(cluster.client.clone());
    cluster
        .until("the claim is bound", async || {
            let claim = claims.get("data").await.expect("the claim");
            claim.status.and_then(|status| status.phase).as_deref() == Some("Bound")
        })
        .await;
    let list = async || volumes.list(&Default::default()).await.expect("a list").items;
    cluster
        .until("so is the volume", async || {
            list().await.iter().any(|v| v.status.as_ref().and_then(|s| s.phase.as_deref()) == Some("Bound"))
        })
        .await;
    claims.delete("data", &DeleteParams::default()).await.expect("the deletion");
    cluster.until("the volume is gone", async || list().await.is_empty()).await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_stays_as_long_as_a_pod_has_it() {
    let cluster = TestCluster::start(5);
    cluster.create(json!({
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }));
    cluster.create(json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "user", "namespace": "default"},
        "spec": {
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
            "containers": [{"name": "c", "image": "i", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
        },
    }));
    let (pods, claims) = (cluster.api::<Pod>(), cluster.api::<PersistentVolumeClaim>());
    cluster
        .until("the pod is on a node", async || {
            pods.get("user").await.expect("the pod").spec.is_some_and(|spec| spec.node_name.is_some())
        })
        .await;
    claims.delete("data", &DeleteParams::default()).await.expect("the deletion");
    tokio::time::sleep(Duration::from_secs(60)).await;
    let claim = claims.get("data").await.expect("the claim is there");
    assert!(claim.metadata.deletion_timestamp.is_some());
    pods.delete("user", &DeleteParams::default()).await.expect("the deletion");
    cluster
        .until("the claim is gone", async || claims.get_opt("data").await.expect("an answer").is_none())
        .await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_is_deleted_is_given_back_to_the_quota() {
    let cluster = TestCluster::start(6);
    let quotas = cluster.api::<ResourceQuota>();
    let config_maps = cluster.api::<ConfigMap>();
    cluster.create(config_map("there-before", &[]));
    // One is there from the beginning, with the certificates of the cluster.
    cluster
        .until("the certificates are there", async || {
            config_maps.get_opt("kube-root-ca.crt").await.expect("an answer").is_some()
        })
        .await;
    cluster.create(json!({
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "default"},
        "spec": {"hard": {"count/configmaps": "3", "pods": "1", "count/deployments.apps": "1"}},
    }));
    let used = async |name: &str| {
        let status = quotas.get("few").await.expect("the quota").status.unwrap_or_default();
        status.used.unwrap_or_default().get(name).map(|amount| amount.0.clone()).unwrap_or_default()
    };
    cluster.until("it is counted", async || used("count/configmaps").await == "2").await;
    assert_eq!((used("pods").await, used("count/deployments.apps").await), ("0".to_owned(), "0".to_owned()));

    let create = async |name: &str| {
        let config_map: ConfigMap = serde_json::from_value(config_map(name, &[])).expect("a config map");
        config_maps.create(&Default::default(), &config_map).await
    };
    create("third").await.expect("within the quota");
    let refused = create("fourth").await.expect_err("beyond the quota");
    assert!(refused.to_string().contains("exceeded quota: few"), "{refused}");
    config_maps.delete("third", &DeleteParams::default()).await.expect("the deletion");
    cluster.until("it is given back", async || used("count/configmaps").await == "2").await;
    create("fourth").await.expect("within the quota");

    // A deployment gets as many pods as the quota allows, and goes on when one of them is gone.
    cluster.create(deployment("web", 2));
    cluster.until("a pod runs", async || used("pods").await == "1").await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(cluster.pods().await.len(), 1);
    let name = cluster.pods().await[0].name_any();
    cluster.api::<Pod>().delete(&name, &DeleteParams::default()).await.expect("the deletion");
    cluster
        .until("another pod runs", async || {
            let pods = cluster.pods().await;
            pods.len() == 1 && pods[0].name_any() != name
        })
        .await;
    cluster.stop().await;
}

fn definition() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "memcacheds.cache.example.com"},
        "spec": {
            "group": "cache.example.com",
            "names": {"kind": "Memcached", "plural": "memcacheds", "singular": "memcached", "listKind": "MemcachedList"},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1alpha1",
                "served": true,
                "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

#[tokio::test(start_paused = true)]
async fn the_garbage_of_new_custom_resources_is_collected() {
    let cluster = TestCluster::start(4);
    tokio::time::sleep(Duration::from_secs(60)).await;
    cluster.create(definition());
    let memcached = cluster.create(json!({
        "apiVersion": "cache.example.com/v1alpha1",
        "kind": "Memcached",
        "metadata": {"name": "cart", "namespace": "default"},
    }));
    cluster.create(config_map("child", &[harness::owner(&memcached)]));
    tokio::time::sleep(Duration::from_secs(60)).await;
    let api = cluster.api::<ConfigMap>();
    let children = async || {
        names(api.list(&Default::default()).await.expect("a list").items.iter().map(|c| &c.metadata))
    };
    assert!(children().await.contains(&"child".to_owned()));
    let request =
        http::Request::delete("/apis/cache.example.com/v1alpha1/namespaces/default/memcacheds/cart");
    let _: Value =
        cluster.client.request(request.body(Vec::new()).expect("a request")).await.expect("the deletion");
    cluster.until("the child is gone", async || !children().await.contains(&"child".to_owned())).await;
    cluster.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_expressions_of_policies_are_checked_against_their_kinds() {
    let cluster = TestCluster::start(8);
    let policy = |name: &str, expression: &str| {
        let rule = json!({
            "apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments", "replicasets"],
        });
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "matchConstraints": {"resourceRules": [rule]},
                "variables": [{"name": "replicas", "expression": "object.spec.replicas"}],
                "validations": [{"expression": expression, "messageExpression": "'has ' + string(variables.replicas)"}],
            },
        })
    };
    cluster.create(policy("right", "variables.replicas > 1 && object.metadata.name != ''"));
    cluster.create(policy("wrong", "object.spec.paused || variables.replicas == '1'"));
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(cluster.client.clone());
    let status = async |name: &str| policies.get(name).await.expect("the policy").status;
    let observed = async |name: &str| status(name).await.and_then(|status| status.observed_generation);
    cluster
        .until("both are checked", async || {
            observed("right").await == Some(1) && observed("wrong").await == Some(1)
        })
        .await;
    let warnings = async |name: &str| {
        let checking = status(name).await.and_then(|status| status.type_checking);
        checking.and_then(|checking| checking.expression_warnings).unwrap_or_default()
    };
    assert_eq!(warnings("right").await, []);
    let wrong = warnings("wrong").await;
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert_eq!(wrong[0].field_ref, "spec.validations[0].expression");
    let source = "object.spec.paused || variables.replicas == '1'";
    let overload = format!(
        "ERROR: <input>:1:42: found no matching overload for '_==_' applied to '(int, string)'\n | {source}\n | {}^",
        ".".repeat(41)
    );
    let field = format!("ERROR: <input>:1:12: undefined field 'paused'\n | {source}\n | {}^", ".".repeat(11));
    assert_eq!(
        wrong[0].warning,
        format!("apps/v1, Kind=Deployment: {overload}\n\napps/v1, Kind=ReplicaSet: {field}\n{overload}\n")
    );
    cluster.stop().await;
}
