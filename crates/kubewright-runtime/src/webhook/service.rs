use std::{
    io,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tower::{BoxError, Service};

use super::Webhooks;

/// The [`Webhooks`] of an operator as a tower service. Clones are the same service.
#[derive(Clone, Debug)]
pub struct WebhookService {
    webhooks: Webhooks,
}

impl WebhookService {
    pub(super) fn new(webhooks: Webhooks) -> Self {
        Self { webhooks }
    }
}

impl<B> Service<Request<B>> for WebhookService
where
    B: Body<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<Full<Bytes>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let webhooks = self.webhooks.clone();
        // Taken first, so that a server that stops waits for it.
        let running = self.webhooks.running();
        Box::pin(async move {
            let _running = running;
            if !webhooks.opened().await {
                return Err(io::Error::from(io::ErrorKind::ConnectionRefused).into());
            }
            Ok(webhooks.respond(request).await)
        })
    }
}
