//! Pods take the zone and the region of their node along.

use serde_json::{Map, Value};

use super::Attributes;
use crate::{
    admission::Operation,
    registry::{Registry, metadata},
};

const LABELS: [&str; 2] = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

pub(super) fn admit(registry: &Registry, attributes: &Attributes<'_>, object: Option<&mut Value>) {
    let Some(object) = object.filter(|_| attributes.operation() == Operation::Create) else { return };
    let node = if attributes.is_of("", "pods", "") {
        &object["spec"]["nodeName"]
    } else if attributes.is_of("", "pods", "binding") && object["target"]["kind"] == "Node" {
        &object["target"]["name"]
    } else {
        return;
    };
    let node = node.as_str().filter(|name| !name.is_empty());
    let Some(node) = node.and_then(|name| registry.store.get("/nodes", name)) else { return };
    let labels = metadata::get(node.value(), "labels").and_then(Value::as_object);
    let taken: Map<String, Value> =
        LABELS.iter().filter_map(|name| Some(((*name).to_owned(), labels?.get(*name)?.clone()))).collect();
    if !taken.is_empty() {
        metadata::child(metadata::edit(object), "labels").extend(taken);
    }
}
