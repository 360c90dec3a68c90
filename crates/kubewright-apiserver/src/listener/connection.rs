//! The life of the connections: accepting, the handshake, serving, ending.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use http::{Request, Response};
use hyper::{
    body::{Body, Incoming},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use rustls::ServerConfig;
use socket2::{SockRef, TcpKeepalive};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt};
use tracing::debug;

use super::{
    BoxError, PeerAddress,
    clients::{ClientIdentity, ClientVerifier},
};

/// How long a connection is silent before its other end is asked whether it is there, and how often then: as Go's
/// servers do.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// How connections are served.
pub(super) struct Connections {
    tls: Option<(TlsAcceptor, Arc<ClientVerifier>)>,
    header_read_timeout: Duration,
    shutdown_grace: Duration,
    protocol: auto::Builder<TokioExecutor>,
}

/// A service that connections can share: what `listen` asks for, in one word.
pub(super) trait HttpService:
    Service<
        Request<Incoming>,
        Response = Response<<Self as HttpService>::Answer>,
        Future: Send,
        Error: Into<BoxError>,
    > + Clone
    + Send
    + Sync
    + 'static
{
    type Answer: Body<Data: Send, Error: Into<BoxError>> + Send + 'static;
}

/// Who is at the other end.
#[derive(Clone)]
struct Peer {
    address: SocketAddr,
    identity: Option<ClientIdentity>,
}

impl<S, B> HttpService for S
where
    S: Service<Request<Incoming>, Response = Response<B>, Future: Send, Error: Into<BoxError>>
        + Clone
        + Send
        + Sync
        + 'static,
    B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    type Answer = B;
}

impl Connections {
    pub(super) fn new(
        tls: Option<(Arc<ServerConfig>, Arc<ClientVerifier>)>,
        header_read_timeout: Duration,
        shutdown_grace: Duration,
    ) -> Self {
        let mut protocol = auto::Builder::new(TokioExecutor::new());
        protocol.http1().timer(TokioTimer::new()).header_read_timeout(header_read_timeout);
        protocol
            .http2()
            .timer(TokioTimer::new())
            // Finds clients that are gone without a word, so that their watches end.
            .keep_alive_interval(Duration::from_secs(30))
            .keep_alive_timeout(Duration::from_secs(20))
            // Clients keep all their watches on one connection and do not open a second one.
            .max_concurrent_streams(4096);
        let tls = tls.map(|(config, clients)| (TlsAcceptor::from(config), clients));
        Self { tls, header_read_timeout, shutdown_grace, protocol }
    }

    /// Accepts until `stop`; then no new connection, and the open ones get the grace to end.
    pub(super) async fn accept(
        self,
        listener: TcpListener,
        service: impl HttpService,
        stop: CancellationToken,
    ) {
        let connections = Arc::new(self);
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(_) = open.join_next(), if !open.is_empty() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, address)) => {
                        let serve = Arc::clone(&connections).serve(stream, address, service.clone(), stop.clone());
                        open.spawn(async move {
                            if let Err(error) = serve.await {
                                debug!(%address, %error, "connection ended");
                            }
                        });
                    }
                    // Out of file descriptors: wait for a connection to end rather than spin.
                    Err(error) => {
                        debug!(%error, "cannot accept a connection");
                        sleep(Duration::from_millis(50)).await;
                    }
                },
            }
        }
        drop(listener);
        let ended = async { while open.join_next().await.is_some() {} };
        let in_time = timeout(connections.shutdown_grace, ended).await.is_ok();
        if !in_time {
            open.shutdown().await;
        }
    }

    async fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        address: SocketAddr,
        service: impl HttpService,
        stop: CancellationToken,
    ) -> Result<(), BoxError> {
        stream.set_nodelay(true)?;
        // Finds clients of HTTP/1.1 that are gone without a word.
        let keepalive = TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE);
        SockRef::from(&stream).set_tcp_keepalive(&keepalive)?;
        let Some((tls, clients)) = &self.tls else {
            let peer = Peer { address, identity: None };
            // The protocol is told by the first bytes, for which hyper would wait without end.
            self.in_time(&stop, stream.peek(&mut [0])).await?;
            return self.speak(stream, peer, service, stop).await;
        };
        let stream = self.in_time(&stop, tls.accept(stream)).await?;
        let identity = stream.get_ref().1.peer_certificates().and_then(|chain| clients.judge(chain));
        if let Some(ClientIdentity::Refused(refused)) = &identity {
            debug!(%address, reason = %refused.reason, "the certificate of a client does not verify");
        }
        let peer = Peer { address, identity };
        self.speak(stream, peer, service, stop).await
    }

    /// Waits for the client, no longer than for the head of a request, and not while stopping.
    async fn in_time<T>(
        &self,
        stop: &CancellationToken,
        client: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        let stopping = || io::Error::new(io::ErrorKind::ConnectionAborted, "the server is stopping");
        tokio::select! {
            biased;
            () = stop.cancelled() => Err(stopping()),
            waited = timeout(self.header_read_timeout, client) => waited?,
        }
    }

    async fn speak(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        peer: Peer,
        service: impl HttpService,
        stop: CancellationToken,
    ) -> Result<(), BoxError> {
        let service = service_fn(move |mut request: Request<Incoming>| {
            let extensions = request.extensions_mut();
            extensions.insert(PeerAddress(peer.address));
            if let Some(identity) = &peer.identity {
                identity.tell(extensions);
            }
            service.clone().oneshot(request)
        });
        let connection = self.protocol.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            biased;
            () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
            ended = connection.as_mut() => return ended,
        }
        connection.await
    }
}
