//! The listener in front of a service that is not the API server.

use std::{convert::Infallible, future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use kube::config::{KubeConfigOptions, Kubeconfig as ClientConfig};
use kubewright_apiserver::listener::{
    Credentials, ListenError, ListenOptions, Listening, PeerAddress, PeerCertificate, listen,
};
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::Notify,
};
use tower::service_fn;

type Answer = Pin<Box<dyn Future<Output = Result<Response<BoxBody<Bytes, Infallible>>, Infallible>> + Send>>;

/// Tells who asks; `/watch` never ends; `/slow` waits until it is told to go on.
async fn start(options: ListenOptions, go_on: Arc<Notify>) -> Result<Listening, ListenError> {
    let service = service_fn(move |request: Request<Incoming>| -> Answer {
        let go_on = Arc::clone(&go_on);
        Box::pin(async move {
            let path = request.uri().path().to_owned();
            let body = match path.as_str() {
                "/watch" => {
                    let first = futures::stream::iter([Ok(Frame::data(Bytes::from_static(b"event\n")))]);
                    BodyExt::boxed(StreamBody::new(first.chain(futures::stream::pending())))
                }
                _ => {
                    if path == "/slow" {
                        go_on.notified().await;
                    }
                    let peer = request.extensions().get::<Arc<PeerCertificate>>();
                    let who = peer.map(|peer| format!("{} of {:?}", peer.common_name, peer.organizations));
                    let address = request.extensions().get::<PeerAddress>().expect("an address");
                    assert!(address.0.ip().is_loopback());
                    let text = format!("{:?} {}", request.version(), who.unwrap_or_default());
                    Full::new(Bytes::from(text)).boxed()
                }
            };
            Ok(Response::new(body))
        })
    });
    listen(service, options).await
}

async fn ask(kubeconfig: &str, path: &str) -> Result<String, kube::Error> {
    let config: ClientConfig = serde_json::from_str(kubeconfig).expect("a kubeconfig");
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(config, &options).await.expect("a configuration");
    let client = kube::Client::try_from(config).expect("a client");
    client.request_text(Request::get(path).body(Vec::new()).expect("a request")).await
}

#[tokio::test]
async fn a_kubeconfig_is_all_that_a_client_needs() {
    let listening = start(ListenOptions::default(), Arc::default()).await.expect("listens");
    assert!(listening.url().starts_with("https://127.0.0.1:"), "{}", listening.url());
    let answer = ask(&listening.kubeconfig(), "/").await.expect("an answer");
    assert_eq!(answer, "HTTP/1.1 system:admin of [\"system:masters\"]");

    let jane =
        listening.authority().expect("an authority").issue_client("jane", None).expect("a certificate");
    let kubeconfig = listening.kubeconfig_for(Credentials::Certificate(jane)).to_text();
    assert_eq!(ask(&kubeconfig, "/").await.expect("an answer"), "HTTP/1.1 jane of []");

    let kubeconfig = listening.kubeconfig_for(Credentials::Token("t".to_owned())).to_text();
    assert_eq!(ask(&kubeconfig, "/").await.expect("an answer"), "HTTP/1.1 ");
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let listening = start(ListenOptions::default(), Arc::default()).await.expect("listens");
    let other = start(ListenOptions::default(), Arc::default()).await.expect("listens");
    let stranger = other.admin_certificate().expect("a certificate").clone();
    let kubeconfig = listening.kubeconfig_for(Credentials::Certificate(stranger)).to_text();
    assert!(ask(&kubeconfig, "/").await.is_err());
    assert!(ask(&listening.kubeconfig(), "/").await.is_ok(), "the others are served on");
}

#[tokio::test]
async fn clients_may_choose_http_2() {
    let listening = start(ListenOptions::default(), Arc::default()).await.expect("listens");
    let mut roots = rustls::RootCertStore::empty();
    let ca = listening.ca_pem().expect("TLS").as_bytes();
    roots.add(CertificateDer::from_pem_slice(ca).expect("PEM")).expect("a root");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    for name in ["localhost", "kubernetes.default.svc", "127.0.0.1"] {
        let stream = TcpStream::connect(listening.address()).await.expect("connects");
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config.clone()));
        let name = ServerName::try_from(name).expect("a name");
        let mut stream = connector.connect(name, stream).await.expect("a certificate for the name");
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        // The preface and empty settings; the server answers with its own settings, a frame of type 4.
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.expect("sends");
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.expect("a frame");
        assert_eq!(head[3], 4);
    }
}

