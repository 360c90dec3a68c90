//! What is said to readers of the schema.

use serde_json::{Map, Value};

use super::{Effects, Placed};
use crate::schema::node::Node;

// === impl Effects ===

impl Effects<'_> {
    pub(super) fn title(&mut self, node: &mut Node, placed: Placed<'_>) {
        match placed.marker.value() {
            Some(Value::String(title)) => {
                let title = title.clone();
                self.agree(node, "title", title.into(), placed);
            }
            None => {}
            Some(other) => {
                let message = format!("a title is a text, and {other} is none");
                self.refuse_with(placed, "wrong-type", message, "write it in \"quotes\"");
            }
        }
    }

    pub(super) fn external_docs(&mut self, node: &mut Node, placed: Placed<'_>) {
        let Some(url) = placed.marker.text_of("url") else { return };
        if !is_absolute(url) {
            self.refuse_with(
                placed,
                "relative-url",
                format!("`{url}` is no absolute address"),
                "begin it with `https://`",
            );
            return;
        }
        let mut docs = Map::new();
        docs.insert("url".to_owned(), url.into());
        if let Some(description) = placed.marker.text_of("description").filter(|text| !text.is_empty()) {
            docs.insert("description".to_owned(), description.into());
        }
        self.set(node, "externalDocs", docs.into(), placed);
    }

    pub(super) fn description_limit(&mut self, node: &mut Node, placed: Placed<'_>) {
        let Some(limit) = placed.marker.argument("maxLength").and_then(Value::as_i64) else { return };
        match usize::try_from(limit) {
            Ok(limit) => node.description_limit = Some(limit),
            Err(_) => self.refuse(
                placed,
                "negative-size",
                format!("a description has no less than 0 bytes, and this says {limit}"),
            ),
        }
    }
}

/// An absolute address, or an absolute path.
fn is_absolute(url: &str) -> bool {
    if url.is_empty() || url.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return false;
    }
    url.starts_with('/')
        || url.split_once(':').is_some_and(|(scheme, rest)| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
                && !rest.is_empty()
        })
}
