//! The simulator: a correct operator ends in the same state whatever happens, and what is wrong with others is named.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api,
    api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use kubewright_runtime::{
    Action, Request, Result,
    client::{Client, DeleteOptions},
    controller::Controller,
    manager::Manager,
    reconcile_fn,
};
use kubewright_testing::{TestCluster, sim::Simulation, transport::Faults};
use serde_json::json;

/// The prefix of what the operators write.
const COPY: &str = "copy-of-";

fn config_map(name: &str, data: Option<BTreeMap<String, String>>) -> ConfigMap {
    let metadata = ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("default".to_owned()),
        ..Default::default()
    };
    ConfigMap { metadata, data, ..Default::default() }
}

/// Keeps a copy of each ConfigMap, so that the last state that was reconciled is seen in the end.
fn copies(manager: &Manager) -> Result<()> {
    let client = manager.client();
    Controller::for_kind::<ConfigMap>(manager).max_concurrent_reconciles(2).run(reconcile_fn(
        move |request: Request| {
            let client = client.clone();
            async move { copy(&client, request).await }
        },
    ))
}

async fn copy(client: &Client, request: Request) -> Result<Action> {
    // What is made by the cluster's controllers is left alone.
    if request.namespace() != "default" || request.name.starts_with("kube-") {
        return Ok(Action::done());
    }
    let original = Request::namespaced("default", request.name.trim_start_matches(COPY));
    let copy = format!("{COPY}{}", original.name);
    match client.get::<ConfigMap>(&original).await? {
        Some(original) => drop(client.apply(&config_map(&copy, original.data.clone())).await?),
        None => drop(client.delete::<ConfigMap>(("default", &*copy), DeleteOptions::default()).await?),
    }
    Ok(Action::done())
}

/// Users change five objects all the time, and delete some.
async fn churn(cluster: &TestCluster) {
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    for step in 0_u32..60 {
        let name = format!("map-{}", step % 5);
        let value = step.to_string();
        if step % 17 == 16 {
            maps.delete(&name, &DeleteParams::default()).await.expect("deleted");
        } else if maps.get_opt(&name).await.expect("read").is_some() {
            let patch = Patch::Merge(json!({"data": {"step": value}}));
            maps.patch(&name, &PatchParams::default(), &patch).await.expect("patched");
        } else {
            let map = config_map(&name, Some([("step".to_owned(), value)].into()));
            maps.create(&PostParams::default(), &map).await.expect("created");
        }
        // In bursts, so that watches that lag have something to merge.
        if step % 4 == 3 {
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }
}

#[test]
fn the_last_state_of_every_object_is_reconciled_whatever_happens() {
    let simulation = Simulation::new(copies, churn);
    let report = simulation.under_faults(5);
    assert!(report.runs >= 6 && report.faults > 20 * 5, "{report:?}");
}

#[test]
fn a_crash_after_any_write_is_made_up_for() {
    let report = Simulation::new(copies, async |cluster: &TestCluster| {
        let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client());
        for name in ["one", "two"] {
            maps.create(&PostParams::default(), &config_map(name, None)).await.expect("created");
        }
        maps.delete("one", &DeleteParams::default()).await.expect("deleted");
    })
    .with_a_crash_after_every_write();
    assert!(report.writes >= 1 && report.runs == report.faults + 2, "{report:?}");
}

/// What a failing simulation says.
fn message(simulation: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(simulation)).expect_err("the operator is wrong");
    panic.downcast_ref::<String>().cloned().expect("a text")
}

async fn one_map(cluster: &TestCluster) {
    let maps: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    maps.create(&PostParams::default(), &config_map("original", None)).await.expect("created");
}

/// Writes two objects, and takes the first for a sign that the second is there.
fn hasty(manager: &Manager) -> Result<()> {
    let client = manager.client();
    Controller::for_kind::<ConfigMap>(manager).run(reconcile_fn(move |request: Request| {
        let client = client.clone();
        async move {
            if request.name == "original"
                && client.live().get::<ConfigMap>(("default", "first")).await?.is_none()
            {
                client.create(&config_map("first", None)).await?;
                client.create(&config_map("second", None)).await?;
            }
            Ok(Action::done())
        }
    }))
}

#[test]
fn a_crash_that_is_not_made_up_for_is_named_with_its_write() {
    let message = message(|| _ = Simulation::new(hasty, one_map).with_a_crash_after_every_write());
    assert!(message.contains("the operator ends elsewhere than without faults"), "{message}");
    assert!(message.contains("ConfigMap., without faults: ") && message.contains("second"), "{message}");
    assert!(message.contains("after the crash at write 1:"), "{message}");
    assert!(
        message.contains("KUBEWRIGHT_SIM='seed=1,crash=1' cargo test -p kubewright-testing"),
        "{message}"
    );
}

/// Forgets that a write may fail.
fn careless(manager: &Manager) -> Result<()> {
    let client = manager.client();
    Controller::for_kind::<ConfigMap>(manager).run(reconcile_fn(move |request: Request| {
        let client = client.clone();
        async move {
            if request.name == "original" {
                drop(client.apply(&config_map("copy", None)).await);
            }
            Ok(Action::done())
        }
    }))
}

#[test]
fn a_fault_that_is_not_made_up_for_is_named() {
    let faults = Faults { lost_requests: 300, ..Faults::storm() };
    let simulation = Simulation::new(careless, one_map).faults(faults);
    let message = message(|| _ = simulation.under_faults(50));
    assert!(message.contains("without faults: ") && message.contains("\"copy\""), "{message}");
    let last = message.lines().rev().nth(1).expect("a line");
    assert!(last.contains("/configmaps/copy"), "{message}");
    assert!(
        last.contains("lost-requests: ") || last.contains("throttled: ") || last.contains("server-errors: "),
        "{message}"
    );
    assert!(message.contains("run it again with: KUBEWRIGHT_SIM='seed="), "{message}");
}
