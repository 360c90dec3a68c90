//! Reconcilers that never come to rest are found, with the fields and those who set them.

use std::time::Duration;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    Action, Reconciler, Request, Result,
    client::{Client, Patch},
    controller::Controller,
    diagnostics::Report,
    manager::{Manager, Options},
};
use kubewright_world::Random;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// How long the operator takes for a reconciliation. A loop without a pause would leave no moment for time to pass.
const PAUSE: Duration = Duration::from_millis(100);

fn manager(server: &ApiServer) -> Manager {
    let options =
        Options::from_command_line(["operator", "--name=operator", "--health-probe-bind-address=0"]);
    let client = kube::Client::new(server.service(), "default");
    Manager::with_client(options.expect("valid flags"), client).expect("a manager")
}

/// Runs the manager for a while, beside `meanwhile`, and asks it.
async fn run(manager: &Manager, meanwhile: impl Future<Output = ()>) -> Report {
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start_until(stop).await }
    });
    let _ = tokio::time::timeout(Duration::from_secs(20), meanwhile).await;
    let report = manager.report();
    stop.cancel();
    running.await.expect("no panic").expect("an orderly end");
    report
}

fn deployment() -> Value {
    json!({"metadata": {"namespace": "default", "name": "cart"}, "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "cart"}},
        "template": {
            "metadata": {"labels": {"app": "cart"}},
            "spec": {"containers": [{"name": "web", "image": "web:1"}]},
        },
    }})
}

struct Applies(Client);

impl Reconciler for Applies {
    async fn reconcile(&self, _: Request) -> Result<Action> {
        tokio::time::sleep(PAUSE).await;
        self.0.apply_value::<Deployment>(&deployment()).await?;
        Ok(Action::done())
    }
}

#[tokio::test(start_paused = true)]
async fn two_who_set_the_same_field_are_named() {
    let server = ApiServer::builder().random(Random::seeded(7)).build();
    let manager = manager(&server);
    manager.client().apply_value::<Deployment>(&deployment()).await.expect("applied");
    Controller::for_kind::<Deployment>(&manager).run(Applies(manager.client())).expect("a controller");
    let autoscaler = manager.client().with_field_manager("autoscaler");
    let report = run(&manager, async {
        loop {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let scale = Patch::merge(json!({"spec": {"replicas": 5}}));
            autoscaler.patch::<Deployment>(("default", "cart"), scale).await.expect("scaled");
        }
    })
    .await;
    let found: Vec<_> = report.hot_loops.iter().map(|found| found.message.as_str()).collect();
    let ours =
        found.iter().find(|found| found.contains(r#"spec.replicas was set by ["autoscaler"] in between"#));
    let ours = ours.unwrap_or_else(|| panic!("{found:?}"));
    assert!(
        ours.starts_with("deployments.apps default/cart was written ")
            && ours.contains("with the same content")
    );
}

#[tokio::test(start_paused = true)]
async fn an_operator_at_rest_is_none() {
    let server = ApiServer::builder().random(Random::seeded(7)).build();
    let manager = manager(&server);
    manager.client().apply_value::<Deployment>(&deployment()).await.expect("applied");
    Controller::for_kind::<Deployment>(&manager).run(Applies(manager.client())).expect("a controller");
    // Others may write as often as they like, and what changes nothing does not count.
    let other = manager.client().with_field_manager("other");
    let report = run(&manager, async {
        for number in 0.. {
            tokio::time::sleep(Duration::from_millis(500)).await;
            let label = Patch::merge(json!({"metadata": {"labels": {"number": format!("{number}")}}}));
            other.patch::<Deployment>(("default", "cart"), label).await.expect("labelled");
        }
    })
    .await;
    assert_eq!(report.hot_loops, []);
}

struct Stamps(Client);

impl Reconciler for Stamps {
    async fn reconcile(&self, request: Request) -> Result<Action> {
        tokio::time::sleep(PAUSE).await;
        let now = tokio::time::Instant::now();
        let stamp = Patch::merge(json!({"data": {"seen": format!("{now:?}")}}));
        self.0.patch::<ConfigMap>(request, stamp).await?;
        Ok(Action::done())
    }
}

#[tokio::test(start_paused = true)]
async fn one_who_always_writes_something_else_is_told_the_field() {
    let server = ApiServer::builder().random(Random::seeded(7)).build();
    let manager = manager(&server);
    let settings = json!({"metadata": {"namespace": "default", "name": "cart"}});
    manager.client().apply_value::<ConfigMap>(&settings).await.expect("applied");
    Controller::for_kind::<ConfigMap>(&manager).run(Stamps(manager.client())).expect("a controller");
    let report = run(&manager, std::future::pending()).await;
    let found: Vec<_> = report.hot_loops.iter().map(|found| found.message.as_str()).collect();
    let [found] = found[..] else { panic!("{found:?}") };
    assert!(found.starts_with("configmaps default/cart was written "), "{found}");
    assert!(found.ends_with(": data.seen changes each time"), "{found}");
}
