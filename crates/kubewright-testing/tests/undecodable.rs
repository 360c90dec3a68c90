//! An object that does not fit its Rust type, among others: the others go on, an event on it says why, and it heals.

use k8s_openapi::api::{
    core::v1::{ConfigMap, ObjectReference},
    events::v1::Event,
};
use kube::{
    Api, Resource,
    api::{ListParams, ObjectMeta, Patch, PatchParams, PostParams},
};
use kubewright_cluster::Selection;
use kubewright_runtime::cache::{Informer, InformerOptions};
use kubewright_testing::TestCluster;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A ConfigMap that has to have a number.
#[derive(Resource, Clone, Debug, Deserialize, Serialize)]
#[resource(inherit = ConfigMap)]
struct Counter {
    metadata: ObjectMeta,
    data: Count,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Count {
    number: String,
}

async fn create(api: &Api<ConfigMap>, name: &str, data: serde_json::Value) {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data});
    let object = serde_json::from_value(object).expect("a ConfigMap");
    api.create(&PostParams::default(), &object).await.expect("created");
}

fn number(informer: &Informer<Counter>, name: &str) -> Option<String> {
    Some(informer.get(&("default", name).into())?.data.number.clone())
}

#[tokio::test(start_paused = true)]
async fn one_bad_object_is_told_by_an_event_and_stops_nothing() {
    let cluster = TestCluster::builder().controllers(Selection::None).start().await;
    let api: Api<ConfigMap> = Api::default_namespaced(cluster.client());
    create(&api, "good", json!({"number": "1"})).await;
    create(&api, "bad", json!({"other": "1"})).await;

    let mut counters = None;
    let operator = cluster.run("operator", |manager| {
        counters = Some(manager.cache().declare(InformerOptions::<Counter>::new())?);
        Ok(())
    });
    let counters = counters.expect("declared");
    counters.wait_for_sync().await;
    assert_eq!(number(&counters, "good").as_deref(), Some("1"));
    assert_eq!(number(&counters, "bad"), None);

    let events: Api<Event> = Api::default_namespaced(cluster.client());
    let event = cluster
        .eventually("an event on the bad object", async || {
            events.list(&ListParams::default()).await.ok()?.into_iter().find(|event| {
                event.regarding.as_ref().and_then(|object: &ObjectReference| object.name.as_deref())
                    == Some("bad")
            })
        })
        .await;
    assert_eq!((event.type_.as_deref(), event.reason.as_deref()), (Some("Warning"), Some("Undecodable")));
    assert!(event.note.as_deref().is_some_and(|note| note.contains("number")), "{event:?}");
    let metrics = operator.manager().metrics().encode();
    assert!(
        metrics
            .lines()
            .any(|line| line.starts_with("kubewright_watch_undecodable_objects") && line.ends_with(" 1"))
    );

    // The others go on, and the bad one is read as soon as it fits.
    create(&api, "late", json!({"number": "2"})).await;
    counters.wait_until(|counters| number(counters, "late").is_some()).await;
    let fix = Patch::Merge(json!({"data": {"number": "3"}}));
    api.patch("bad", &PatchParams::default(), &fix).await.expect("patched");
    counters.wait_until(|counters| number(counters, "bad").as_deref() == Some("3")).await;
    operator.stop().await.expect("it stops cleanly");
}
