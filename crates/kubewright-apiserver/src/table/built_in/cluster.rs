use std::collections::BTreeSet;

use serde_json::Value;

use super::{Cells, Object, row};

pub(super) fn cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "Namespace" => |object| row![object.name(), object.text("/status/phase"), object.age()],
        "Node" => node,
        "ComponentStatus" => component_status,
        _ => return None,
    })
}

/// The kinds that extend the API.
pub(super) fn extension_cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "CustomResourceDefinition" => custom_resource_definition,
        "APIService" => api_service,
        _ => return None,
    })
}

fn node(object: Object<'_>) -> Vec<Value> {
    let mut status = match object.condition("Ready") {
        Some(ready) if ready.text("/status") == "True" => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if object.bool("/spec/unschedulable") {
        status.push_str(",SchedulingDisabled");
    }
    let address = |kind: &str| {
        let mut addresses = object.list("/status/addresses");
        let found = addresses.find(|address| address.text("/type") == kind);
        found.map_or("<none>", |address| address.text("/address"))
    };
    let mut kernel = object.text_or("/status/nodeInfo/kernelVersion", "<unknown>").to_owned();
    if let architecture @ [_, ..] = object.text("/status/nodeInfo/architecture").as_bytes() {
        kernel.push_str(&format!(" ({})", String::from_utf8_lossy(architecture)));
    }
    row![
        object.name(),
        status,
        node_roles(object),
        object.age(),
        object.text("/status/nodeInfo/kubeletVersion"),
        address("InternalIP"),
        address("ExternalIP"),
        object.text_or("/status/nodeInfo/osImage", "<unknown>"),
        kernel,
        object.text_or("/status/nodeInfo/containerRuntimeVersion", "<unknown>"),
    ]
}

/// Roles come from labels: `node-role.kubernetes.io/ROLE` with any value, or `kubernetes.io/role: ROLE`.
fn node_roles(node: Object<'_>) -> String {
    let labels = node.map("/metadata/labels").into_iter().flatten();
    let roles: BTreeSet<&str> = labels
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => value.as_str(),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect();
    if roles.is_empty() { "<none>".into() } else { roles.into_iter().collect::<Vec<_>>().join(",") }
}

fn component_status(object: Object<'_>) -> Vec<Value> {
    let healthy = object.list("/conditions").find(|condition| condition.text("/type") == "Healthy");
    let (status, message, error) = healthy.map_or(("Unknown", "", ""), |condition| {
        let status = if condition.text("/status") == "True" { "Healthy" } else { "Unhealthy" };
        (status, condition.text("/message"), condition.text("/error"))
    });
    row![object.name(), status, message, error]
}

fn custom_resource_definition(object: Object<'_>) -> Vec<Value> {
    let served = object.list("/spec/versions").filter(|version| version.bool("/served"));
    let mut versions: Vec<String> = served
        .map(|version| {
            let stored = if version.bool("/storage") { "(storage)" } else { "" };
            format!("{}{stored}", version.text("/name"))
        })
        .collect();
    versions.sort();
    row![
        object.name(),
        object.text("/spec/scope"),
        versions.join(","),
        object.text("/metadata/creationTimestamp"),
        object.text("/spec/group"),
        object.text("/spec/names/kind"),
        object.texts("/spec/names/shortNames").join(","),
        object.condition_is_true("Established"),
    ]
}

fn api_service(object: Object<'_>) -> Vec<Value> {
    let service = object.get("/spec/service").map_or_else(
        || "Local".into(),
        |service| format!("{}/{}", service.text("/namespace"), service.text("/name")),
    );
    let available = object.condition("Available").map_or_else(
        || "Unknown".into(),
        |condition| match (condition.text("/status"), condition.text("/reason")) {
            ("True", _) => "True".to_owned(),
            (status, "") => status.to_owned(),
            (status, reason) => format!("{status} ({reason})"),
        },
    );
    row![object.name(), service, available, object.age()]
}
