//! Values that are allowed, and the one that is set when there is none.

use serde_json::Value;

use super::{Effects, Placed};
use crate::{
    Style,
    schema::node::{INT_OR_STRING, Node},
};

// === impl Effects ===

impl Effects<'_> {
    pub(super) fn enumeration(&mut self, node: &mut Node, placed: Placed<'_>) {
        let Some(Value::Array(values)) = placed.marker.value().cloned() else { return };
        if self.options.style == Style::Kubewright {
            let kind = self.kind(node);
            if let Some(value) = values.iter().find(|value| !fits(value, kind.as_deref())) {
                let found = self.describe(node);
                self.refuse_with(
                    placed,
                    "wrong-type",
                    format!("`{}` is {found}, and {value} is no value of it", placed.site),
                    "a text that looks like a number or a boolean stands in \"quotes\"",
                );
                return;
            }
        }
        self.agree(node, "enum", values.into(), placed);
    }

    pub(super) fn default_value(&mut self, node: &mut Node, placed: Placed<'_>) {
        // What `ref(..)` of Go names is not known here.
        let Some(value) =
            placed.marker.value().filter(|value| !value.is_null() || placed.name() != "default")
        else {
            return;
        };
        let mut value = value.clone();
        let kind = self.kind(node);
        if kind.as_deref() == Some("array") && value.as_object().is_some_and(serde_json::Map::is_empty) {
            value = Value::Array(Vec::new());
        }
        if self.options.style == Style::Kubewright
            && let Some(present) = node.get("default")
            && *present != value
            && !node.markers.contains_key("default")
        {
            let message = format!(
                "the API server sets `{}` to {value} where it is left out, but in Rust it is {present} then",
                placed.site
            );
            self.warn(placed, "two-defaults", message, "let `#[serde(default = \"…\")]` give the same value");
        }
        self.set(node, "default", value, placed);
    }

    pub(super) fn example(&mut self, node: &mut Node, placed: Placed<'_>) {
        if let Some(value) = placed.marker.value().cloned() {
            self.set(node, "example", value, placed);
        }
    }
}

/// Whether this is a value of the type, as far as that can be told without looking into it.
fn fits(value: &Value, kind: Option<&str>) -> bool {
    match kind {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some(INT_OR_STRING) => value.is_string() || value.is_i64() || value.is_u64(),
        _ => true,
    }
}
