//! Webhooks by HTTPS, called by the embedded API server as a real one calls them.

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use k8s_openapi::{
    ByteString,
    api::{admissionregistration::v1::MutatingWebhookConfiguration, core::v1::ConfigMap},
};
use kube::{Api, Client, api::PostParams};
use kubewright_apiserver::ApiServer;
use kubewright_runtime::{
    Result,
    manager::{Manager, Options},
    webhook::{AdmissionRequest, Defaulter, Webhook},
};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

/// Sets a color once it has a permit.
#[derive(Clone)]
struct Colors {
    permits: Arc<Semaphore>,
    asked: Arc<Semaphore>,
}

impl Colors {
    fn new(permits: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(permits)), asked: Arc::new(Semaphore::new(0)) }
    }
}

impl Defaulter<ConfigMap> for Colors {
    async fn default(&self, map: &mut ConfigMap, _: &AdmissionRequest) -> Result<()> {
        self.asked.add_permits(1);
        self.permits.acquire().await.expect("never closed").forget();
        map.data = Some(BTreeMap::from([("color".to_owned(), "red".to_owned())]));
        Ok(())
    }
}

/// Writes a certificate for this machine, and returns it.
fn certificate(directory: &Path) -> Vec<u8> {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    std::fs::write(directory.join("tls.key"), made.signing_key.serialize_pem()).expect("written");
    std::fs::write(directory.join("tls.crt"), made.cert.pem()).expect("written");
    made.cert.pem().into_bytes()
}

struct Running {
    client: Client,
    manager: Manager,
    stop: CancellationToken,
    ended: tokio::task::JoinHandle<Result<()>>,
    bundle: Vec<u8>,
    directory: tempfile::TempDir,
}

