//! A cluster in one thread under paused time.

#![allow(dead_code, reason = "each test file uses a part of the harness")]

use std::{fmt::Debug, time::Duration};

use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::{Deployment, ReplicaSet},
        core::v1::{Event, Pod},
    },
};
use kube::{Api, Client, Resource, api::ListParams, core::ObjectMeta};
use kubewright_apiserver::{AdmissionPlugins, ApiServer};
use kubewright_cluster::{Cluster, Selection};
use kubewright_world::{Clock, Random};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) struct TestCluster {
    pub(crate) server: ApiServer,
    pub(crate) client: Client,
    pub(crate) clock: Clock,
    stop: CancellationToken,
    running: JoinHandle<kubewright_runtime::Result<()>>,
}

impl TestCluster {
    pub(crate) fn start(seed: u64) -> Self {
        Self::with(seed, "*")
    }

    pub(crate) fn with(seed: u64, controllers: &str) -> Self {
        // `RUST_LOG=kubewright_cluster=debug` shows what the controllers do.
        let filter = tracing_subscriber::EnvFilter::from_default_env();
        let _ = tracing_subscriber::fmt().with_env_filter(filter).with_test_writer().try_init();
        let random = Random::seeded(seed);
        let clock = Clock::starting_at("2030-01-01T00:00:00Z".parse().expect("a valid timestamp"));
        let controllers: Selection = controllers.parse().expect("a valid selection");
        let disabled = (!controllers.selects("serviceaccount-controller")).then_some("ServiceAccount");
        let server = ApiServer::builder()
            .clock(clock.clone())
            .random(random.fork())
            .admission_plugins(AdmissionPlugins::new([""; 0], disabled).expect("known plugins"))
            .build();
        let client = Client::new(server.service(), "default");
        let stop = CancellationToken::new();
        let cluster =
            Cluster::builder(client.clone(), clock.clone(), random.fork()).controllers(controllers).build();
        let running = tokio::spawn(cluster.run(stop.clone()));
        Self { server, client, clock, stop, running }
    }

    pub(crate) fn create(&self, object: Value) -> Value {
        self.server.create(object).expect("the object is created")
    }

    pub(crate) fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), "default")
    }

    pub(crate) async fn deployment(&self, name: &str) -> Deployment {
        self.api().get(name).await.expect("the deployment")
    }

    pub(crate) async fn list<K>(&self) -> Vec<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + DeserializeOwned + Debug,
    {
        self.api::<K>().list(&ListParams::default()).await.expect("a list").items
    }

    pub(crate) async fn pods(&self) -> Vec<Pod> {
        self.list().await
    }

    pub(crate) async fn replica_sets(&self) -> Vec<ReplicaSet> {
        self.list().await
    }

    /// The reasons and messages of the events about an object.
    pub(crate) async fn events(&self, kind: &str, name: &str) -> Vec<String> {
        let events: Vec<Event> = self.list().await;
        let about = |event: &&Event| {
            event.involved_object.kind.as_deref() == Some(kind)
                && event.involved_object.name.as_deref() == Some(name)
        };
        let mut told: Vec<_> = events
            .iter()
            .filter(about)
            .map(|event| {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                format!("{}: {}", text(&event.reason), text(&event.message))
            })
            .collect();
        told.sort();
        told
    }

    /// Waits, in virtual time, until `condition` holds.
    pub(crate) async fn until(&self, what: &str, mut condition: impl AsyncFnMut() -> bool) {
        for _ in 0..3000 {
            if condition().await {
                return;
            }
            assert!(!self.running.is_finished(), "the cluster ended before {what}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{what} does not happen within five minutes; the objects:\n{}", self.dump().await);
    }

    pub(crate) async fn until_available(&self, name: &str) {
        self.until(&format!("deployment {name} is rolled out"), async || {
            is_rolled_out(&self.deployment(name).await)
        })
        .await;
    }

    pub(crate) async fn dump(&self) -> String {
        let mut text = String::new();
        for deployment in self.list::<Deployment>().await {
            text.push_str(&format!("{:?} {:?}\n", deployment.metadata.name, deployment.status));
        }
        for replica_set in self.replica_sets().await {
            text.push_str(&format!(
                "{:?} {:?} {:?}\n",
                replica_set.metadata.name, replica_set.spec.replicas, replica_set.status
            ));
        }
        for pod in self.pods().await {
            let status = pod.status.unwrap_or_default();
            text.push_str(&format!(
                "{:?} {:?} deleted {:?} {:?} {:?}\n",
                pod.metadata.name,
                pod.metadata.labels,
                pod.metadata.deletion_timestamp,
                status.phase,
                status.conditions.into_iter().flatten().find(|condition| condition.type_ == "Ready"),
            ));
        }
        text
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.running.await.expect("no panic").expect("a clean end");
    }
}

/// As `kubectl rollout status` judges.
pub(crate) fn is_rolled_out(deployment: &Deployment) -> bool {
    let Some(status) = &deployment.status else { return false };
    let wanted = deployment.spec.replicas;
    deployment.metadata.generation <= status.observed_generation
        && status.updated_replicas == wanted
        && status.replicas == wanted
        && status.available_replicas == wanted
}

pub(crate) fn deployment(name: &str, replicas: i32) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "progressDeadlineSeconds": 600,
            "revisionHistoryLimit": 10,
            "selector": {"matchLabels": {"app": name}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "web", "image": "nginx:1.29"}]},
            },
        },
    })
}

pub(crate) fn config_map(name: &str, owners: &[Value]) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default", "ownerReferences": owners},
    })
}

pub(crate) fn owner(object: &Value) -> Value {
    json!({
        "apiVersion": object["apiVersion"],
        "kind": object["kind"],
        "name": object["metadata"]["name"],
        "uid": object["metadata"]["uid"],
        "blockOwnerDeletion": true,
    })
}

pub(crate) fn names<'a>(objects: impl IntoIterator<Item = &'a ObjectMeta>) -> Vec<String> {
    objects.into_iter().filter_map(|meta| meta.name.clone()).collect()
}
