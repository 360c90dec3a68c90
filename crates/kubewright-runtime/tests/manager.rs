//! The manager: order of start and stop, failures, the probe and metrics servers.

mod manager {
    pub(crate) mod diagnostics;
    pub(crate) mod hot_loops;
    pub(crate) mod secure_metrics;
    pub(crate) mod traces;
    pub(crate) mod webhooks;
}

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use http::{Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use kubewright_runtime::{
    Error, Result,
    manager::{GracePeriod, Group, Manager, Options, Runnable},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::oneshot,
};
use tokio_util::sync::CancellationToken;

/// A connection to nothing.
fn nowhere() -> kube::Client {
    let service = tower::service_fn(|_: Request<Body>| async {
        Err::<Response<Body>, _>(std::io::Error::other("there is no server"))
    });
    kube::Client::new(service, "default")
}

fn manager(options: Options) -> Manager {
    Manager::with_client(options, nowhere()).expect("a manager")
}

type Log = Arc<Mutex<Vec<String>>>;

/// Notes when it starts and when it ends.
struct Noting {
    name: &'static str,
    group: Group,
    log: Log,
}

impl Runnable for Noting {
    async fn run(self, stop: CancellationToken) -> Result<()> {
        self.log.lock().expect("no panic under the lock").push(format!("{} started", self.name));
        stop.cancelled().await;
        // Long enough for a wrong order to show.
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.log.lock().expect("no panic under the lock").push(format!("{} ended", self.name));
        Ok(())
    }

    fn group(&self) -> Group {
        self.group
    }
}

#[tokio::test(start_paused = true)]
async fn groups_start_in_order_and_stop_work_first() {
    let manager = manager(Options::default());
    let log = Log::default();
    for (name, group) in [
        ("controller", Group::Elected),
        ("loop", Group::Always),
        ("cache", Group::Caches),
        ("webhooks", Group::Webhooks),
        ("server", Group::Servers),
    ] {
        manager.add(name, Noting { name, group, log: log.clone() }).expect("added");
    }
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start_until(stop).await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    stop.cancel();
    running.await.expect("no panic").expect("an orderly end");
    let log = log.lock().expect("no panic under the lock").clone();
    assert_eq!(
        log,
        [
            "server started",
            "webhooks started",
            "cache started",
            "loop started",
            "controller started",
            "loop ended",
            "controller ended",
            "cache ended",
            "webhooks ended",
            "server ended",
        ]
    );
    let error = manager.add("late", |_: CancellationToken| async { Ok(()) }).expect_err("stopped");
    assert_eq!(error.to_string(), "cannot add late: the manager is stopped");
    assert!(manager.start_until(stop).await.is_err(), "it cannot be started again");
}

#[tokio::test(start_paused = true)]
async fn a_failure_stops_everything_and_is_returned() {
    let manager = manager(Options::default());
    let (ended, other) = oneshot::channel();
    manager
        .add("other", |stop: CancellationToken| async move {
            stop.cancelled().await;
            let _ = ended.send(());
            Ok(())
        })
        .expect("added");
    manager
        .add("broken", |_: CancellationToken| async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            Err(Error::other("out of luck"))
        })
        .expect("added");
    let error = manager.start_until(CancellationToken::new()).await.expect_err("a failure");
    assert_eq!(error.to_string(), "broken failed: out of luck");
    other.await.expect("the other was stopped");
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure() {
    let manager = manager(Options::default());
    manager.add("wild", |_: CancellationToken| async { panic!("no {}", "way") }).expect("added");
    let error = manager.start_until(CancellationToken::new()).await.expect_err("a failure");
    assert_eq!(error.to_string(), "wild failed: panicked: no way");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_end_in_time_is_named_and_ended() {
    let mut options = Options::default();
    options.graceful_shutdown_timeout = GracePeriod::AtMost(Duration::from_secs(3));
    let manager = manager(options);
    let (alive, dropped) = oneshot::channel::<()>();
    manager
        .add("stubborn", |_: CancellationToken| async move {
            let _alive = alive;
            std::future::pending::<()>().await;
            Ok(())
        })
        .expect("added");
    let stop = CancellationToken::new();
    stop.cancel();
    let before = tokio::time::Instant::now();
    let error = manager.start_until(stop).await.expect_err("too late");
    assert_eq!(before.elapsed(), Duration::from_secs(3));
    assert_eq!(
        error.to_string(),
        "failed waiting for all runnables to end within grace period of 3s: still running: stubborn"
    );
    assert!(dropped.await.is_err(), "it does not live on");
}

#[tokio::test(start_paused = true)]
async fn what_is_added_while_it_runs_starts_at_once() {
    let manager = manager(Options::default());
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start_until(stop).await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (started, wait) = oneshot::channel();
    manager
        .add("late", |_: CancellationToken| async {
            let _ = started.send(());
            Ok(())
        })
        .expect("added");
    wait.await.expect("started");
    stop.cancel();
    running.await.expect("no panic").expect("an orderly end");
}

#[tokio::test(start_paused = true)]
async fn nothing_outlives_a_dropped_run() {
    let manager = manager(Options::default());
    let (ended, wait) = oneshot::channel();
    manager
        .add("loop", |stop: CancellationToken| async move {
            stop.cancelled().await;
            let _ = ended.send(());
            Ok(())
        })
        .expect("added");
    let run = manager.start_until(CancellationToken::new());
    assert!(tokio::time::timeout(Duration::from_secs(1), run).await.is_err());
    wait.await.expect("stopped");
}

#[tokio::test]
async fn probes_and_metrics_are_served() {
    let port = free_port();
    let metrics_port = free_port();
    let flags = [
        "operator".to_owned(),
        format!("--health-probe-bind-address=127.0.0.1:{port}"),
        format!("--metrics-bind-address=127.0.0.1:{metrics_port}"),
        "--metrics-secure=false".to_owned(),
    ];
    let manager = manager(Options::from_command_line(flags).expect("valid flags"));
    manager.add_readyz_check("database", || Err("connection refused".to_owned()));
    let _controller = manager.metrics().controller("memcached");
    let stop = CancellationToken::new();
    let running = tokio::spawn({
        let (manager, stop) = (manager.clone(), stop.clone());
        async move { manager.start_until(stop).await }
    });
    // The sockets are open since the manager was made, so no request is refused.
    assert_eq!(get(port, "/healthz").await, (200, "ok".to_owned()));
    let (code, body) = get(port, "/readyz").await;
    assert_eq!(code, 500);
    assert!(body.contains("[-]database failed: reason withheld\n[+]shutdown ok\n"), "{body}");
    assert_eq!(get(port, "/readyz/shutdown").await, (200, "ok".to_owned()));
    assert_eq!(get(port, "/healthzz").await.0, 404);
    let (code, body) = get(metrics_port, "/metrics").await;
    assert_eq!(code, 200);
    assert!(body.contains("controller_runtime_active_workers{controller=\"memcached\"} 0\n"), "{body}");
    stop.cancel();
    running.await.expect("no panic").expect("an orderly end");
    assert!(tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err(), "the socket is closed");
}

#[tokio::test]
async fn a_busy_port_fails_when_the_manager_is_made() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
    let address = taken.local_addr().expect("an address");
    let flags = ["operator".to_owned(), format!("--health-probe-bind-address={address}")];
    let options = Options::from_command_line(flags).expect("valid flags");
    let error = Manager::with_client(options, nowhere()).expect_err("busy").to_string();
    assert!(error.contains("--health-probe-bind-address") && error.contains(&address.to_string()), "{error}");
}

fn free_port() -> u16 {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
    socket.local_addr().expect("an address").port()
}

async fn get(port: u16, path: &str) -> (u16, String) {
    let stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
    exchange(stream, Request::get(path)).await
}

async fn get_json(port: u16, path: &str) -> (u16, String) {
    let stream = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.expect("a connection");
    exchange(stream, Request::get(path).header("accept", "application/json")).await
}

async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    request: http::request::Builder,
) -> (u16, String) {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(hyper_util::rt::TokioIo::new(stream)).await.expect("HTTP");
    let connection = tokio::spawn(connection);
    let request = request.header("host", "localhost").body(String::new()).expect("a request");
    let response = sender.send_request(request).await.expect("a response");
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    drop(sender);
    let _ = connection.await;
    (code, String::from_utf8(body.to_vec()).expect("text"))
}
