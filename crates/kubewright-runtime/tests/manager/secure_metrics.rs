//! Metrics by HTTPS, for those whom the API server allows to read them.

use std::sync::Arc;

use http::Request;
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::ServiceAccount,
};
use kube::{Api, Client, api::PostParams};
use kubewright_apiserver::{ApiServer, User};
use kubewright_runtime::manager::{Manager, Options};
use rustls::{
    ClientConfig, DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::ring,
    pki_types::{CertificateDer, ServerName, UnixTime, pem::PemObject},
};
use serde_json::json;
use tokio_rustls::TlsConnector;
use tokio_util::sync::CancellationToken;

use super::super::{exchange, free_port};

/// A client that takes any certificate, and looks at it afterwards.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        ring::default_provider().signature_verification_algorithms.supported_schemes()
    }
}

/// What the manifests of an operator allow: it may ask who somebody is and what they may do, and `prometheus` may read
/// metrics.
fn server() -> ApiServer {
    let server = ApiServer::builder().build();
    let rbac = "rbac.authorization.k8s.io";
    let rules = [
        (
            "metrics-auth-role",
            json!({"kind": "User", "apiGroup": rbac, "name": "operator"}),
            json!([
                {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
                {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
            ]),
        ),
        (
            "metrics-reader",
            json!({"kind": "ServiceAccount", "namespace": "default", "name": "prometheus"}),
            json!([{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]),
        ),
    ];
    for (name, subject, rules) in rules {
        let role = json!({"apiVersion": format!("{rbac}/v1"), "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules});
        let binding = json!({
            "apiVersion": format!("{rbac}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": name}, "subjects": [subject],
        });
        server.create(role).expect("a valid role");
        server.create(binding).expect("a valid binding");
    }
    server
}

async fn token_of(server: &ApiServer, account: &str) -> String {
    let accounts: Api<ServiceAccount> = Api::default_namespaced(Client::new(server.service(), "default"));
    let mut object = ServiceAccount::default();
    object.metadata.name = Some(account.to_owned());
    accounts.create(&PostParams::default(), &object).await.expect("created");
    let request = TokenRequest { spec: Some(TokenRequestSpec::default()), ..Default::default() };
    let request = accounts.create_token_request(account, &PostParams::default(), &request).await;
    request.expect("a token").status.expect("a status").token.expect("a token")
}

struct Running {
    port: u16,
    stop: CancellationToken,
    ended: tokio::task::JoinHandle<kubewright_runtime::Result<()>>,
}

impl Running {
    fn start(server: &ApiServer, flags: &[String]) -> Self {
        let port = free_port();
        let mut words = vec!["operator".to_owned(), "--health-probe-bind-address=0".to_owned()];
        words.push(format!("--metrics-bind-address=127.0.0.1:{port}"));
        words.extend_from_slice(flags);
        let options = Options::from_command_line(words).expect("valid flags");
        let user = User { name: "operator".to_owned(), ..User::default() };
        let client = Client::new(server.service_as(user), "default");
        let manager = Manager::with_client(options, client).expect("a manager");
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let ended = tokio::spawn(async move { manager.start_until(stopped).await });
        Self { port, stop, ended }
    }

    /// The status, the body, the protocol and the certificate.
    async fn get(&self, path: &str, authorization: Option<&str>) -> (u16, String, Vec<u8>, Vec<u8>) {
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("TLS versions")
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate))
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let stream = tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await.expect("a connection");
        let name = ServerName::try_from("localhost").expect("a name");
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.expect("TLS");
        let connection = stream.get_ref().1;
        let protocol = connection.alpn_protocol().unwrap_or_default().to_vec();
        let certificate = connection.peer_certificates().expect("a certificate")[0].to_vec();
        if protocol == b"h2" {
            return (0, String::new(), protocol, certificate);
        }
        let mut request = Request::get(path);
        if let Some(authorization) = authorization {
            request = request.header("authorization", authorization);
        }
        let (code, body) = exchange(stream, request).await;
        (code, body, protocol, certificate)
    }

    async fn end(self) {
        self.stop.cancel();
        self.ended.await.expect("no panic").expect("an orderly end");
    }
}

#[tokio::test]
async fn metrics_are_for_those_who_may_get_them() {
    let server = server();
    let prometheus = format!("Bearer {}", token_of(&server, "prometheus").await);
    let stranger = format!("Bearer {}", token_of(&server, "stranger").await);
    let operator = Running::start(&server, &[]);
    for (authorization, code, text) in [
        (None, 401, "Unauthorized\n"),
        (Some("Bearer"), 401, "Unauthorized\n"),
        (Some("Basic cHJvbWV0aGV1czp4"), 401, "Unauthorized\n"),
        (Some("Bearer nonsense"), 401, "Unauthorized\n"),
        (Some(&*stranger), 403, "Authorization denied for user system:serviceaccount:default:stranger\n"),
    ] {
        let (got, body, protocol, _) = operator.get("/metrics", authorization).await;
        assert_eq!((got, &*body), (code, text), "{authorization:?}");
        assert_eq!(protocol, b"http/1.1");
    }
    // The first answer is the API server's, the second one is kept.
    for _ in 0..2 {
        let (code, body, ..) = operator.get("/metrics", Some(&prometheus)).await;
        assert_eq!(code, 200);
        assert!(body.contains("\nkubewright_events_dropped_total 0\n"), "{body}");
    }
    let (code, body, ..) = operator.get("/debug", Some(&prometheus)).await;
    assert_eq!(
        (code, &*body),
        (403, "Authorization denied for user system:serviceaccount:default:prometheus\n")
    );
    assert_eq!(operator.get("/", Some(&prometheus)).await.0, 404);
    operator.end().await;
}

#[tokio::test]
async fn the_certificate_comes_from_files_and_http2_is_asked_for() {
    let server = server();
    let directory = tempfile::tempdir().expect("a directory");
    let key = rcgen::KeyPair::generate().expect("a key");
    let params = rcgen::CertificateParams::new(["metrics.example.com".to_owned()]).expect("a name");
    let certificate = params.self_signed(&key).expect("signed").pem();
    std::fs::write(directory.path().join("metrics.crt"), &certificate).expect("written");
    std::fs::write(directory.path().join("metrics.key"), key.serialize_pem()).expect("written");
    let flags = [
        format!("--metrics-cert-path={}", directory.path().display()),
        "--metrics-cert-name=metrics.crt".to_owned(),
        "--metrics-cert-key=metrics.key".to_owned(),
        "--enable-http2".to_owned(),
    ];
    let operator = Running::start(&server, &flags);
    let (_, _, protocol, shown) = operator.get("/metrics", None).await;
    assert_eq!(protocol, b"h2");
    let expected = CertificateDer::from_pem_slice(certificate.as_bytes()).expect("PEM");
    assert_eq!(shown, expected.to_vec());
    operator.end().await;
}