#[tokio::test]
async fn plain_http_needs_no_certificates() {
    let listening = start(ListenOptions::plain(), Arc::default()).await.expect("listens");
    assert!(listening.url().starts_with("http://127.0.0.1:"));
    assert!(listening.ca_pem().is_none() && listening.admin_certificate().is_none());
    assert_eq!(ask(&listening.kubeconfig(), "/").await.expect("an answer"), "HTTP/1.1 ");
}

#[tokio::test]
async fn a_taken_port_and_a_foreign_address_are_told() {
    let listening = start(ListenOptions::plain(), Arc::default()).await.expect("listens");
    let taken =
        start(ListenOptions::plain().at(listening.address()), Arc::default()).await.expect_err("taken");
    assert!(matches!(taken, ListenError::AddressInUse { address } if address == listening.address()));
    assert!(taken.to_string().contains("the port is in use"), "{taken}");
    let foreign = ListenOptions::default().at("192.0.2.1:0".parse().expect("an address"));
    let error = start(foreign, Arc::default()).await.expect_err("not of this machine");
    assert!(error.to_string().starts_with("cannot listen on 192.0.2.1:0: "), "{error}");
}

#[tokio::test]
async fn silent_and_slow_clients_are_cut_and_disturb_nobody() {
    for options in [ListenOptions::default(), ListenOptions::plain()] {
        let mut options = options;
        options.header_read_timeout = Duration::from_millis(200);
        let listening = start(options, Arc::default()).await.expect("listens");
        let mut silent = TcpStream::connect(listening.address()).await.expect("connects");
        let mut halting = TcpStream::connect(listening.address()).await.expect("connects");
        halting.write_all(b"GET / HTTP/1.1\r\nHost: a").await.expect("sends a part");
        assert!(ask(&listening.kubeconfig(), "/").await.is_ok(), "others are served meanwhile");
        let mut rest = Vec::new();
        // Ends when the server closes, which may be a reset.
        let _ = silent.read_to_end(&mut rest).await;
        let _ = halting.read_to_end(&mut rest).await;
        assert!(ask(&listening.kubeconfig(), "/").await.is_ok());
    }
}

#[tokio::test]
async fn shutdown_lets_requests_finish_and_frees_the_port() {
    let go_on = Arc::new(Notify::new());
    let listening = start(ListenOptions::plain(), Arc::clone(&go_on)).await.expect("listens");
    let address = listening.address();
    let mut client = TcpStream::connect(address).await.expect("connects");
    client.write_all(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("sends");
    // Another connection's answer shows that the accept loop has gone past the first one.
    ask(&listening.kubeconfig(), "/").await.expect("an answer");
    let shutdown = tokio::spawn(async move { listening.shutdown().await });
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    assert!(!shutdown.is_finished(), "the request goes on");
    go_on.notify_one();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.expect("the whole answer");
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    shutdown.await.expect("shut down");
    tokio::net::TcpListener::bind(address).await.expect("the port is free");
}

#[tokio::test]
async fn shutdown_cuts_what_does_not_end() {
    let mut options = ListenOptions::plain();
    options.shutdown_grace = Duration::from_millis(50);
    let listening = start(options, Arc::default()).await.expect("listens");
    let mut client = TcpStream::connect(listening.address()).await.expect("connects");
    client.write_all(b"GET /watch HTTP/1.1\r\nHost: a\r\n\r\n").await.expect("sends");
    let mut seen = Vec::new();
    while !seen.ends_with(b"event\n\r\n") {
        assert!(client.read_buf(&mut seen).await.expect("reads") > 0);
    }
    listening.shutdown().await;
    let _ = client.read_to_end(&mut seen).await;
    listening.shutdown().await;
}

#[tokio::test]
async fn dropping_stops_the_server() {
    let listening = start(ListenOptions::plain(), Arc::default()).await.expect("listens");
    let address = listening.address();
    drop(listening);
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}
