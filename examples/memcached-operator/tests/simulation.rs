//! The operator on a bad network: it ends where it ends on a good one, and one seed gives one history.

use std::collections::BTreeMap;

use kubewright::{
    k8s_openapi::api::apps::v1::Deployment,
    kube::{
        Api,
        api::{ListParams, Patch, PatchParams, PostParams},
    },
    prelude::{ResourceExt, is_condition_true},
};
use kubewright_testing::{TestCluster, simulate, transport::Faults};
use memcached_operator::{
    api::{Memcached, MemcachedSpec},
    controller,
};
use serde_json::json;

/// The replicas of each Deployment in the end.
type EndState = BTreeMap<String, Option<i32>>;

/// Creates objects, changes one, loses the watch history, changes another, restarts the server and changes the
/// third; returns what the cluster ended in, and everything that the operator said and heard.
async fn run(seed: u64, faults: Faults) -> (EndState, String) {
    let cluster = TestCluster::builder().seed(seed).faults(faults).start().await;
    cluster.install::<Memcached>().await;
    let operator =
        cluster.run("operator", |manager| controller::register(manager, "memcached:1.4.36-alpine"));
    let memcacheds: Api<Memcached> = Api::default_namespaced(cluster.client());
    for (name, size) in [("one", 1), ("two", 2), ("three", 3)] {
        let memcached = Memcached::new(name, MemcachedSpec { size, container_port: 11211 });
        memcacheds.create(&PostParams::default(), &memcached).await.expect("a valid Memcached");
    }
    settled(&cluster, &memcacheds).await;

    resize(&memcacheds, "one", 3).await;
    cluster.server().compact_now();
    resize(&memcacheds, "two", 1).await;
    cluster.restart_server();
    resize(&memcacheds, "three", 2).await;
    settled(&cluster, &memcacheds).await;
    operator.stop().await.expect("it stops cleanly");

    let deployments: Api<Deployment> = Api::default_namespaced(cluster.client());
    let end = deployments.list(&ListParams::default()).await.expect("listed");
    let end = end.into_iter().map(|d| (d.name_any(), d.spec.replicas)).collect();
    (end, cluster.history().text())
}

async fn resize(memcacheds: &Api<Memcached>, name: &str, size: i32) {
    let patch = Patch::Merge(json!({"spec": {"size": size}}));
    memcacheds.patch(name, &PatchParams::default(), &patch).await.expect("patched");
}

async fn settled(cluster: &TestCluster, memcacheds: &Api<Memcached>) {
    cluster
        .eventually("every Memcached is rolled out", async || {
            let all = memcacheds.list(&ListParams::default()).await.ok()?;
            let settled = all.iter().all(|memcached| {
                let Some(status) = &memcached.status else { return false };
                is_condition_true(&status.conditions, "Available")
                    && !is_condition_true(&status.conditions, "Progressing")
                    && status
                        .conditions
                        .iter()
                        .all(|c| c.observed_generation == memcached.metadata.generation)
                    && i32::try_from(status.nodes.len()) == Ok(memcached.spec.size)
            });
            settled.then_some(())
        })
        .await;
}

#[test]
fn one_seed_gives_one_history_to_the_byte_with_faults_injected() {
    let (end, history) = simulate(run(7, Faults::storm()));
    let (end_again, history_again) = simulate(run(7, Faults::storm()));
    assert_eq!(end, end_again);
    // Two whole histories in a panic message help nobody, the first line that differs does.
    assert_eq!(history.lines().zip(history_again.lines()).find(|(one, two)| one != two), None);
    assert_eq!(history.len(), history_again.len());
    assert!(history.contains(" lost"), "the storm did nothing");

    let (_, other) = simulate(run(8, Faults::storm()));
    assert!(history != other, "the seed decides");
}

#[test]
fn a_storm_ends_where_a_calm_ends() {
    let (calm, _) = simulate(run(1, Faults::none()));
    let expected = [("one", 3), ("two", 1), ("three", 2)];
    assert_eq!(calm, expected.map(|(name, size)| (name.to_owned(), Some(size))).into());
    for seed in 1..=20 {
        let (storm, _) = simulate(run(seed, Faults::storm()));
        assert_eq!(storm, calm, "seed {seed}");
    }
}
