//! A watch that the operator has no right to, beside one that works: the second is not delayed, and readiness and
//! metrics name the first.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use kubewright_apiserver::{ApiServer, User};
use kubewright_runtime::{
    cache::InformerOptions,
    manager::{Manager, Options},
};
use kubewright_world::{Clock, Random};
use serde_json::json;
use tokio_util::sync::CancellationToken;

const OPERATOR: &str = "operator";

/// A server that lets the operator read ConfigMaps and nothing else.
fn server(clock: &Clock, random: &Random) -> ApiServer {
    let server = ApiServer::builder().clock(clock.clone()).random(random.fork()).build();
    let role = "config-maps-alone";
    for object in [
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": role},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}],
        }),
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": role},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": OPERATOR}],
        }),
    ] {
        server.create(object).expect("a valid object");
    }
    server
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_watch_delays_no_other_and_is_named_by_readiness_and_metrics() {
    let clock = Clock::starting_at("2030-01-01T00:00:00Z".parse().expect("a timestamp"));
    let random = Random::seeded(1);
    let server = server(&clock, &random);
    let user = User { name: OPERATOR.to_owned(), ..User::default() };
    let manager = Manager::builder(Options::default())
        .client(Client::new(server.service_as(user), "default"))
        .clock(clock)
        .random(random)
        .build()
        .expect("a manager");
    let config_maps = manager.cache().declare(InformerOptions::<ConfigMap>::new()).expect("declared");
    let secrets = manager.cache().declare(InformerOptions::<Secret>::new()).expect("declared");
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start_until(stop).await }
    });

    config_maps.wait_for_sync().await;
    let api: Api<ConfigMap> = Api::default_namespaced(Client::new(server.service(), "default"));
    let mut cart = ConfigMap::default();
    cart.metadata.name = Some("cart".to_owned());
    api.create(&PostParams::default(), &cart).await.expect("created");
    for number in 0..40 {
        let value = number.to_string();
        let patch = Patch::Merge(json!({"data": {"number": value}}));
        api.patch("cart", &PatchParams::default(), &patch).await.expect("patched");
        let arrived = config_maps.wait_until(|informer| {
            informer
                .get(&("default", "cart").into())
                .and_then(|cart| cart.data.as_ref()?.get("number").cloned())
                .is_some_and(|seen| seen == value)
        });
        tokio::time::timeout(Duration::from_millis(10), arrived).await.expect("the event is not delayed");
        // Long enough for the other watch to fail again and again.
        tokio::time::sleep(Duration::from_secs(5)).await;
    }

    assert!(!secrets.has_synced());
    let failing: Vec<_> = manager
        .readiness()
        .results()
        .into_iter()
        .filter_map(|(name, result)| Some((name, result.err()?)))
        .collect();
    assert_eq!(failing.len(), 1, "{failing:?}");
    assert!(failing[0].0.contains("secrets"), "{failing:?}");
    assert!(failing[0].1.contains("cannot list secrets"), "{failing:?}");
    let metrics = manager.metrics().encode();
    let watches: Vec<_> =
        metrics.lines().filter(|line| line.starts_with("kubewright_watch_failing{")).collect();
    let value_of = |kind: &str| {
        let line = watches.iter().find(|line| line.contains(&format!("\"{kind}\"")));
        line.and_then(|line| line.rsplit(' ').next())
    };
    assert_eq!((value_of("Secret"), value_of("ConfigMap")), (Some("1"), Some("0")), "{watches:?}");

    stop.cancel();
    // The manager was still waiting for its cache when it was stopped, which is no failure.
    running.await.expect("no panic").expect("it stops cleanly");
}
