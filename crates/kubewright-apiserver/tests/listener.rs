//! The listener, mostly in front of a service that is not the API server.

use std::{convert::Infallible, future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use futures::StreamExt;
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use kube::config::{KubeConfigOptions, Kubeconfig as ClientConfig};
use kubewright_apiserver::{
    ApiServer, User,
    authz::AuthorizationMode,
    listener::{
        CertificateAuthority, ClientCa, ClientCertificate, Credentials, ListenError, ListenOptions,
        Listening, PeerAddress, PeerCertificate, RefusedCertificate, ServerCertificate, listen,
    },
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
                    let refused = request.extensions().get::<Arc<RefusedCertificate>>();
                    let who = peer
                        .map(|peer| format!("{} of {:?}", peer.common_name, peer.organizations))
                        .or(refused.map(|refused| refused.reason.clone()));
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

async fn client(kubeconfig: &str) -> kube::Client {
    let config: ClientConfig = serde_json::from_str(kubeconfig).expect("a kubeconfig");
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(config, &options).await.expect("a configuration");
    kube::Client::try_from(config).expect("a client")
}

async fn ask(kubeconfig: &str, path: &str) -> Result<String, kube::Error> {
    let request = Request::get(path).body(Vec::new()).expect("a request");
    client(kubeconfig).await.request_text(request).await
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
async fn a_certificate_of_another_authority_names_nobody() {
    let listening = start(ListenOptions::default(), Arc::default()).await.expect("listens");
    let other = start(ListenOptions::default(), Arc::default()).await.expect("listens");
    let stranger = other.admin_certificate().expect("a certificate").clone();
    let kubeconfig = listening.kubeconfig_for(Credentials::Certificate(stranger)).to_text();
    let answer = ask(&kubeconfig, "/").await.expect("an answer");
    assert!(answer.contains("invalid peer certificate"), "{answer}");

    let mut options = ListenOptions::default();
    options.client_ca = Some(ClientCa::from_pem(other.ca_pem().expect("TLS")).expect("PEM"));
    let trusting = start(options, Arc::default()).await.expect("listens");
    let joe =
        other.authority().expect("an authority").issue_client("joe", Some("dev")).expect("a certificate");
    for (certificate, expected) in [
        (joe, "joe of [\"dev\"]"),
        (trusting.admin_certificate().expect("TLS").clone(), "system:admin of [\"system:masters\"]"),
    ] {
        let kubeconfig = trusting.kubeconfig_for(Credentials::Certificate(certificate)).to_text();
        assert_eq!(ask(&kubeconfig, "/").await.expect("an answer"), format!("HTTP/1.1 {expected}"));
    }
}

#[tokio::test]
async fn a_server_may_have_a_certificate_of_its_own() {
    let authority = CertificateAuthority::generate().expect("an authority");
    let mut names = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("names");
    names.use_authority_key_identifier_extension = true;
    let key = rcgen::KeyPair::generate().expect("a key");
    let issuer_key = rcgen::KeyPair::from_pem(authority.key_pem()).expect("its own PEM");
    let issuer =
        rcgen::Issuer::from_ca_cert_pem(authority.certificate_pem(), issuer_key).expect("its own PEM");
    let certificate = names.signed_by(&key, &issuer).expect("signed");
    let chain = format!("{}{}", certificate.pem(), authority.certificate_pem());
    let mut options = ListenOptions::default();
    options.certificate = Some(ServerCertificate::from_pem(&chain, &key.serialize_pem()).expect("they fit"));
    let listening = start(options, Arc::default()).await.expect("listens");
    assert_eq!(listening.ca_pem(), Some(chain.as_str()));
    let answer = ask(&listening.kubeconfig(), "/").await.expect("an answer");
    assert_eq!(answer, "HTTP/1.1 system:admin of [\"system:masters\"]");
}

/// What a real server answers to the same certificates and tokens.
#[tokio::test]
async fn who_makes_a_request_is_what_kube_apiserver_takes_them_for() {
    let ours = CertificateAuthority::generate().expect("an authority");
    let theirs = CertificateAuthority::generate().expect("an authority");
    let mut options = ListenOptions::default();
    options.client_ca = Some(ClientCa::from_pem(ours.certificate_pem()).expect("PEM"));
    let joe = User { name: "joe".to_owned(), uid: "u1".to_owned(), ..User::default() };
    let server = |anonymous| ApiServer::builder().token("t1", joe.clone()).anonymous(anonymous).build();
    let open = server(true);
    let listening = open.listen(options.clone()).await.expect("listens");
    let closed = server(false).listen(options.clone()).await.expect("listens");
    let lenient = ApiServer::builder().authorization_modes([AuthorizationMode::AlwaysAllow]).build();
    let lenient = lenient.listen(options).await.expect("listens");

    let jane = ours.issue_client("jane", Some("dev")).expect("a certificate");
    let nameless = ours.issue_client("", None).expect("a certificate");
    let stranger = theirs.issue_client("stranger", None).expect("a certificate");
    let expired = {
        let mut params = rcgen::CertificateParams::default();
        params.distinguished_name.push(rcgen::DnType::CommonName, "old");
        params.not_after = rcgen::date_time_ymd(2020, 1, 1);
        let key = rcgen::KeyPair::from_pem(ours.key_pem()).expect("its own PEM");
        let issuer = rcgen::Issuer::from_ca_cert_pem(ours.certificate_pem(), key).expect("its own PEM");
        let key = rcgen::KeyPair::from_pem(&jane.key_pem).expect("a key");
        let mut expired = jane.clone();
        expired.certificate_pem = params.signed_by(&key, &issuer).expect("signed").pem();
        expired
    };
    let review = |listening: &Listening, certificate: Option<&ClientCertificate>, token: Option<&str>| {
        let credentials = certificate
            .map_or(Credentials::None, |certificate| Credentials::Certificate(certificate.clone()));
        let mut kubeconfig: serde_json::Value =
            serde_json::from_str(&listening.kubeconfig_for(credentials).to_text()).expect("JSON");
        if let Some(token) = token {
            kubeconfig["users"][0]["user"]["token"] = token.into();
        }
        async move { who(&kubeconfig.to_string()).await }
    };
    let cases = [
        (Some(&jane), None, "jane"),
        (Some(&jane), Some("wrong"), "jane"),
        (Some(&nameless), None, "403"),
        (Some(&nameless), Some("t1"), "joe"),
        (Some(&nameless), Some("wrong"), "401"),
        (Some(&stranger), None, "401"),
        (Some(&stranger), Some("t1"), "joe"),
        (Some(&expired), None, "401"),
        (None, Some("t1"), "joe"),
        (None, Some("wrong"), "401"),
        (None, None, "403"),
    ];
    for (index, (certificate, token, expected)) in cases.into_iter().enumerate() {
        assert_eq!(review(&listening, certificate, token).await, expected, "case {index}");
        // Who would be anonymous is nobody.
        let expected = if expected == "403" { "401" } else { expected };
        assert_eq!(review(&closed, certificate, token).await, expected, "case {index} without anonymous");
    }
    assert_eq!(review(&lenient, Some(&jane), None).await, "jane");
    assert_eq!(review(&lenient, None, None).await, "401", "nobody may do everything");
    for path in ["/healthz", "/livez", "/readyz", "/version"] {
        let anonymous = |listening: &Listening| listening.kubeconfig_for(Credentials::None).to_text();
        assert!(ask(&anonymous(&listening), path).await.is_ok(), "{path}");
        let Err(kube::Error::Api(status)) = ask(&anonymous(&closed), path).await else {
            panic!("{path} is open")
        };
        assert_eq!((status.code, status.message.as_str()), (401, "Unauthorized"), "{path}");
    }
}

/// The user that the server takes the client of a kubeconfig for, or the code of its refusal.
async fn who(kubeconfig: &str) -> String {
    let review = r#"{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}"#;
    let request = Request::post("/apis/authentication.k8s.io/v1/selfsubjectreviews")
        .header("content-type", "application/json")
        .body(review.as_bytes().to_vec())
        .expect("a request");
    match client(kubeconfig).await.request::<serde_json::Value>(request).await {
        Ok(answer) => answer["status"]["userInfo"]["username"].as_str().unwrap_or_default().to_owned(),
        Err(kube::Error::Api(status)) => status.code.to_string(),
        Err(error) => panic!("{error}"),
    }
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
