//! The operator on a cluster of its own for each test, under paused time.

use std::time::Duration;

use kubewright::{
    k8s_openapi::api::{
        apps::v1::{Deployment, ReplicaSet},
        core::v1::Pod,
        events::v1::Event,
    },
    kube::{
        Api,
        api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    },
    prelude::{ResourceExt, is_condition_true},
};
use kubewright_testing::{Operator, TestCluster};
use memcached_operator::{
    api::v1alpha1::{Memcached, MemcachedSpec},
    controller::memcached,
};
use serde_json::{Value, json};

const IMAGE: &str = "memcached:1.4.36-alpine";

/// A cluster, the operator in it, and the objects that the tests look at.
struct Scene {
    cluster: TestCluster,
    operator: Operator,
    memcacheds: Api<Memcached>,
    deployments: Api<Deployment>,
    pods: Api<Pod>,
}

impl Scene {
    async fn start() -> Self {
        let cluster = TestCluster::start().await;
        cluster.install::<Memcached>().await;
        let operator = cluster.run("memcached-operator", |manager| memcached::register(manager, IMAGE));
        let client = cluster.client();
        Self {
            cluster,
            operator,
            memcacheds: Api::default_namespaced(client.clone()),
            deployments: Api::default_namespaced(client.clone()),
            pods: Api::default_namespaced(client),
        }
    }

    async fn create(&self, name: &str, size: i32) -> Memcached {
        let memcached = Memcached::new(name, MemcachedSpec { size, container_port: 11211 });
        self.memcacheds.create(&PostParams::default(), &memcached).await.expect("a valid Memcached");
        self.available(name).await
    }

    /// Waits until `name` is rolled out for its current generation.
    async fn available(&self, name: &str) -> Memcached {
        self.cluster
            .eventually("the Memcached is rolled out", async || {
                let memcached = self.memcacheds.get(name).await.ok()?;
                let conditions = memcached.status.as_ref()?.conditions.clone();
                let current =
                    conditions.iter().all(|c| c.observed_generation == memcached.metadata.generation);
                let done = current
                    && is_condition_true(&conditions, "Available")
                    && !is_condition_true(&conditions, "Progressing");
                done.then_some(memcached)
            })
            .await
    }

    async fn change_deployment(&self, name: &str, patch: Value) {
        let patch = Patch::Strategic(patch);
        self.deployments.patch(name, &PatchParams::default(), &patch).await.expect("patched");
    }

    async fn replicas(&self, name: &str) -> Option<i32> {
        self.deployments.get(name).await.ok()?.spec.replicas
    }

