//! A new node is not ready until somebody says that it is, so that no pod is put on it before.

use serde_json::{Value, json};

use super::Attributes;
use crate::{admission::Operation, registry::metadata};

pub(super) fn admit(attributes: &Attributes<'_>, node: Option<&mut Value>) {
    const KEY: &str = "node.kubernetes.io/not-ready";
    let is_new = attributes.is_of("", "nodes", "") && attributes.operation() == Operation::Create;
    let Some(node) = node.filter(|_| is_new) else { return };
    let taints = metadata::child(metadata::as_map(node), "spec").entry("taints").or_insert(json!([]));
    if taints.is_null() {
        *taints = json!([]);
    }
    let Some(taints) = taints.as_array_mut() else { return };
    if !taints.iter().any(|taint| taint["key"] == KEY && taint["effect"] == "NoSchedule") {
        taints.push(json!({ "key": KEY, "effect": "NoSchedule" }));
    }
}
