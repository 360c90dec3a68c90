//! The operator on bad days: whatever happens to it, it ends where it ends on a good one.

use kubewright::{
    kube::{
        Api,
        api::{DeleteParams, Patch, PatchParams, PostParams},
    },
    prelude::{Manager, Result, is_condition_true},
};
use kubewright_testing::{TestCluster, sim::Simulation};
use memcached_operator::{
    api::v1alpha1::{Memcached, MemcachedSpec},
    controller::memcached,
};
use serde_json::json;

fn operator(manager: &Manager) -> Result<()> {
    memcached::register(manager, "memcached:1.4.36-alpine")
}

/// Users create objects, change them before and after they are rolled out, delete one and make it anew.
async fn scenario(cluster: &TestCluster) {
    let memcacheds: Api<Memcached> = Api::default_namespaced(cluster.client());
    for (name, size) in [("one", 1), ("two", 2), ("three", 3)] {
        create(&memcacheds, name, size).await;
    }
    resize(&memcacheds, "two", 3).await;
    settled(cluster, &memcacheds).await;

    resize(&memcacheds, "one", 3).await;
    memcacheds.delete("three", &DeleteParams::background()).await.expect("deleted");
    resize(&memcacheds, "two", 1).await;
    cluster
        .eventually("a deleted Memcached is let go", async || {
            memcacheds.get_opt("three").await.ok()?.is_none().then_some(())
        })
        .await;
    create(&memcacheds, "three", 2).await;
}

/// A life: created, changed, deleted.
async fn life(cluster: &TestCluster) {
    let memcacheds: Api<Memcached> = Api::default_namespaced(cluster.client());
    create(&memcacheds, "one", 1).await;
    settled(cluster, &memcacheds).await;
    resize(&memcacheds, "one", 2).await;
    settled(cluster, &memcacheds).await;
    memcacheds.delete("one", &DeleteParams::background()).await.expect("deleted");
}

async fn create(memcacheds: &Api<Memcached>, name: &str, size: i32) {
    let memcached = Memcached::new(name, MemcachedSpec { size, container_port: 11211 });
    memcacheds.create(&PostParams::default(), &memcached).await.expect("a valid Memcached");
}

async fn resize(memcacheds: &Api<Memcached>, name: &str, size: i32) {
    let patch = Patch::Merge(json!({"spec": {"size": size}}));
    memcacheds.patch(name, &PatchParams::default(), &patch).await.expect("patched");
}

async fn settled(cluster: &TestCluster, memcacheds: &Api<Memcached>) {
    cluster
        .eventually("every Memcached is rolled out", async || {
            let all = memcacheds.list(&Default::default()).await.ok()?;
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
#[allow(clippy::print_stdout, reason = "the counts are what the test shows")]
fn whatever_happens_it_ends_where_it_ends_on_a_good_day() {
    let report = Simulation::new(operator, scenario).under_faults(6);
    println!("{report:?}");
    assert!(report.faults > 6 * 20, "the storms did little: {report:?}");
}

#[test]
#[allow(clippy::print_stdout, reason = "the counts are what the test shows")]
fn a_crash_after_any_write_is_made_up_for() {
    let report = Simulation::new(operator, life).with_a_crash_after_every_write();
    println!("{report:?}");
    assert!(report.writes > 10, "{report:?}");
}