impl Running {
    async fn start(colors: Colors, flags: &[&str]) -> Self {
        let server = ApiServer::builder().build();
        let client = Client::new(server.service(), "default");
        let directory = tempfile::tempdir().expect("a directory");
        let bundle = certificate(directory.path());
        let path = format!("--webhook-cert-path={}", directory.path().display());
        let words = ["operator", "--health-probe-bind-address=0", "--webhook-port=127.0.0.1:0", &path];
        let options = Options::from_command_line(words.iter().chain(flags)).expect("valid flags");
        let manager = Manager::with_client(options, client.clone()).expect("a manager");
        Webhook::new::<ConfigMap>(&manager).defaulter(colors).serve().expect("a free path");
        let stop = CancellationToken::new();
        let (running, stopped) = (manager.clone(), stop.clone());
        let ended = tokio::spawn(async move { running.start_until(stopped).await });
        while !manager.readiness().results().get("webhook").is_some_and(Result::is_ok) {
            assert!(!ended.is_finished(), "{:?}", ended.await);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let operator = Self { client, manager, stop, ended, bundle, directory };
        operator.configure().await;
        operator
    }

    /// Lets the API server call the operator, and trust the certificate.
    async fn configure(&self) {
        let mut documents = self.manager.webhooks().configurations("default", "operator");
        let mut configuration: MutatingWebhookConfiguration =
            serde_json::from_value(documents.remove(0)).expect("a configuration");
        let address = self.manager.webhook_address().expect("it listens");
        for hook in configuration.webhooks.iter_mut().flatten() {
            let path = hook.client_config.service.take().and_then(|service| service.path).expect("a path");
            hook.client_config.url = Some(format!("https://{address}{path}"));
            hook.client_config.ca_bundle = Some(ByteString(self.bundle.clone()));
        }
        let api = Api::all(self.client.clone());
        api.create(&PostParams::default(), &configuration).await.expect("a valid configuration");
    }

    async fn create(&self, name: &str) -> kube::Result<ConfigMap> {
        let map = serde_json::from_value(json!({"metadata": {"name": name}})).expect("a config map");
        Api::<ConfigMap>::default_namespaced(self.client.clone()).create(&PostParams::default(), &map).await
    }
}

fn color(map: &ConfigMap) -> Option<&str> {
    map.data.as_ref()?.get("color").map(String::as_str)
}

#[tokio::test]
async fn the_api_server_calls_webhooks_and_trusts_the_certificate_of_the_files() {
    for http2 in ["--enable-http2=false", "--enable-http2"] {
        let operator = Running::start(Colors::new(2), &[http2]).await;
        let created = operator.create("one").await.expect("created");
        assert_eq!(color(&created), Some("red"), "{http2}");
        // Another certificate is shown as soon as it is there. The API server, which was not told of it, does not trust it.
        certificate(operator.directory.path());
        let began = std::time::Instant::now();
        for attempt in 0.. {
            // Open connections go on with the certificate that they began with.
            assert!(began.elapsed() < Duration::from_secs(20), "the old certificate is shown still");
            let mut config = kube_tls(&operator.bundle);
            config.alpn_protocols.clear();
            let address = operator.manager.webhook_address().expect("it listens");
            let stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
            let name = rustls::pki_types::ServerName::try_from("127.0.0.1").expect("a name");
            let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
            if connector.connect(name, stream).await.is_err() {
                break;
            }
            if attempt % 100 == 99 {
                // The first change may have been before the file system was looked at.
                certificate(operator.directory.path());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        operator.stop.cancel();
        operator.ended.await.expect("no panic").expect("an orderly end");
    }
}

/// Trusts these certificates alone.
fn kube_tls(bundle: &[u8]) -> rustls::ClientConfig {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    let mut roots = rustls::RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(bundle) {
        roots.add(certificate.expect("PEM")).expect("a certificate");
    }
    rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("TLS versions")
        .with_root_certificates(roots)
        .with_no_client_auth()
}

#[tokio::test]
async fn no_request_is_dropped_when_the_operator_stops() {
    let colors = Colors::new(0);
    let operator = Arc::new(Running::start(colors.clone(), &["--webhook-shutdown-delay=1s"]).await);
    let create = |name: &'static str| {
        let operator = operator.clone();
        tokio::spawn(async move { operator.create(name).await })
    };
    let early = create("early");
    colors.asked.acquire().await.expect("never closed").forget();
    operator.stop.cancel();
    while operator.manager.readiness().results()["shutdown"].is_ok() {
        tokio::task::yield_now().await;
    }
    // Whoever did not hear of it yet is answered still.
    let late = create("late");
    colors.asked.acquire().await.expect("never closed").forget();
    assert!(!operator.ended.is_finished());
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert!(!operator.ended.is_finished(), "two requests have no answer yet");
    colors.permits.add_permits(2);
    for created in [early, late] {
        let created = created.await.expect("no panic").expect("created");
        assert_eq!(color(&created), Some("red"));
    }
    while !operator.ended.is_finished() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let refused = operator.create("too late").await.expect_err("nobody answers");
    assert!(refused.to_string().contains("connection refused"), "{refused}");
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let server = ApiServer::builder().build();
    let client = Client::new(server.service(), "default");
    let start = async |flags: &[&str]| {
        let words = ["operator", "--health-probe-bind-address=0"].iter().chain(flags);
        let options = Options::from_command_line(words).expect("valid flags");
        let manager = Manager::with_client(options, client.clone()).expect("a manager");
        Webhook::new::<ConfigMap>(&manager).defaulter(Colors::new(1)).serve().expect("a free path");
        let stop = CancellationToken::new();
        stop.cancel();
        manager.start_until(stop).await
    };
    let error = start(&["--webhook-port=127.0.0.1:0"]).await.expect_err("no certificate").to_string();
    assert!(error.contains("--webhook-cert-path") && error.contains("--webhook-service"), "{error}");
    let path = ["--webhook-port=127.0.0.1:0", "--webhook-cert-path=/nowhere"];
    let error = start(&path).await.expect_err("no files").to_string();
    assert!(error.contains("/nowhere/tls.crt"), "{error}");
    start(&["--webhook-port=0"]).await.expect("served to nobody");
}

/// The operator makes its certificate itself. The API server reaches it as the service that it is told of.
#[tokio::test]
async fn an_authority_of_the_operator_is_trusted_by_what_names_its_service() {
    let mut addresses = kubewright_apiserver::webhook::ServiceAddresses::default();
    let port = super::super::free_port();
    addresses.insert("default", "webhook-service", ([127, 0, 0, 1], port).into());
    let server = ApiServer::builder().webhook_addresses(addresses).build();
    let client = Client::new(server.service(), "default");
    let port = format!("--webhook-port=127.0.0.1:{port}");
    let words = ["operator", "--health-probe-bind-address=0", "--webhook-service=webhook-service", &port];
    let manager =
        Manager::with_client(Options::from_command_line(words).expect("valid flags"), client.clone());
    let manager = manager.expect("a manager");
    Webhook::new::<ConfigMap>(&manager).defaulter(Colors::new(1)).serve().expect("a free path");
    let mut documents = manager.webhooks().configurations("default", "webhook-service");
    let configuration: MutatingWebhookConfiguration =
        serde_json::from_value(documents.remove(0)).expect("a configuration");
    Api::all(client.clone()).create(&PostParams::default(), &configuration).await.expect("created");
    let stop = CancellationToken::new();
    let (running, stopped) = (manager.clone(), stop.clone());
    let ended = tokio::spawn(async move { running.start_until(stopped).await });
    for check in ["webhook-authority", "webhook"] {
        while !manager.readiness().results().get(check).is_some_and(Result::is_ok) {
            assert!(!ended.is_finished(), "{:?}", ended.await);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    let map = serde_json::from_value(json!({"metadata": {"name": "one"}})).expect("a config map");
    let maps = Api::<ConfigMap>::default_namespaced(client);
    let created = maps.create(&PostParams::default(), &map).await.expect("the certificate is trusted");
    assert_eq!(color(&created), Some("red"));
    stop.cancel();
    ended.await.expect("no panic").expect("an orderly end");
}
