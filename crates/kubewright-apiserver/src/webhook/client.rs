use std::{
    collections::BTreeMap,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tower::{Service, ServiceExt, service_fn, util::BoxCloneSyncService};

use super::network::Network;

/// An error of any kind, as services and bodies give it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What brings requests to webhooks.
///
/// A request is a POST of JSON to the webhook's URL; that of a service is `https://<service>.<namespace>.svc:<port>`. Its
/// extensions hold a [`WebhookTarget`](super::WebhookTarget), with the certificates to trust and the address to connect to.
/// The server limits the time of each call itself.
#[derive(Clone)]
pub struct WebhookClient {
    service: BoxCloneSyncService<Request<Full<Bytes>>, Response<Bytes>, BoxError>,
}

impl WebhookClient {
    /// A client that asks a service, such as an `axum::Router` or a `tower::service_fn`.
    pub fn new<S, B>(service: S) -> Self
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Future: Send,
        S::Error: Into<BoxError>,
        B: Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        let whole = service_fn(move |request| {
            let service = service.clone();
            async move {
                let response = service.oneshot(request).await.map_err(Into::into)?;
                let (head, body) = response.into_parts();
                let body = body.collect().await.map_err(Into::into)?.to_bytes();
                Ok(Response::from_parts(head, body))
            }
        });
        Self { service: BoxCloneSyncService::new(whole) }
    }

    /// A client that connects over TLS, with HTTP/2 or HTTP/1.1, and keeps connections for further calls.
    #[must_use]
    pub fn network() -> Self {
        let network = Network::default();
        Self::new(service_fn(move |request| {
            let network = network.clone();
            async move { network.send(request).await }
        }))
    }

    /// A client that asks the one of several that answers for the host of a URL. Of another host it says that there is no
    /// such one. The host of a service is `<service>.<namespace>.svc`.
    pub fn by_host(clients: impl IntoIterator<Item = (String, Self)>) -> Self {
        let clients: Arc<BTreeMap<String, Self>> = Arc::new(clients.into_iter().collect());
        Self::new(service_fn(move |request: Request<Full<Bytes>>| {
            let clients = clients.clone();
            async move {
                let host = request.uri().host().unwrap_or_default();
                match clients.get(host) {
                    Some(client) => Ok(client.send(request).await?.map(Full::new)),
                    None => Err(BoxError::from(format!("dial tcp: lookup {host}: no such host"))),
                }
            }
        }))
    }

    pub(super) async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, BoxError> {
        self.service.clone().oneshot(request).await
    }
}

impl Service<Request<Full<Bytes>>> for WebhookClient {
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Full<Bytes>>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let client = self.clone();
        Box::pin(async move { Ok(client.send(request).await?.map(Full::new)) })
    }
}

impl fmt::Debug for WebhookClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookClient").finish_non_exhaustive()
    }
}
