//! The cache and a controller against the embedded API server, in one thread under paused time.

mod support;

use std::time::Duration;

use k8s_openapi::{
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    core::ObjectMeta,
};
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    Action, Request,
    cache::{Cache, CacheOptions, Informer, InformerOptions},
    controller::{Controller, ControllerContext, ControllerHost, ControllerRunnable},
    metrics::Metrics,
    reconcile_fn,
};
use kubewright_world::{Clock, Random};
use serde_json::json;
use support::eventually;
use tokio_util::sync::CancellationToken;

fn server() -> ApiServer {
    let epoch = "2030-01-01T00:00:00Z".parse().expect("a valid timestamp");
    ApiServer::builder().clock(Clock::starting_at(epoch)).random(Random::seeded(7)).build()
}

fn client(server: &ApiServer) -> Client {
    Client::new(server.service(), "default")
}

fn config_map(name: &str, value: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.into()), ..Default::default() },
        data: Some([("value".to_owned(), value.to_owned())].into()),
        ..Default::default()
    }
}

/// The keys and versions that an informer has and those that the server lists are the same.
async fn agree(informer: &Informer<ConfigMap>, api: &Api<ConfigMap>) {
    let listed = api.list(&ListParams::default()).await.expect("a list");
    let version = |object: &ConfigMap| (Request::of(object), object.metadata.resource_version.clone());
    let expected: Vec<_> = listed.items.iter().map(version).collect();
    eventually("the cache agrees with the server", || {
        let cached: Vec<_> = informer.list(None).iter().map(|object| version(object)).collect();
        cached == expected
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_informer_agrees_with_the_server_after_any_changes() {
    for streaming in [false, true] {
        let server = server();
        let api: Api<ConfigMap> = Api::namespaced(client(&server), "default");
        for number in 0..1203 {
            api.create(&PostParams::default(), &config_map(&format!("c{number:04}"), "1"))
                .await
                .expect("created");
        }
        let cache = Cache::new(client(&server), CacheOptions::default().random(Random::seeded(1)));
        let options = InformerOptions::<ConfigMap>::new().namespace("default");
        let options = if streaming { options.streaming_lists() } else { options };
        let informer = cache.declare(options).expect("declared");
        cache.start(&CancellationToken::new());
        cache.wait_for_sync(Duration::from_secs(10)).await.expect("synced");
        agree(&informer, &api).await;

        for number in (0..1203).step_by(7) {
            let name = format!("c{number:04}");
            if number % 2 == 0 {
                api.delete(&name, &DeleteParams::default()).await.expect("deleted");
            } else {
                let patch = Patch::Merge(json!({"data": {"value": "2"}}));
                api.patch(&name, &PatchParams::default(), &patch).await.expect("patched");
            }
        }
        agree(&informer, &api).await;
        // The server ends the watch; what happens around that is not lost, also when its history is.
        for round in 0..20 {
            tokio::time::sleep(Duration::from_secs(61)).await;
            api.create(&PostParams::default(), &config_map(&format!("d{round}"), "1"))
                .await
                .expect("created");
            if round % 5 == 4 {
                server.compact_now();
            }
        }
        agree(&informer, &api).await;
        assert!(informer.watches()[0].is_healthy(), "{}", informer.watches()[0]);
    }
}

struct Host {
    context: ControllerContext,
    stop: CancellationToken,
}

impl ControllerHost for Host {
    fn controller_context(&self) -> ControllerContext {
        self.context.clone()
    }

    fn add_controller(&self, controller: ControllerRunnable) -> kubewright_runtime::Result<()> {
        tokio::spawn(controller.run(self.stop.clone()));
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_controller_keeps_what_it_owns() {
    let server = server();
    let cache = Cache::new(client(&server), CacheOptions::default().random(Random::seeded(1)));
    let context = ControllerContext::new(cache.clone(), Random::seeded(2), Metrics::new());
    let host = Host { context, stop: CancellationToken::new() };
    let api: Api<ConfigMap> = Api::namespaced(client(&server), "default");
    let secrets: Api<Secret> = Api::namespaced(client(&server), "default");
    let (informers, writer) = (cache.clone(), secrets.clone());
    let reconciler = reconcile_fn(move |request: Request| {
        let (informers, writer) = (informers.clone(), writer.clone());
        async move {
            let owner = informers.informer::<ConfigMap>().and_then(|carts| carts.get(&request));
            let owned = informers.informer::<Secret>().and_then(|secrets| secrets.get(&request));
            if let (Some(owner), None) = (owner, owned) {
                let owner = OwnerReference {
                    api_version: "v1".into(),
                    kind: "ConfigMap".into(),
                    name: request.name.clone(),
                    uid: owner.metadata.uid.clone().unwrap_or_default(),
                    controller: Some(true),
                    block_owner_deletion: None,
                };
                let metadata = ObjectMeta {
                    name: Some(request.name.clone()),
                    owner_references: Some(vec![owner]),
                    ..Default::default()
                };
                writer.create(&PostParams::default(), &Secret { metadata, ..Default::default() }).await?;
            }
            Ok(Action::done())
        }
    });
    Controller::for_kind::<ConfigMap>(&host).owns::<Secret>().run(reconciler).expect("added");
    cache.start(&host.stop);
    api.create(&PostParams::default(), &config_map("cart", "1")).await.expect("created");
    let secret = |cache: &Cache| {
        let informer = cache.informer::<Secret>()?;
        informer.get(&Request::namespaced("default", "cart"))?.metadata.uid.clone()
    };
    eventually("the secret", || secret(&cache).is_some()).await;
    let first = secret(&cache);
    secrets.delete("cart", &DeleteParams::default()).await.expect("deleted");
    let took = eventually("another secret", || secret(&cache).is_some_and(|uid| Some(uid) != first)).await;
    assert!(took <= Duration::from_millis(10), "{took:?}");
    host.stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn managed_fields_are_dropped_unless_asked_for_and_an_update_without_them_keeps_them() {
    let server = server();
    let client = client(&server);
    let api: Api<ConfigMap> = Api::default_namespaced(client.clone());
    api.create(&PostParams::default(), &config_map("cart", "1")).await.expect("created");
    let lean = Cache::new(client.clone(), CacheOptions::default());
    let whole = Cache::new(client, CacheOptions::default().keep_managed_fields());
    let stop = CancellationToken::new();
    let mut seen = Vec::new();
    for cache in [&lean, &whole] {
        let informer = cache.declare(InformerOptions::<ConfigMap>::new()).expect("declared");
        cache.start(&stop);
        informer.wait_for_sync().await;
        seen.push(informer.get(&("default", "cart").into()).expect("it is there"));
    }
    assert_eq!(seen[0].metadata.managed_fields, None);
    assert!(seen[1].metadata.managed_fields.is_some());

    let mut changed = ConfigMap::clone(&seen[0]);
    changed.metadata.labels = Some([("tier".to_owned(), "web".to_owned())].into());
    api.replace("cart", &PostParams::default(), &changed).await.expect("replaced");
    assert!(api.get("cart").await.expect("it is there").metadata.managed_fields.is_some());
    stop.cancel();
}
