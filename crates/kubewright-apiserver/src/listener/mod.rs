//! The network side of the server: a thin shell around the service.
//!
//! [`listen`] binds a socket, speaks TLS (or plain HTTP) with HTTP/1.1 and HTTP/2 and hands every request to
//! a tower service; it adds only who is at the other end ([`PeerCertificate`] or [`RefusedCertificate`],
//! [`PeerAddress`]) to the request's extensions. What the caller gets back is [`Listening`]: the address, the certificates, a
//! kubeconfig, and the way to stop.
//!
//! # Clients that do harm
//!
//! What a client does to its own connection does not hold up the others:
//!
//! * A TLS handshake and the head of a request have [`ListenOptions::header_read_timeout`]; an idle HTTP/1.1 connection
//!   is closed after it as well. A body has a minute. A head of more than 400 KB, a URL of more than 64 KB and a body of more
//!   than 3 MiB are refused.
//! * The other end is asked whether it is still there, by TCP and by HTTP/2.
//! * A client that does not read gets what fits into the buffers of its connection. The rest of a list is not made, and
//!   a watch that falls behind what the store remembers ends.
//! * One HTTP/2 connection has 4096 streams at once, and is closed when it resets too many.
//! * Unfinished bodies are read so many at a time, and the others wait.
//!
//! There is no priority and fairness, and no `429 Too Many Requests`. A real server limits what is under way because
//! requests wait there for etcd. Here they wait for nothing but the client and webhooks, both of which have their timeouts:
//! a request that could be refused could as well be answered, and clients that do not try again, as most tests, would fail by
//! the speed of the machine.
//!
//! `certificates.rs` is the certificate authority, `clients.rs` judges the certificates of clients, `connection.rs` is the life of one connection,
//! `kubeconfig.rs` the file for clients. Keys come from the operating system and not from the injected
//! randomness: this is the one folder of the server outside the deterministic world, and nothing in it
//! reaches an object.

mod certificates;
mod clients;
mod connection;
mod kubeconfig;
mod listening;

use std::{
    io,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use http::{Request, Response};
use hyper::body::{Body, Incoming};
use tokio::net::TcpListener;
use tower::Service;

pub use self::{
    certificates::{
        CertificateAuthority, CertificateError, ClientCertificate, PeerCertificate, ServerCertificate,
    },
    clients::{ClientCa, RefusedCertificate},
    kubeconfig::{Credentials, Kubeconfig},
    listening::Listening,
};

/// An error of any kind, as bodies and services give it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The other end of the connection that a request came over, in the request's extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerAddress(pub SocketAddr);

/// Where and how to listen.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListenOptions {
    /// The address to bind. Default: the loopback address and port 0, which is a free port.
    pub address: SocketAddr,
    /// TLS (the default) or plain HTTP.
    pub security: Security,
    /// More names or addresses that the server's certificate is valid for.
    pub extra_names: Vec<String>,
    /// The server's certificate, in place of one that the authority issues (kube-apiserver's `--tls-cert-file`). Default
    /// none.
    pub certificate: Option<ServerCertificate>,
    /// Authorities beside the server's own whose client certificates are accepted (kube-apiserver's
    /// `--client-ca-file`). Default none.
    pub client_ca: Option<ClientCa>,
    /// A bearer token of the administrator for the kubeconfig of a plain listener, where no client
    /// certificate can be used. The server must accept it; default none.
    pub admin_token: Option<String>,
    /// How long a client may take for the TLS handshake and for the head of a request, and how long an HTTP/1.1 connection
    /// may be idle. Default 32 s, as kube-apiserver, which gives idle connections 90 s.
    pub header_read_timeout: Duration,
    /// How long requests may go on after [`Listening::shutdown`] before their connections are cut. Default
    /// 5 s.
    pub shutdown_grace: Duration,
}

/// Whether connections are encrypted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Security {
    /// TLS with a certificate of this authority, which also issues the client certificates that are
    /// accepted; of a new authority if `None`.
    Tls(Option<CertificateAuthority>),
    /// Plain HTTP: faster and easier to look at, without client certificates.
    #[default]
    Plain,
}

/// Why the server cannot listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    /// The port is taken.
    #[error(
        "cannot listen on {address}: the port is in use; stop the other process, or choose another port or 0 for a free one"
    )]
    AddressInUse {
        /// The address that was to be bound.
        address: SocketAddr,
    },
    /// The address is not one of this machine, the port is not allowed, or the system refuses.
    #[error(
        "cannot listen on {address}: {source}; give an address of this machine and a port this user may bind"
    )]
    Bind {
        /// The address that was to be bound.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The server's or the administrator's certificate could not be made.
    #[error("cannot prepare TLS for {address}: {source}")]
    Certificate {
        /// The address that was to be bound.
        address: SocketAddr,
        /// What is wrong.
        source: CertificateError,
    },
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            security: Security::Tls(None),
            extra_names: Vec::new(),
            certificate: None,
            client_ca: None,
            admin_token: None,
            header_read_timeout: Duration::from_secs(32),
            shutdown_grace: Duration::from_secs(5),
        }
    }
}

impl ListenOptions {
    /// Plain HTTP on a free loopback port.
    #[must_use]
    pub fn plain() -> Self {
        Self { security: Security::Plain, ..Self::default() }
    }

    /// The same options at this address.
    #[must_use]
    pub fn at(self, address: SocketAddr) -> Self {
        Self { address, ..self }
    }
}

/// Serves `service` until the returned [`Listening`] is shut down or dropped.
///
/// Each request is one call of a clone of the service. Must be called within a tokio runtime with I/O and
/// time enabled.
///
/// # Errors
/// When the address cannot be bound or no certificate can be made for it; nothing is left behind then.
pub async fn listen<S, B>(service: S, options: ListenOptions) -> Result<Listening, ListenError>
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let (listener, connections, listening) = bind(options).await?;
    listening.run(listener, connections, service);
    Ok(listening)
}

/// All that does not depend on the type of the service.
async fn bind(
    options: ListenOptions,
) -> Result<(TcpListener, connection::Connections, Listening), ListenError> {
    let address = options.address;
    let listener = TcpListener::bind(address).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => ListenError::AddressInUse { address },
        _ => ListenError::Bind { address, source },
    })?;
    let bound = listener.local_addr().map_err(|source| ListenError::Bind { address, source })?;
    let certificate = |source| ListenError::Certificate { address: bound, source };
    let (authority, trust_pem, admin, tls) = match options.security {
        Security::Plain => (None, None, None, None),
        Security::Tls(authority) => {
            let authority = match authority {
                Some(authority) => authority,
                None => CertificateAuthority::generate().map_err(certificate)?,
            };
            let shown = match options.certificate {
                Some(shown) => shown,
                None => authority.issue_server(bound.ip(), &options.extra_names).map_err(certificate)?,
            };
            let clients = authority.verifier(options.client_ca.as_ref()).map_err(certificate)?;
            let tls = shown.server_config(Arc::clone(&clients)).map_err(certificate)?;
            let admin =
                authority.issue_client("system:admin", Some("system:masters")).map_err(certificate)?;
            (Some(authority), Some(shown.trust_pem().to_owned()), Some(admin), Some((tls, clients)))
        }
    };
    let connections = connection::Connections::new(tls, options.header_read_timeout, options.shutdown_grace);
    let listening =
        Listening::new(bound, authority, trust_pem, admin, options.admin_token, options.shutdown_grace);
    Ok((listener, connections, listening))
}
