//! A connection whose watches can be held up, so that a cache lags as far as a test wants.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its part of it")]

use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use http::Request;
use http_body_util::{BodyExt, BodyStream, StreamBody, combinators::UnsyncBoxBody};
use kube::client::Body;
use kubewright_apiserver::ApiServer;
use tokio::sync::watch;
use tower::ServiceExt;

/// Lets the events of watches through, or not. Clones are the same gate.
#[derive(Clone)]
pub struct Gate {
    open: watch::Sender<bool>,
    delay: Duration,
}

impl Gate {
    /// An open gate.
    pub fn new() -> Self {
        Self { open: watch::Sender::new(true), delay: Duration::ZERO }
    }

    /// An open gate through which each event takes some time.
    pub fn slow(delay: Duration) -> Self {
        Self { delay, ..Self::new() }
    }

    pub fn open(&self) {
        self.open.send_replace(true);
    }

    pub fn close(&self) {
        self.open.send_replace(false);
    }

    /// A client of `server` whose watches go through this gate.
    pub fn client(&self, server: &ApiServer) -> kube::Client {
        let (gate, service) = (self.clone(), server.service());
        let service = tower::service_fn(move |request: Request<Body>| {
            let (gate, service) = (gate.clone(), service.clone());
            async move {
                let watches = request.uri().query().is_some_and(|query| query.contains("watch=true"));
                let response = service.oneshot(request).await?;
                Ok::<_, kubewright_apiserver::ServerClosed>(response.map(|body| match watches {
                    true => gate.guard(body.map_err(std::io::Error::other)),
                    false => body.map_err(std::io::Error::other).boxed_unsync(),
                }))
            }
        });
        kube::Client::new(service, "default")
    }

    fn guard<B>(&self, body: B) -> UnsyncBoxBody<bytes::Bytes, std::io::Error>
    where
        B: http_body::Body<Data = bytes::Bytes, Error = std::io::Error> + Send + Unpin + 'static,
    {
        let gate = self.clone();
        let frames = BodyStream::new(body).and_then(move |frame| {
            let (mut open, delay) = (gate.open.subscribe(), gate.delay);
            async move {
                tokio::time::sleep(delay).await;
                // The sender lives in the gate, which this stream holds.
                let _ = open.wait_for(|open| *open).await;
                Ok(frame)
            }
        });
        BodyExt::boxed_unsync(StreamBody::new(frames.boxed()))
    }
}
