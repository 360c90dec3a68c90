use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::TlsConnector;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    Options,
    http_server::HttpServer,
    runnable::{Group, Runnable},
};
use crate::{
    Clock, Error, Result,
    certificates::{ServingCertificate, provider},
    client::Client,
    health::CheckResult,
    metrics::Metrics,
    webhook::{
        Webhooks,
        authority::{Authority, AuthorityCheck},
    },
};

/// Serves the webhooks: by HTTPS where the options say so, and in any case to callers in the same process.
pub(super) struct WebhookServer {
    webhooks: Webhooks,
    delay: Duration,
    listening: Option<Listening>,
}

struct Listening {
    http: HttpServer,
    certificate: ServingCertificate,
    /// Who makes the certificate, if that is the operator.
    authority: Option<Authority>,
    reached: Reached,
}

/// Whether the server was reached from this process, as of the last attempt.
#[derive(Clone)]
struct Reached(Arc<Mutex<CheckResult>>);

/// How often the server is called, and how long that may take.
const CHECK_PERIOD: Duration = Duration::from_secs(10);

/// How soon it is called again when that failed.
const RETRY: Duration = Duration::from_millis(500);

// === impl WebhookServer ===

impl WebhookServer {
    /// Opens the socket and reads the certificate. An authority of the operator's own keeps it with the client.
    pub(super) fn new(
        options: &Options,
        webhooks: &Webhooks,
        metrics: &Metrics,
        client: &Client,
        clock: &Clock,
    ) -> Result<Self> {
        let (webhooks, delay) = (webhooks.clone(), options.webhook_shutdown_delay);
        let Some(listener) = options.webhook_bind_address.bind("--webhook-port")? else {
            return Ok(Self { webhooks, delay, listening: None });
        };
        let (certificate, authority) = match (&options.webhook_cert_path, &options.webhook_service) {
            (Some(directory), _) => {
                let (certificate, key) = (&options.webhook_cert_name, &options.webhook_cert_key);
                let metrics = metrics.certificates();
                (
                    ServingCertificate::from_files(
                        directory.join(certificate),
                        directory.join(key),
                        metrics,
                    )?,
                    None,
                )
            }
            (None, Some(service)) => {
                let certificate = ServingCertificate::awaited(metrics.certificates());
                let authority = Authority::new(
                    client.kube().clone(),
                    clock.clone(),
                    (client.kube().default_namespace().to_owned(), service.clone()),
                    webhooks.converted(),
                    options.name.clone(),
                    certificate.clone(),
                );
                (certificate, Some(authority))
            }
            (None, None) => {
                return Err(Error::setup(
                    "webhooks need a certificate: give its directory by --webhook-cert-path, let the operator make one for its \
                     service by --webhook-service, or serve no webhooks by --webhook-port=0",
                ));
            }
        };
        let http =
            HttpServer::webhooks(listener, webhooks.clone(), certificate.clone(), options.enable_http2)?;
        let reached =
            Reached(Arc::new(Mutex::new(Err("webhook server has not been started yet".to_owned()))));
        Ok(Self { webhooks, delay, listening: Some(Listening { http, certificate, authority, reached }) })
    }

    /// Where it listens.
    pub(super) fn address(&self) -> Result<Option<SocketAddr>> {
        self.listening.as_ref().map(|listening| listening.http.address()).transpose()
    }

    /// Whether it can be reached. Without a socket it cannot fail to.
    pub(super) fn check(&self) -> impl Fn() -> CheckResult + Send + Sync + 'static {
        let reached = self.listening.as_ref().map(|listening| listening.reached.clone());
        move || reached.as_ref().map_or(Ok(()), Reached::get)
    }

    /// Whether its certificate is trusted, as far as the operator sees to that.
    pub(super) fn authority_check(&self) -> Option<AuthorityCheck> {
        self.listening.as_ref()?.authority.as_ref().map(Authority::check)
    }
}

impl Runnable for WebhookServer {
    /// Takes requests for a while after `stop`, because clients learn late that this process goes: a connection that is
    /// refused is a write of a user that fails. Then answers what was taken.
    async fn run(self, stop: CancellationToken) -> Result<()> {
        let Self { webhooks, delay, listening } = self;
        webhooks.open();
        let quiet = CancellationToken::new();
        let serving = async {
            let Some(Listening { http, certificate, authority, reached }) = listening else {
                quiet.cancelled().await;
                return Ok(());
            };
            let address = http.address()?;
            let _certifying =
                authority.map(|authority| AbortOnDropHandle::new(tokio::spawn(authority.run())));
            let _checking = AbortOnDropHandle::new(tokio::spawn(async move {
                loop {
                    let result = call(address, &certificate).await;
                    let pause = if result.is_ok() { CHECK_PERIOD } else { RETRY };
                    reached.set(result);
                    tokio::time::sleep(pause).await;
                }
            }));
            http.run(quiet.clone()).await
        };
        let closing = async {
            stop.cancelled().await;
            tokio::time::sleep(delay).await;
            quiet.cancel();
        };
        let mut serving = std::pin::pin!(serving);
        let served = tokio::select! {
            biased;
            served = serving.as_mut() => served,
            () = closing => serving.await,
        };
        webhooks.close();
        webhooks.drained().await;
        served
    }

    fn group(&self) -> Group {
        Group::Webhooks
    }
}

// === impl Reached ===

impl Reached {
    fn get(&self) -> CheckResult {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, result: CheckResult) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = result;
    }
}

/// Shakes hands with the server as the API server would, and sees its certificate.
async fn call(mut address: SocketAddr, certificate: &ServingCertificate) -> CheckResult {
    if address.ip().is_unspecified() {
        address.set_ip(match address {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::LOCALHOST),
        });
    }
    let unreachable = |why: &dyn std::fmt::Display| format!("webhook server is not reachable: {why}");
    let Some(leaf) = certificate.leaf() else { return Err(unreachable(&"it has no certificate yet")) };
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|error| unreachable(&error))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Exactly(leaf)))
        .with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let handshake = async {
        let stream = TcpStream::connect(address).await?;
        connector.connect(ServerName::IpAddress(address.ip().into()), stream).await
    };
    match timeout(CHECK_PERIOD, handshake).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(unreachable(&error)),
        Err(_) => Err(unreachable(&"no handshake within 10 s")),
    }
}

/// Trusts one certificate, whoever it is for: this process knows what it shows.
#[derive(Debug)]
struct Exactly(CertificateDer<'static>);

impl ServerCertVerifier for Exactly {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        match *end_entity == self.0 {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(CertificateError::ApplicationVerificationFailure.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &provider().signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &provider().signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}
