use std::{
    convert::Infallible,
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt};
use http_body::{Body, Frame, SizeHint};

/// The body of an answer: bytes that are there, or a watch that goes on.
pub struct ApiBody {
    content: Content,
}

enum Content {
    Whole(Bytes),
    Stream(BoxStream<'static, Bytes>),
}

impl ApiBody {
    /// A body of these bytes.
    #[must_use]
    pub fn whole(bytes: impl Into<Bytes>) -> Self {
        Self { content: Content::Whole(bytes.into()) }
    }

    /// A body that ends when `stream` does.
    #[must_use]
    pub fn stream(stream: BoxStream<'static, Bytes>) -> Self {
        Self { content: Content::Stream(stream) }
    }
}

impl Body for ApiBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.content {
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Content::Stream(stream) => {
                stream.poll_next_unpin(context).map(|next| next.map(|b| Ok(Frame::data(b))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.content, Content::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Stream(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for ApiBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Content::Whole(bytes) => f.debug_tuple("Whole").field(bytes).finish(),
            Content::Stream(_) => f.write_str("Stream"),
        }
    }
}
