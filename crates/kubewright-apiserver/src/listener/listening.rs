use std::{
    fmt, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
    sync::Mutex,
    time::Duration,
};

use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    CertificateAuthority, ClientCertificate, Credentials, Kubeconfig,
    connection::{Connections, HttpService},
};

/// A server that listens.
///
/// Dropping it stops the server without waiting; [`Listening::shutdown`] waits.
pub struct Listening {
    address: SocketAddr,
    authority: Option<CertificateAuthority>,
    trust_pem: Option<String>,
    admin: Option<ClientCertificate>,
    admin_token: Option<String>,
    shutdown_grace: Duration,
    stop: CancellationToken,
    accepting: Mutex<Option<JoinHandle<()>>>,
}

impl Listening {
    pub(super) fn new(
        address: SocketAddr,
        authority: Option<CertificateAuthority>,
        trust_pem: Option<String>,
        admin: Option<ClientCertificate>,
        admin_token: Option<String>,
        shutdown_grace: Duration,
    ) -> Self {
        let (stop, accepting) = (CancellationToken::new(), Mutex::new(None));
        Self { address, authority, trust_pem, admin, admin_token, shutdown_grace, stop, accepting }
    }

    pub(super) fn run(&self, listener: TcpListener, connections: Connections, service: impl HttpService) {
        let accepting = tokio::spawn(connections.accept(listener, service, self.stop.clone()));
        *self.accepting.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(accepting);
    }

    /// The address that is bound, with the port that was chosen.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL for clients on this machine.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.authority.is_some() { "https" } else { "http" };
        let ip = match self.address.ip() {
            IpAddr::V4(Ipv4Addr::UNSPECIFIED) => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::UNSPECIFIED) => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        format!("{scheme}://{}", SocketAddr::new(ip, self.address.port()))
    }

    /// The authority whose client certificates are accepted; `None` for plain HTTP.
    #[must_use]
    pub fn authority(&self) -> Option<&CertificateAuthority> {
        self.authority.as_ref()
    }

    /// What clients must trust: the certificate of the authority, or those of [`ListenOptions::certificate`]; `None`
    /// for plain HTTP.
    ///
    /// [`ListenOptions::certificate`]: super::ListenOptions::certificate
    #[must_use]
    pub fn ca_pem(&self) -> Option<&str> {
        self.trust_pem.as_deref()
    }

    /// The certificate of `system:admin` in `system:masters`; `None` for plain HTTP.
    #[must_use]
    pub fn admin_certificate(&self) -> Option<&ClientCertificate> {
        self.admin.as_ref()
    }

    /// A kubeconfig for someone.
    #[must_use]
    pub fn kubeconfig_for(&self, credentials: Credentials) -> Kubeconfig {
        Kubeconfig {
            server: self.url(),
            ca_pem: self.ca_pem().map(str::to_owned),
            credentials,
            namespace: "default".to_owned(),
        }
    }

    /// The text of the administrator's kubeconfig, with certificates embedded.
    #[must_use]
    pub fn kubeconfig(&self) -> String {
        self.admin_kubeconfig().to_text()
    }

    /// Writes the administrator's kubeconfig, readable by its owner alone; a reader sees the old file or the
    /// whole new one.
    ///
    /// # Errors
    /// When the file cannot be written; its path is named.
    pub fn write_kubeconfig(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.admin_kubeconfig().write(path)
    }

    fn admin_kubeconfig(&self) -> Kubeconfig {
        self.kubeconfig_for(match (&self.admin, &self.admin_token) {
            (Some(certificate), _) => Credentials::Certificate(certificate.clone()),
            (None, Some(token)) => Credentials::Token(token.clone()),
            (None, None) => Credentials::None,
        })
    }

    /// Stops: the port is free at once, requests that go on get the grace of the options, then their
    /// connections are cut. Returns when all have ended. A second call returns at once.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        let accepting = self.accepting.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(accepting) = accepting {
            // It can only fail by a panic of a connection, which has been reported where it happened.
            let _ = accepting.await;
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening")
            .field("url", &self.url())
            .field("shutdown_grace", &self.shutdown_grace)
            .finish_non_exhaustive()
    }
}
