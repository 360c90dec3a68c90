//! Limits of numbers and of sizes.

use serde_json::{Number, Value};

use super::{Effects, Placed};
use crate::{
    Style,
    marker::SchemaEffect,
    schema::node::{INT_OR_STRING, Node},
};

// === impl Effects ===

impl Effects<'_> {
    pub(super) fn number(&mut self, node: &mut Node, effect: SchemaEffect, placed: Placed<'_>) {
        let keyword = match effect {
            SchemaEffect::Maximum => "maximum",
            SchemaEffect::Minimum => "minimum",
            _ => "multipleOf",
        };
        let Some(value) = placed.marker.value().cloned() else { return };
        if !self.is_number(node, placed) {
            return;
        }
        if self.kind(node).as_deref() == Some("integer")
            && value.as_f64().is_none_or(|value| value.fract() != 0.0)
        {
            self.refuse(
                placed,
                "not-integral",
                format!("`{}` is a whole number, and {value} is none", placed.site),
            );
            return;
        }
        if self.options.style == Style::Kubewright
            && let Some(of_type) = node.get(keyword).and_then(Value::as_f64)
            && !node.markers.contains_key(keyword)
            && let Some(stated) = value.as_f64()
        {
            let is_wider = match keyword {
                "minimum" => stated < of_type,
                "maximum" => stated > of_type,
                _ => false,
            };
            if is_wider {
                self.warn(
                    placed,
                    "wider-than-type",
                    format!("the {keyword} of `{}` is {of_type} already, by its Rust type or an attribute, and {value} does not widen it", placed.site),
                    "",
                );
                return;
            }
        }
        let value = if self.options.style == Style::ControllerGen { as_float(value) } else { value };
        self.set(node, keyword, value, placed);
    }

    pub(super) fn exclusive(&mut self, node: &mut Node, effect: SchemaEffect, placed: Placed<'_>) {
        let keyword = match effect {
            SchemaEffect::ExclusiveMaximum => "exclusiveMaximum",
            _ => "exclusiveMinimum",
        };
        if !self.is_number(node, placed) {
            return;
        }
        if placed.marker.value() == Some(&Value::Bool(true)) {
            self.set(node, keyword, Value::Bool(true), placed);
        } else {
            node.keywords.remove(keyword);
            node.markers.remove(keyword);
        }
    }

    pub(super) fn size(&mut self, node: &mut Node, effect: SchemaEffect, placed: Placed<'_>) {
        let (keyword, kind, of) = match effect {
            SchemaEffect::MinLength => ("minLength", "string", "characters of a text"),
            SchemaEffect::MaxLength => ("maxLength", "string", "characters of a text"),
            SchemaEffect::MinItems => ("minItems", "array", "items of a list"),
            SchemaEffect::MaxItems => ("maxItems", "array", "items of a list"),
            SchemaEffect::MinProperties => ("minProperties", "object", "fields of an object"),
            _ => ("maxProperties", "object", "fields of an object"),
        };
        let found = self.kind(node);
        let fits =
            found.as_deref() == Some(kind) || (kind == "string" && found.as_deref() == Some(INT_OR_STRING));
        if !fits {
            let found = self.describe(node);
            self.refuse(
                placed,
                "wrong-type",
                format!("`{}` counts the {of}, but `{}` is {found}", placed.name(), placed.site),
            );
            return;
        }
        let Some(value) = placed.marker.value().cloned() else { return };
        if value.as_i64().is_some_and(|value| value < 0) && self.options.style == Style::Kubewright {
            self.refuse(
                placed,
                "negative-size",
                format!("there are no less than 0 {of}, and this says {value}"),
            );
            return;
        }
        self.agree(node, keyword, value, placed);
    }

    pub(super) fn pattern(&mut self, node: &mut Node, placed: Placed<'_>) {
        if !matches!(self.kind(node).as_deref(), Some("string" | INT_OR_STRING)) {
            let found = self.describe(node);
            self.refuse(
                placed,
                "wrong-type",
                format!("`{}` is about a text, but `{}` is {found}", placed.name(), placed.site),
            );
            return;
        }
        if let Some(value) = placed.marker.value().cloned() {
            self.agree(node, "pattern", value, placed);
        }
    }

    /// `k8s:required`: what must be there must not be empty either, unless another bound is given.
    pub(super) fn not_empty(&mut self, node: &mut Node, placed: Placed<'_>) {
        let kind = self.kind(node);
        // controller-gen takes what it cannot look into for a struct.
        let is_opaque = self.options.style == Style::ControllerGen
            && node.reference.as_ref().is_some_and(|name| name.starts_with(super::KUBERNETES));
        let keyword = match kind.as_deref() {
            _ if is_opaque => "minProperties",
            Some("string") => "minLength",
            Some("array") => "minItems",
            Some("object") => "minProperties",
            _ => return,
        };
        if node.get(keyword).is_none() {
            self.set(node, keyword, 1.into(), placed);
        }
    }

    fn is_number(&mut self, node: &Node, placed: Placed<'_>) -> bool {
        let is_number = matches!(self.kind(node).as_deref(), Some("integer" | "number"));
        if !is_number {
            let found = self.describe(node);
            self.refuse(
                placed,
                "wrong-type",
                format!("`{}` is about a number, but `{}` is {found}", placed.name(), placed.site),
            );
        }
        is_number
    }
}

/// controller-gen reads bounds as floats, and writes the digits of those: for the largest integer one that is larger.
fn as_float(value: Value) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value.as_f64().filter(|float| float.abs() > EXACT).and_then(Number::from_f64) {
        Some(float) => float.into(),
        None => value,
    }
}