    async fn images(&self) -> Vec<String> {
        let pods = self.pods.list(&ListParams::default()).await.expect("listed");
        pods.into_iter().filter_map(|pod| pod.spec?.containers.first()?.image.clone()).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_memcached_becomes_a_deployment_and_reports_its_pods() {
    let scene = Scene::start().await;
    let memcached = scene.create("cache", 3).await;

    let deployment = scene.deployments.get("cache").await.expect("the operator made it");
    let owner = &deployment.metadata.owner_references.as_ref().expect("it is owned")[0];
    assert_eq!((owner.kind.as_str(), owner.controller), ("Memcached", Some(true)));
    let template = deployment.spec.template.spec.expect("a pod spec");
    let container = &template.containers[0];
    assert_eq!(container.image.as_deref(), Some(IMAGE));
    let command = ["memcached", "-m=64", "-o", "modern", "-v"].map(String::from);
    assert_eq!(container.command.as_deref(), Some(command.as_slice()));
    let security = container.security_context.as_ref().expect("a security context");
    assert_eq!((security.run_as_user, security.allow_privilege_escalation), (Some(1001), Some(false)));

    let status = memcached.status.expect("a status");
    let of_cache = ListParams::default().labels("app.kubernetes.io/instance=cache");
    let pods = scene.pods.list(&of_cache).await.expect("listed");
    assert_eq!(status.nodes, pods.iter().map(ResourceExt::name_any).collect::<Vec<_>>());
    assert_eq!(status.nodes.len(), 3);
    assert!(!is_condition_true(&status.conditions, "Degraded"));
    scene.operator.stop().await.expect("it stops cleanly");
}

#[tokio::test(start_paused = true)]
async fn what_others_change_is_healed() {
    let scene = Scene::start().await;
    scene.create("cache", 2).await;
    scene.change_deployment("cache", json!({"spec": {"replicas": 5}})).await;
    scene
        .cluster
        .eventually("the replicas are healed", async || {
            (scene.replicas("cache").await == Some(2)).then_some(())
        })
        .await;

    let containers = json!([{"name": "memcached", "image": "other:1"}]);
    scene
        .change_deployment("cache", json!({"spec": {"template": {"spec": {"containers": containers}}}}))
        .await;
    scene
        .cluster
        .eventually("the image is healed", async || {
            let deployment = scene.deployments.get("cache").await.ok()?;
            let image = deployment.spec.template.spec?.containers.first()?.image.clone()?;
            (image == IMAGE).then_some(())
        })
        .await;

    let uid = scene.deployments.get("cache").await.expect("it is there").uid();
    scene.deployments.delete("cache", &DeleteParams::background()).await.expect("deleted");
    scene
        .cluster
        .eventually("the Deployment is back", async || {
            let deployment = scene.deployments.get("cache").await.ok()?;
            (deployment.uid() != uid).then_some(())
        })
        .await;
    assert_eq!(scene.available("cache").await.status.expect("a status").nodes.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_new_size_is_followed_and_an_idle_operator_writes_nothing() {
    let scene = Scene::start().await;
    scene.create("cache", 1).await;
    let patch = Patch::Merge(json!({"spec": {"size": 3}}));
    scene.memcacheds.patch("cache", &PatchParams::default(), &patch).await.expect("patched");
    let settled = scene.available("cache").await;
    assert_eq!(settled.status.as_ref().expect("a status").nodes.len(), 3);

    let deployment = scene.deployments.get("cache").await.expect("it is there").resource_version();
    let written = scene.cluster.history().count(" PATCH ");
    tokio::time::sleep(Duration::from_secs(3600)).await;
    let later = scene.memcacheds.get("cache").await.expect("it is there");
    assert_eq!(later.resource_version(), settled.resource_version());
    assert_eq!(scene.deployments.get("cache").await.expect("it is there").resource_version(), deployment);
    assert_eq!(scene.cluster.history().count(" PATCH "), written);
}

#[tokio::test(start_paused = true)]
async fn a_size_out_of_range_is_refused() {
    let scene = Scene::start().await;
    let memcached = Memcached::new("cache", MemcachedSpec { size: 9, container_port: 11211 });
    let error = scene.memcacheds.create(&PostParams::default(), &memcached).await.expect_err("9 is too many");
    let kubewright::kube::Error::Api(status) = error else { panic!("{error}") };
    assert_eq!(
        status.message,
        "Memcached.cache.example.com \"cache\" is invalid: spec.size: Invalid value: 9: \
         spec.size in body should be less than or equal to 3"
    );
}

#[tokio::test(start_paused = true)]
async fn a_deleted_memcached_is_finalized_and_all_of_it_is_collected() {
    let scene = Scene::start().await;
    scene.create("cache", 2).await;
    scene.create("other", 1).await;
    scene.memcacheds.delete("cache", &DeleteParams::background()).await.expect("deleted");
    let sets: Api<ReplicaSet> = Api::default_namespaced(scene.cluster.client());
    let of_cache = ListParams::default().labels("app.kubernetes.io/instance=cache");
    scene
        .cluster
        .eventually("nothing is left", async || {
            let gone = scene.memcacheds.get_opt("cache").await.ok()?.is_none()
                && scene.deployments.get_opt("cache").await.ok()?.is_none()
                && sets.list(&of_cache).await.ok()?.items.is_empty()
                && scene.pods.list(&of_cache).await.ok()?.items.is_empty();
            gone.then_some(())
        })
        .await;

    let events: Api<Event> = Api::default_namespaced(scene.cluster.client());
    scene
        .cluster
        .eventually("the deletion is told by an event", async || {
            events.list(&ListParams::default()).await.ok()?.into_iter().find(|event| {
                event.reason.as_deref() == Some("Deleting")
                    && event.regarding.as_ref().is_some_and(|object| object.name.as_deref() == Some("cache"))
            })
        })
        .await;
    assert_eq!(scene.replicas("other").await, Some(1), "the other Memcached is left alone");
}

#[tokio::test(start_paused = true)]
async fn an_operator_with_another_image_rolls_it_out() {
    let scene = Scene::start().await;
    scene.create("cache", 2).await;
    assert_eq!(scene.images().await, [IMAGE, IMAGE]);
    let Scene { cluster, operator, pods, .. } = scene;
    operator.stop().await.expect("it stops cleanly");
    let next = "localhost:5000/memcached:1.6";
    let _operator = cluster.run("memcached-operator", |manager| memcached::register(manager, next));
    cluster
        .eventually("every pod runs the new image", async || {
            let pods = pods.list(&ListParams::default()).await.ok()?.items;
            let runs_next = |pod: &Pod| {
                pod.spec.as_ref().is_some_and(|spec| spec.containers[0].image.as_deref() == Some(next))
            };
            (pods.len() == 2 && pods.iter().all(runs_next)).then_some(())
        })
        .await;
}
