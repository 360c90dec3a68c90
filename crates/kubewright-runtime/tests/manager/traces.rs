//! One reconciliation as a tree of spans, as OpenTelemetry's exporters get it.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::core::ObjectMeta;
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    Action,
    controller::Controller,
    manager::{Manager, Options},
    reconcile_fn,
};
use kubewright_world::Random;
use opentelemetry::{Value, trace::TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::layer::SubscriberExt;

fn attribute(span: &SpanData, key: &str) -> Option<String> {
    let value = span.attributes.iter().find(|attribute| attribute.key.as_str() == key)?;
    match &value.value {
        Value::String(text) => Some(text.to_string()),
        other => Some(other.to_string()),
    }
}

#[tokio::test(start_paused = true)]
async fn the_requests_of_a_reconciliation_are_its_children() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("operator"));
    // While there is only one, `tracing` asks the thread that reaches a span first whether anybody wants it, for all threads
    // and for good, and that may be the thread of another test.
    let _second = tracing::Dispatch::new(tracing_subscriber::registry());
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));

    let server = ApiServer::builder().random(Random::seeded(7)).build();
    let manager = Manager::with_client(Options::default(), kube::Client::new(server.service(), "default"))
        .expect("a manager");
    let client = manager.client();
    Controller::for_kind::<ConfigMap>(&manager)
        .named("settings")
        .run(reconcile_fn(move |request| {
            let client = client.clone();
            async move {
                let mut secret = Secret::default();
                secret.metadata.namespace.clone_from(&request.namespace);
                secret.metadata.name = Some(format!("{}-key", request.name));
                client.apply(&secret).await?;
                Ok(Action::done())
            }
        }))
        .expect("a controller");
    let settings = ConfigMap {
        metadata: ObjectMeta {
            namespace: Some("default".to_owned()),
            name: Some("cart".to_owned()),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    };
    manager.client().create(&settings).await.expect("created");
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start_until(stop).await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    stop.cancel();
    running.await.expect("no panic").expect("an orderly end");

    let spans = exporter.get_finished_spans().expect("spans");
    let reconcile: Vec<_> = spans.iter().filter(|span| span.name == "reconcile").collect();
    let [reconcile] = reconcile[..] else { panic!("{spans:?}") };
    assert_eq!(attribute(reconcile, "controller").as_deref(), Some("settings"));
    assert_eq!(attribute(reconcile, "name").as_deref(), Some("cart"));
    let children: Vec<_> = spans
        .iter()
        .filter(|span| span.parent_span_id == reconcile.span_context.span_id())
        .map(|span| (span.name.as_ref(), attribute(span, "requestName")))
        .collect();
    assert_eq!(children, [("patch secrets", Some("cart-key".to_owned()))]);
}
