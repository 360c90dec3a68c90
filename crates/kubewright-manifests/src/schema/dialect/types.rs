//! `type`: a structural schema has one, and null is not among them.

use serde_json::{Map, Value};

use super::Dialect;
use crate::schema::node::{INT_OR_STRING, Node, PRESERVE, Site};

// === impl Dialect ===

impl Dialect<'_> {
    pub(super) fn types(&mut self, object: &Map<String, Value>, node: &mut Node, site: &Site) {
        let types: Vec<&str> = match object.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => return,
        };
        let named: Vec<&str> = types.iter().copied().filter(|name| *name != "null").collect();
        if named.is_empty() {
            self.faults.error(
                "unit-type",
                site,
                format!("`{site}` is written as null, which the API server drops"),
                "use a struct without fields (`struct Empty {}`), or leave the field out with `#[serde(skip)]`",
            );
            node.set("type", "object");
            node.set("nullable", true);
            return;
        }
        node.optional |= named.len() < types.len();
        match *named.as_slice() {
            [name] => node.set("type", name),
            ["integer", "string"] | ["string", "integer"] => {
                node.set(INT_OR_STRING, true);
                node.any_of = vec![Node::of_type("integer"), Node::of_type("string")];
            }
            ["integer", "number"] | ["number", "integer"] => node.set("type", "number"),
            _ => {
                self.faults.warning(
                    "several-types",
                    site,
                    format!(
                        "`{site}` may be {}, but a field of a CRD has one type: the API server will take any value",
                        named.join(" or ")
                    ),
                    "choose one form, as `#[schemars(with = \"String\")]` does",
                );
                node.set(PRESERVE, true);
            }
        }
    }
}
