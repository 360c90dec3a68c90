//! The text of a list, made as the client takes it: a large list is never there as a whole.

use std::{
    io::Write,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures::Stream;
use serde_json::{Value, json};
use tokio::task::coop::poll_proceed;

use crate::registry::Presented;

/// How the items of a list look.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    /// Just as they are, as custom resources do.
    Whole,
    /// Without `apiVersion` and `kind`, which those of a built-in kind have in common.
    WithoutKind,
    /// As metadata alone, in a version of `meta.k8s.io`.
    Metadata(&'static str),
}

/// A list in JSON, piece by piece.
pub(super) struct ListText {
    /// What comes before the items, until it is written.
    head: Vec<u8>,
    items: std::vec::IntoIter<Presented>,
    item: Item,
    size: usize,
    /// Whether an item was written, which a comma separates from the next one.
    has_items: bool,
    is_over: bool,
}

/// A list in JSON that is compressed piece by piece.
struct Compressed<T> {
    pieces: T,
    encoder: Option<GzEncoder<Vec<u8>>>,
}

/// Pieces as a body that lets others have their turn.
struct Pieces<T>(T);

impl ListText {
    /// The list that `head` is without its items, in pieces that are not much larger than `size`.
    pub(super) fn new(head: &Value, items: Vec<Presented>, item: Item, size: usize) -> Self {
        let mut head = head.to_string().into_bytes();
        head.pop();
        head.extend_from_slice(b",\"items\":[");
        Self { head, items: items.into_iter(), item, size, has_items: false, is_over: false }
    }

    /// Whether the last piece was given.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The rest as a stream after a piece that was given.
    pub(super) fn into_stream(self, first: Bytes, gzip: bool) -> Pin<Box<dyn Stream<Item = Bytes> + Send>> {
        let pieces = std::iter::once(first).chain(self);
        if gzip {
            let encoder = Some(GzEncoder::new(Vec::new(), Compression::fast()));
            Box::pin(Pieces(Compressed { pieces, encoder }))
        } else {
            Box::pin(Pieces(pieces))
        }
    }

    fn write(&self, item: &Presented, piece: &mut Vec<u8>) {
        match (self.item, item) {
            (Item::Whole, Presented::Stored(stored)) => piece.extend_from_slice(stored.json()),
            (Item::Whole, Presented::Made(value)) => write_value(piece, value),
            (Item::WithoutKind, Presented::Stored(stored)) => {
                piece.push(b'{');
                piece.extend_from_slice(stored.json_after_kind());
            }
            (Item::WithoutKind, Presented::Made(value)) => write_without_kind(piece, value),
            (Item::Metadata(version), item) => write_value(piece, &metadata_of(item.value(), version)),
        }
    }
}

impl Iterator for ListText {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let mut piece = std::mem::take(&mut self.head);
        while piece.len() < self.size {
            let Some(item) = self.items.next() else {
                self.is_over = true;
                piece.extend_from_slice(b"]}");
                break;
            };
            if self.has_items {
                piece.push(b',');
            }
            self.has_items = true;
            self.write(&item, &mut piece);
        }
        Some(piece.into())
    }
}

impl<T: Iterator<Item = Bytes>> Iterator for Compressed<T> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        loop {
            let encoder = self.encoder.as_mut()?;
            // Writing to memory does not fail.
            let compressed = match self.pieces.next() {
                Some(piece) => {
                    encoder.write_all(&piece).ok()?;
                    std::mem::take(encoder.get_mut())
                }
                None => self.encoder.take()?.finish().ok()?,
            };
            // The encoder keeps what is too little to be compressed well.
            if !compressed.is_empty() {
                return Some(compressed.into());
            }
        }
    }
}

impl<T: Iterator<Item = Bytes> + Unpin> Stream for Pieces<T> {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        ready!(poll_proceed(context)).made_progress();
        Poll::Ready(self.0.next())
    }
}

/// What is left of an object of which only the metadata was asked for.
pub(super) fn metadata_of(object: &Value, version: &str) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": version,
        "metadata": object.get("metadata").cloned().unwrap_or_else(|| json!({})),
    })
}

// Writing to memory does not fail.
fn write_value(piece: &mut Vec<u8>, value: &Value) {
    let _ = write!(piece, "{value}");
}

fn write_without_kind(piece: &mut Vec<u8>, value: &Value) {
    let fields = value.as_object().into_iter().flatten();
    let mut separator = '{';
    for (name, value) in fields.filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind")) {
        let _ = write!(piece, "{separator}{}:{value}", Value::from(name.as_str()));
        separator = ',';
    }
    piece.extend_from_slice(if separator == '{' { b"{}" } else { b"}" });
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use futures::{FutureExt, StreamExt};

    use super::*;

    fn list(item: Item, count: usize, size: usize) -> ListText {
        let head = json!({"kind": "List", "metadata": {"resourceVersion": "7"}});
        let object = |index| json!({"apiVersion": "v1", "kind": "K", "metadata": {"name": index}, "x": 1});
        ListText::new(&head, (0..count).map(|index| Presented::Made(object(index))).collect(), item, size)
    }

    #[test]
    fn the_pieces_are_one_list() {
        for size in [1, 100, 10_000] {
            for count in [0, 1, 5] {
                let pieces: Vec<Bytes> = list(Item::WithoutKind, count, size).collect();
                let value: Value = serde_json::from_slice(&pieces.concat()).expect("JSON");
                let items: Vec<_> =
                    (0..count).map(|index| json!({"metadata": {"name": index}, "x": 1})).collect();
                assert_eq!(
                    value,
                    json!({"kind": "List", "metadata": {"resourceVersion": "7"}, "items": items})
                );
            }
        }
    }

    #[test]
    fn items_are_whole_or_metadata_if_wanted() {
        let items = |item| {
            let pieces: Vec<Bytes> = list(item, 1, 10).collect();
            let value: Value = serde_json::from_slice(&pieces.concat()).expect("JSON");
            value["items"][0].clone()
        };
        assert_eq!(items(Item::Whole)["kind"], "K");
        let metadata =
            json!({"kind": "PartialObjectMetadata", "apiVersion": "meta/v", "metadata": {"name": 0}});
        assert_eq!(items(Item::Metadata("meta/v")), metadata);
    }

    #[test]
    fn a_compressed_list_is_one_stream() {
        let plain: Vec<Bytes> = list(Item::Whole, 2000, 1000).collect();
        let mut text = list(Item::Whole, 2000, 1000);
        let first = text.next().expect("a piece");
        let pieces: Vec<Bytes> =
            text.into_stream(first, true).collect().now_or_never().expect("nothing to wait for");
        assert!(pieces.len() > 1, "it is not kept until the end");
        let mut read = Vec::new();
        GzDecoder::new(&*pieces.concat()).read_to_end(&mut read).expect("gzip");
        assert_eq!(read, plain.concat());
    }
}
