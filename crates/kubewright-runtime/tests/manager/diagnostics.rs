//! What a manager tells about its controllers and watches.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::{Api, Client, api::PostParams, core::ObjectMeta};
use kubewright_apiserver::{ApiServer, User};
use kubewright_runtime::{
    Action, Error,
    controller::Controller,
    diagnostics::Report,
    manager::{Manager, Options},
    reconcile_fn,
};
use kubewright_world::{Clock, Random};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::super::{free_port, get, get_json};

fn server() -> ApiServer {
    let epoch = "2030-01-01T00:00:00Z".parse().expect("a valid timestamp");
    ApiServer::builder().clock(Clock::starting_at(epoch)).random(Random::seeded(7)).build()
}

async fn create(server: &ApiServer, names: &[&str]) {
    let api: Api<ConfigMap> = Api::default_namespaced(Client::new(server.service(), "default"));
    for name in names {
        let metadata = ObjectMeta { name: Some((*name).to_owned()), ..ObjectMeta::default() };
        let object = ConfigMap { metadata, ..ConfigMap::default() };
        api.create(&PostParams::default(), &object).await.expect("created");
    }
}

/// Fails for `broken` and `refused`, hangs for `slow`.
fn control(manager: &Manager) {
    Controller::for_kind::<ConfigMap>(manager)
        .named("settings")
        .max_concurrent_reconciles(2)
        .run(reconcile_fn(|request| async move {
            match request.name.as_str() {
                "broken" => Err(Error::other("the database does not answer")),
                "refused" => Err(Error::terminal("this cannot work")),
                "slow" => std::future::pending().await,
                _ => Ok(Action::done()),
            }
        }))
        .expect("a controller");
}

#[tokio::test(start_paused = true)]
async fn a_report_tells_what_runs_what_fails_and_why() {
    let server = server();
    create(&server, &["broken", "fine", "refused", "slow"]).await;
    let client = Client::new(server.service(), "default");
    let manager = Manager::builder(Options::default())
        .client(client)
        .clock(Clock::starting_at("2030-01-01T00:00:00Z".parse().expect("a valid timestamp")))
        .random(Random::seeded(1))
        .build()
        .expect("a manager");
    control(&manager);
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start_until(stop).await }
    });
    tokio::time::sleep(Duration::from_secs(30)).await;

    let report = manager.report();
    assert!(!report.leadership.elected && report.leadership.is_leader && !report.stopping);
    let [settings] = &report.controllers[..] else { panic!("{report}") };
    assert_eq!((settings.kind.as_str(), settings.max_concurrent_reconciles), ("ConfigMap", 2));
    let running_now: Vec<_> = settings.running.iter().map(|running| running.request.as_str()).collect();
    assert_eq!(running_now, ["default/slow"]);
    assert!(settings.running[0].seconds > 29.0);
    let [broken, refused] = &settings.failing[..] else { panic!("{report}") };
    assert_eq!(settings.failing_count, 2);
    assert_eq!(broken.request, "default/broken");
    assert!(broken.failures > 5 && broken.retry_in_seconds.is_some());
    assert_eq!(broken.error.as_deref(), Some("the database does not answer"));
    assert_eq!(refused.error.as_deref(), Some("terminal error: this cannot work"));
    assert_eq!((refused.failures, refused.retry_in_seconds), (1, None));
    let [watch] = &report.watches[..] else { panic!("{report}") };
    assert_eq!((watch.resource.as_str(), watch.synced, &watch.error), ("configmaps/v1", true, &None));

    // What succeeds is not told of any more.
    let api: Api<ConfigMap> = Api::default_namespaced(Client::new(server.service(), "default"));
    api.delete("broken", &Default::default()).await.expect("deleted");
    tokio::time::sleep(Duration::from_secs(1)).await;
    stop.cancel();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(manager.report().stopping);
    drop(running);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_cannot_be_opened_says_why() {
    let server = server();
    let user = User { name: "operator".to_owned(), ..User::default() };
    let client = Client::new(server.service_as(user), "default");
    let manager = Manager::with_client(Options::default(), client).expect("a manager");
    Controller::for_kind::<Secret>(&manager)
        .run(reconcile_fn(|_| async { Ok(Action::done()) }))
        .expect("a controller");
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start_until(stop).await }
    });
    tokio::time::sleep(Duration::from_secs(5)).await;
    let page = manager.report().to_string();
    let line = page.lines().find(|line| line.starts_with("secrets/v1")).expect("the watch");
    assert!(
        line.contains("not listed yet: ") && line.contains(r#"cannot list resource "secrets""#),
        "{page}"
    );
    stop.cancel();
    running.await.expect("no panic").expect("an orderly end");
}

#[tokio::test]
async fn the_page_is_served_as_text_and_as_json() {
    let server = server();
    create(&server, &["fine"]).await;
    let port = free_port();
    let flags = [
        "operator".to_owned(),
        "--health-probe-bind-address=0".to_owned(),
        format!("--debug-bind-address=127.0.0.1:{port}"),
    ];
    let options = Options::from_command_line(flags).expect("valid flags");
    let manager = Manager::with_client(options, Client::new(server.service(), "default")).expect("a manager");
    control(&manager);
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start_until(stop).await }
    });
    let (code, page) = get(port, "/debug").await;
    assert_eq!(code, 200);
    assert!(page.contains("CONTROLLER") && page.contains("settings"), "{page}");
    let (code, json) = get_json(port, "/debug").await;
    assert_eq!(code, 200);
    let report: Report = serde_json::from_str(&json).expect("a report");
    assert_eq!(report.controllers[0].name, "settings");
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&json).expect("JSON")["leadership"]["isLeader"],
        json!(true)
    );
    assert_eq!(get(port, "/").await.0, 404);
    stop.cancel();
    running.await.expect("no panic").expect("an orderly end");
}
