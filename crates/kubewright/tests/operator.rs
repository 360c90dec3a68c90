//! An operator as a user writes it, on the embedded API server, in one thread under paused time.

use std::time::Duration;

use kubewright::{k8s_openapi::api::apps::v1::Deployment, prelude::*};
use kubewright_apiserver::ApiServer;
use kubewright_world::Random;
use serde_json::json;
use tokio_util::sync::CancellationToken;

/// MemcachedSpec defines the desired state of Memcached.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "cache.example.com",
    version = "v1alpha1",
    kind = "Memcached",
    namespaced,
    status = "MemcachedStatus"
)]
#[serde(rename_all = "camelCase")]
struct MemcachedSpec {
    /// Size is the number of Memcached instances.
    size: i32,
}

/// MemcachedStatus is what was observed.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
struct MemcachedStatus {
    /// Conditions, of which Available says whether all instances are there.
    #[serde(default)]
    conditions: Vec<Condition>,
}

struct MemcachedReconciler {
    client: Client,
    recorder: Recorder,
    clock: Clock,
}

impl Reconciler for MemcachedReconciler {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        let Some(memcached) = self.client.get::<Memcached>(&request).await? else {
            return Ok(Action::done());
        };
        let labels =
            json!({"app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": request.name});
        let mut deployment: Deployment = serde_json::from_value(json!({
            "metadata": {"name": request.name, "namespace": request.namespace},
            "spec": {
                "replicas": memcached.spec.size,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "memcached", "image": "memcached:1.6"}]},
                },
            },
        }))?;
        set_controller_reference(&*memcached, &mut deployment)?;
        if self.client.get::<Deployment>(&request).await?.is_none() {
            self.recorder.normal(&*memcached, "Created", "CreateDeployment", "created the deployment");
        }
        let deployment = self.client.apply(&deployment).await?;

        let mut status = memcached.status.clone().unwrap_or_default();
        let ready = deployment.status.and_then(|status| status.ready_replicas).unwrap_or_default();
        let message = format!("{ready} of {} instances are ready", memcached.spec.size);
        let condition = if ready == memcached.spec.size {
            NewCondition::new_true("Available", "Ready", message)
        } else {
            NewCondition::new_false("Available", "Progressing", message)
        };
        let condition = condition.observed(memcached.metadata.generation);
        if set_condition(&mut status.conditions, condition, self.clock.now()) {
            let mut updated = (*memcached).clone();
            updated.status = Some(status);
            self.client.status().update(&updated).await?;
        }
        Ok(Action::done())
    }
}

fn operator(server: &ApiServer, clock: &Clock) -> Manager {
    let manager = Manager::builder(Options::default())
        .client(kubewright::kube::Client::new(server.service(), "default"))
        .clock(clock.clone())
        .random(Random::seeded(1))
        .build()
        .expect("a manager");
    let reconciler = MemcachedReconciler {
        client: manager.client(),
        recorder: manager.recorder("memcached"),
        clock: clock.clone(),
    };
    Controller::new::<Memcached>(&manager).owns::<Deployment>().run(reconciler).expect("a controller");
    manager
}

/// Installs the definition and runs the operator through the life of one object. Returns every object that the
/// server has at the end, as a history of the run.
async fn life_of_a_memcached() -> Vec<String> {
    let clock = Clock::starting_at("2030-01-01T00:00:00Z".parse().expect("a timestamp"));
    let server = ApiServer::builder().clock(clock.clone()).random(Random::seeded(7)).build();
    let manager = operator(&server, &clock);
    let client = manager.client();
    for definition in manager.crds().definitions().expect("the definitions are right") {
        client.create(&definition).await.expect("the definition is installed");
    }
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start_until(stop).await }
    });

    let mut memcached = Memcached::new("cart", MemcachedSpec { size: 3 });
    memcached.metadata.namespace = Some("default".into());
    client.create(&memcached).await.expect("created");
    let key = Request::namespaced("default", "cart");
    let mut deployment =
        until(|| async { client.live().get::<Deployment>(&key).await.expect("an answer") }).await;
    assert_eq!(deployment.spec.replicas, Some(3));
    assert_eq!(controller_of(&deployment).map(|owner| owner.kind.as_str()), Some("Memcached"));

    // There are no workloads here, so the test plays the deployment controller.
    deployment.status.get_or_insert_default().replicas = Some(3);
    deployment.status.get_or_insert_default().ready_replicas = Some(3);
    client.status().update(&deployment).await.expect("updated");
    until(|| async {
        let memcached = client.live().get::<Memcached>(&key).await.expect("an answer").expect("it is there");
        let conditions = memcached.status.map(|status| status.conditions).unwrap_or_default();
        is_condition_true(&conditions, "Available").then_some(())
    })
    .await;

    client.patch::<Memcached>(&key, Patch::merge(json!({"spec": {"size": 2}}))).await.expect("scaled");
    until(|| async {
        let deployment =
            client.live().get::<Deployment>(&key).await.expect("an answer").expect("it is there");
        (deployment.spec.replicas == Some(2)).then_some(())
    })
    .await;
    stop.cancel();
    running.await.expect("no panic").expect("an orderly end");

    let metrics = manager.metrics().encode();
    assert!(
        metrics.contains("controller_runtime_reconcile_errors_total{controller=\"memcached\"} 0\n"),
        "{metrics}"
    );
    let live = client.live();
    let mut history = Vec::new();
    history.push(format!("{:?}", live.list::<Memcached>(ListOptions::all()).await.expect("a list")));
    history.push(format!("{:?}", live.list::<Deployment>(ListOptions::all()).await.expect("a list")));
    type Event = kubewright::k8s_openapi::api::events::v1::Event;
    let events = live.list::<Event>(ListOptions::all()).await.expect("a list");
    assert_eq!(events.len(), 1);
    history.push(format!("{events:?}"));
    history.push(metrics);
    history
}

/// Asks until there is an answer.
async fn until<T, F: Future<Output = Option<T>>>(ask: impl Fn() -> F) -> T {
    let answer = async {
        loop {
            if let Some(answer) = ask().await {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(600), answer).await.expect("an answer in time")
}

#[tokio::test(start_paused = true)]
async fn an_operator_runs_on_the_embedded_server() {
    life_of_a_memcached().await;
}

#[test]
fn two_runs_with_one_seed_are_equal() {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("tokio");
        runtime.block_on(life_of_a_memcached())
    };
    assert_eq!(run(), run());
}

#[tokio::test]
async fn the_operator_knows_its_definitions_without_a_cluster() {
    let options = Options::from_command_line(["operator", "crd"]).expect("a valid command line");
    let manager = Manager::new(options).await.expect("a manager without a cluster");
    Controller::new::<Memcached>(&manager)
        .owns::<Deployment>()
        .run(reconcile_fn(|_| async { Ok(Action::done()) }))
        .expect("a controller");
    let definitions = manager.crds().definitions().expect("the definitions are right");
    let names: Vec<_> = definitions.iter().map(ResourceExt::name_any).collect();
    assert_eq!(names, ["memcacheds.cache.example.com"]);
    let error = manager.client().live().list::<Memcached>(ListOptions::all()).await.expect_err("no cluster");
    assert!(error.to_string().contains("has no cluster"), "{error}");
}
