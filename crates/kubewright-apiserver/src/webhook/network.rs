use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    rt::{Read, ReadBufCursor, Write},
};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{Connected, Connection},
    },
    rt::{TokioExecutor, TokioIo},
};
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};
use tower::Service;

use super::{BoxError, WebhookTarget, trust::BundleVerifier};

/// How many targets with their connections are kept.
const MOST_TARGETS: usize = 64;

/// The client that connects to webhooks. Clones share connections.
#[derive(Clone, Default)]
pub(super) struct Network {
    clients: Arc<Mutex<BTreeMap<Target, PooledClient>>>,
}

/// A client with the connections to one target.
type PooledClient = Client<Connector, Full<Bytes>>;

/// What connections may be shared for: besides the URL's authority, which the pool looks at.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    ca_bundle: Option<Bytes>,
    address: Option<SocketAddr>,
}

#[derive(Clone)]
struct Connector {
    tls: TlsConnector,
    address: Option<SocketAddr>,
}

struct Stream(TokioIo<TlsStream<TcpStream>>);

impl Network {
    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, BoxError> {
        let target = request.extensions().get::<WebhookTarget>().cloned().unwrap_or_default();
        let address = target.address.transpose()?;
        let client = self.client(Target { ca_bundle: target.ca_bundle, address })?;
        Ok(client.request(request).await?)
    }

    fn client(&self, target: Target) -> Result<PooledClient, BoxError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&target) {
            return Ok(client.clone());
        }
        let tls = TlsConnector::from(Arc::new(tls_config(target.ca_bundle.as_deref())?));
        let connector = Connector { tls, address: target.address };
        let client = Client::builder(TokioExecutor::new()).build(connector);
        if clients.len() >= MOST_TARGETS {
            // Configurations come and go; what is still used connects anew.
            clients.clear();
        }
        clients.insert(target, client.clone());
        Ok(client)
    }
}

fn tls_config(ca_bundle: Option<&[u8]>) -> Result<ClientConfig, BoxError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
    let mut config = match ca_bundle {
        Some(bundle) => {
            let bundle = CertificateDer::pem_slice_iter(bundle).collect::<Result<_, _>>()?;
            let verifier = Arc::new(BundleVerifier::new(bundle, provider)?);
            builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth()
        }
        None => {
            let mut roots = RootCertStore::empty();
            // What the system has and cannot be read is not trusted.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

// === impl Connector ===

impl Service<Uri> for Connector {
    type Response = Stream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let Self { tls, address } = self.clone();
        Box::pin(async move {
            let host = uri.host().unwrap_or_default();
            let host = host.trim_start_matches('[').trim_end_matches(']');
            let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
            let tcp = match address {
                Some(address) => connect(address).await?,
                None => connect_to(host, uri.port_u16().unwrap_or(443)).await?,
            };
            // Requests are one small write each.
            tcp.set_nodelay(true)?;
            Ok(Stream(TokioIo::new(tls.connect(name, tcp).await?)))
        })
    }
}

async fn connect_to(host: &str, port: u16) -> io::Result<TcpStream> {
    let found = tokio::net::lookup_host((host, port)).await;
    let addresses = found.map_err(|_| other(format!("dial tcp: lookup {host}: no such host")))?;
    let mut last = other(format!("dial tcp: lookup {host}: no such host"));
    for address in addresses {
        match connect(address).await {
            Ok(tcp) => return Ok(tcp),
            Err(error) => last = error,
        }
    }
    Err(last)
}

async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    TcpStream::connect(address).await.map_err(|error| match error.kind() {
        io::ErrorKind::ConnectionRefused => other(format!("dial tcp {address}: connect: connection refused")),
        _ => other(format!("dial tcp {address}: connect: {error}")),
    })
}

fn other(text: String) -> io::Error {
    io::Error::other(text)
}

// === impl Stream ===

impl Connection for Stream {
    fn connected(&self) -> Connected {
        let (_, session) = self.0.inner().get_ref();
        if session.alpn_protocol() == Some(b"h2") {
            Connected::new().negotiated_h2()
        } else {
            Connected::new()
        }
    }
}

impl Read for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl Write for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
