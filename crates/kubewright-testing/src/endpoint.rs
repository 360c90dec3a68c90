use std::{
    sync::{Arc, PoisonError, RwLock},
    task::{Context, Poll},
};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use kubewright_apiserver::{ApiServer, ApiService, User};
use tower::Service;

/// The address of the API server: requests go to the server that is there now, so a server can be replaced under
/// the clients that talk to it.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    server: Arc<RwLock<ApiServer>>,
    /// Who makes the requests; none has all rights.
    user: Option<User>,
}

impl Endpoint {
    pub(crate) fn new(server: ApiServer) -> Self {
        Self { server: Arc::new(RwLock::new(server)), user: None }
    }

    /// The same server, asked by `user`.
    pub(crate) fn of(&self, user: User) -> Self {
        Self { server: self.server.clone(), user: Some(user) }
    }

    /// The server that is there now.
    pub(crate) fn server(&self) -> ApiServer {
        self.server.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn replace(&self, server: ApiServer) {
        *self.server.write().unwrap_or_else(PoisonError::into_inner) = server;
    }
}

impl Service<Request<Full<Bytes>>> for Endpoint {
    type Response = <ApiService as Service<Request<Full<Bytes>>>>::Response;
    type Error = <ApiService as Service<Request<Full<Bytes>>>>::Error;
    type Future = <ApiService as Service<Request<Full<Bytes>>>>::Future;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        // The API server takes every request at once.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let server = self.server();
        let mut service = match &self.user {
            Some(user) => server.service_as(user.clone()),
            None => server.service(),
        };
        service.call(request)
    }
}
