//! How server-side apply merges lists, maps and structs.

use serde_json::Value;

use super::{Effects, Placed};
use crate::{
    Style,
    marker::SchemaEffect,
    schema::{
        kind::follow,
        node::{LIST_MAP_KEYS, LIST_TYPE, MAP_TYPE, Node},
    },
};

// === impl Effects ===

impl Effects<'_> {
    pub(super) fn list_type(&mut self, node: &mut Node, placed: Placed<'_>) {
        if self.is_list(node, placed) {
            self.text(node, LIST_TYPE, placed);
        }
    }

    pub(super) fn list_map_key(&mut self, node: &mut Node, placed: Placed<'_>) {
        if !self.is_list(node, placed) {
            return;
        }
        let list_type = follow(node, &self.types, |node| node.text(LIST_TYPE)).map(str::to_owned);
        if list_type.as_deref() != Some("map") {
            self.refuse_with(
                placed,
                "key-without-map",
                format!(
                    "`{}` names a key of a list whose items are told apart by keys, and `{}` is none",
                    placed.name(),
                    placed.site
                ),
                "add `+listType=map`",
            );
            return;
        }
        let Some(key) = placed.marker.value().cloned() else { return };
        let mut keys = match node.get(LIST_MAP_KEYS) {
            Some(Value::Array(keys)) => keys.clone(),
            _ => Vec::new(),
        };
        if !keys.contains(&key) {
            keys.push(key);
        }
        self.set(node, LIST_MAP_KEYS, keys.into(), placed);
    }

    /// `mapType` and `structType` say the same of maps and of structs.
    pub(super) fn map_type(&mut self, node: &mut Node, placed: Placed<'_>) {
        let kind = self.kind(node);
        let is_object = kind.as_deref() == Some("object")
            // controller-gen lets a struct be of a type that it does not know.
            || (kind.is_none() && placed.marker.definition.effect == crate::marker::Effect::Schema(SchemaEffect::StructType));
        if !is_object {
            let found = self.describe(node);
            self.refuse(
                placed,
                "wrong-type",
                format!("`{}` is about an object, but `{}` is {found}", placed.name(), placed.site),
            );
            return;
        }
        self.text(node, MAP_TYPE, placed);
    }

    pub(super) fn unique_items(&mut self, node: &mut Node, placed: Placed<'_>) {
        if !self.is_list(node, placed) {
            return;
        }
        match (placed.marker.value(), self.options.style) {
            (Some(Value::Bool(true)), Style::Kubewright) => self.refuse_with(
                placed,
                "unique-items",
                "an API server refuses a CRD with `uniqueItems`".to_owned(),
                "write `+listType=set`",
            ),
            (Some(Value::Bool(true)), _) => self.flag(node, "uniqueItems", placed),
            _ => {}
        }
    }

    fn is_list(&mut self, node: &Node, placed: Placed<'_>) -> bool {
        let is_list = self.kind(node).as_deref() == Some("array");
        if !is_list {
            let found = self.describe(node);
            self.refuse(
                placed,
                "wrong-type",
                format!("`{}` is about a list, but `{}` is {found}", placed.name(), placed.site),
            );
        }
        is_list
    }
}
