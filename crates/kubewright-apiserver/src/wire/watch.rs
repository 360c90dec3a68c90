use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{BufMut, Bytes, BytesMut};
use futures::{Stream, StreamExt};
use serde_json::Value;

use super::{media::Transform, respond::Writer};
use crate::registry::{Presented, WatchEvent, WatchEvents};

/// The lines of a watch. Events that are there at once come in one piece.
pub(crate) struct Lines {
    events: WatchEvents,
    writer: Writer,
    /// Whether a table was written, after which columns need not be told again.
    has_columns: bool,
}

/// No piece grows much beyond this.
const PIECE: usize = 64 * 1024;

impl Lines {
    pub(crate) fn new(events: WatchEvents, writer: Writer) -> Self {
        Self { events, writer, has_columns: false }
    }

    fn write(&mut self, event: &WatchEvent, piece: &mut BytesMut) {
        match event {
            WatchEvent::Added(object) => self.write_object("ADDED", object, piece),
            WatchEvent::Modified(object) => self.write_object("MODIFIED", object, piece),
            WatchEvent::Deleted(object) => self.write_object("DELETED", object, piece),
            WatchEvent::Bookmark(object) => {
                let object = Presented::Made(object.clone());
                self.write_object("BOOKMARK", &object, piece);
            }
            WatchEvent::Error(status) => write_value("ERROR", &status.to_value(), piece),
        }
    }

    fn write_object(&mut self, kind: &str, object: &Presented, piece: &mut BytesMut) {
        if let Some(table) = self.writer.table(object.value(), self.has_columns) {
            self.has_columns = true;
            return write_value(kind, &table, piece);
        }
        match (self.writer.accepted.transform, object) {
            (Transform::Metadata | Transform::MetadataList, _) => {
                write_value(kind, &self.writer.partial(object.value()), piece);
            }
            (_, Presented::Stored(stored)) => write_line(kind, stored.json(), piece),
            (_, Presented::Made(value)) => write_value(kind, value, piece),
        }
    }
}

fn write_value(kind: &str, value: &Value, piece: &mut BytesMut) {
    write_line(kind, value.to_string().as_bytes(), piece);
}

fn write_line(kind: &str, object: &[u8], piece: &mut BytesMut) {
    piece.put_slice(b"{\"type\":\"");
    piece.put_slice(kind.as_bytes());
    piece.put_slice(b"\",\"object\":");
    piece.put_slice(object);
    piece.put_slice(b"}\n");
}

impl Stream for Lines {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut piece = BytesMut::new();
        while piece.len() < PIECE {
            match self.events.poll_next_unpin(context) {
                Poll::Ready(Some(event)) => self.write(&event, &mut piece),
                // The end comes again when the stream is polled after this piece.
                Poll::Ready(None) if piece.is_empty() => return Poll::Ready(None),
                Poll::Ready(None) => break,
                Poll::Pending if piece.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(Some(piece.freeze()))
    }
}
