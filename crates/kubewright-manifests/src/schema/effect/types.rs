//! Another type than the Rust type's.

use serde_json::Value;

use super::{Effects, Placed};
use crate::{
    Style,
    schema::{
        dialect::FORMATS,
        known::int_or_string,
        node::{INT_OR_STRING, Node},
    },
};

/// What is said of numbers because of their Rust type.
const OF_NUMBERS: [&str; 3] = ["format", "maximum", "minimum"];

// === impl Effects ===

impl Effects<'_> {
    /// `Type`: what the schema says of the Rust type's own form goes with it. controller-gen keeps it.
    pub(super) fn other_type(&mut self, node: &mut Node, placed: Placed<'_>) {
        let is_other = node.own_type() != placed.marker.value().and_then(Value::as_str);
        if is_other && self.options.style == Style::Kubewright {
            forget_form(node);
        }
        self.text(node, "type", placed);
    }

    /// `XIntOrString`: a value of two types has no `type`. controller-gen leaves it.
    pub(super) fn int_or_string(&mut self, node: &mut Node, placed: Placed<'_>) {
        if node.own_type().is_some() && self.options.style == Style::Kubewright {
            forget_form(node);
            node.keywords.remove("type");
            node.any_of = int_or_string().any_of;
        }
        self.flag(node, INT_OR_STRING, placed);
    }

    pub(super) fn format(&mut self, node: &mut Node, placed: Placed<'_>) {
        // controller-gen writes it on any type, where no API server looks at it.
        if self.options.style == Style::Kubewright
            && matches!(self.kind(node).as_deref(), Some("array" | "object" | "boolean"))
        {
            let found = self.describe(node);
            self.refuse(
                placed,
                "wrong-type",
                format!("`{}` is about a text or a number, but `{}` is {found}", placed.name(), placed.site),
            );
            return;
        }
        if self.options.style == Style::Kubewright
            && let Some(format) = placed.marker.value().and_then(Value::as_str)
            && !FORMATS.contains(&format)
        {
            self.warn(
                placed,
                "unknown-format",
                format!("API servers do not know the format `{format}`, warn of it, and check nothing"),
                "say it with `+kubebuilder:validation:Pattern`, or leave it out",
            );
        }
        self.text(node, "format", placed);
    }
}

fn forget_form(node: &mut Node) {
    for keyword in OF_NUMBERS {
        if !node.markers.contains_key(keyword) {
            node.keywords.remove(keyword);
        }
    }
    node.properties.clear();
    node.required.clear();
    node.items = None;
    node.additional = None;
    node.any_of.clear();
    node.one_of.clear();
}
