//! Lists, sets and tuples.

use serde_json::{Map, Value};

use super::Dialect;
use crate::schema::node::{INT_OR_STRING, LIST_TYPE, Node, Site};

// === impl Dialect ===

impl Dialect<'_> {
    pub(super) fn arrays(&mut self, object: &Map<String, Value>, node: &mut Node, site: &Site) {
        if let Some(items) = object.get("items") {
            node.items = Some(Box::new(self.structure(items, site)));
        } else if let Some(items) = object.get("prefixItems").and_then(Value::as_array) {
            node.items = Some(Box::new(self.tuple(items, site)));
        } else if node.own_type() == Some("array") {
            node.items = Some(Box::new(Node { site: Some(site.clone()), ..Node::any() }));
        }
        // The API server refuses `uniqueItems`. What it has in its place merges as a set, too.
        if object.get("uniqueItems") == Some(&Value::Bool(true)) {
            node.keywords.entry(LIST_TYPE.to_owned()).or_insert_with(|| "set".into());
        }
    }

    /// The one schema for all members of a tuple.
    fn tuple(&mut self, members: &[Value], site: &Site) -> Node {
        let mut nodes: Vec<Node> = members.iter().map(|member| self.structure(member, site)).collect();
        let Some(first) = nodes.pop() else { return Node::any() };
        if nodes.iter().all(|node| *node == first) {
            return first;
        }
        let mut types: Vec<&str> = nodes.iter().chain([&first]).filter_map(Node::own_type).collect();
        types.sort_unstable();
        types.dedup();
        let mut any = match types.as_slice() {
            ["integer", "string"] if nodes.iter().all(|node| node.reference.is_none()) => {
                let mut either = Node::default();
                either.set(INT_OR_STRING, true);
                either.any_of = vec![Node::of_type("integer"), Node::of_type("string")];
                either
            }
            _ => {
                self.faults.warning(
                    "mixed-tuple",
                    site,
                    format!(
                        "the members of the tuple `{site}` differ, but the items of a list have one schema: the API server will take any value for each"
                    ),
                    "use a struct with named fields",
                );
                Node::any()
            }
        };
        any.site = Some(site.clone());
        any
    }
}
