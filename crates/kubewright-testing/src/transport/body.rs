use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use kubewright_world::Random;
use tower::BoxError;

use super::{faults::Faults, history::History, service::TransportError};

/// The answer's body, on its way through the network: a watch is written into the history, and may be cut.
#[derive(Debug)]
pub struct TransportBody<B> {
    inner: Option<B>,
    watch: Option<Watch>,
}

/// What a watch needs to be recorded and cut.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) client: String,
    pub(super) path: String,
    pub(super) history: History,
    pub(super) faults: Faults,
    pub(super) random: Random,
}

impl<B> TransportBody<B> {
    /// A body that passes as it is.
    pub(super) fn whole(inner: B) -> Self {
        Self { inner: Some(inner), watch: None }
    }

    /// The body of a watch.
    pub(super) fn watched(inner: B, watch: Watch) -> Self {
        Self { inner: Some(inner), watch: Some(watch) }
    }
}

impl<B> Body for TransportBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = TransportError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let this = &mut *self;
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        let frame = std::task::ready!(Pin::new(inner).poll_frame(context));
        let Some(watch) = &this.watch else {
            return Poll::Ready(frame.map(|frame| frame.map_err(service_error)));
        };
        match frame {
            Some(Ok(frame)) => {
                if watch.faults.cuts_watch(&watch.random) {
                    watch.history.record(&watch.client, format_args!("watch {} cut", watch.path));
                    this.inner = None;
                    return Poll::Ready(Some(Err(TransportError::WatchCut)));
                }
                if let Some(data) = frame.data_ref() {
                    for line in String::from_utf8_lossy(data).lines() {
                        watch
                            .history
                            .record(&watch.client, format_args!("watch {} event {line}", watch.path));
                    }
                }
                Poll::Ready(Some(Ok(frame)))
            }
            Some(Err(error)) => Poll::Ready(Some(Err(service_error(error)))),
            None => {
                watch.history.record(&watch.client, format_args!("watch {} ended", watch.path));
                Poll::Ready(None)
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}

fn service_error(error: impl Into<BoxError>) -> TransportError {
    TransportError::Service(error.into())
}
