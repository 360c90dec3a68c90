use serde_json::Value;

use super::{Cells, Object, row};

pub(super) fn cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "ConfigMap" => {
            |object| row![object.name(), object.len("/data") + object.len("/binaryData"), object.age()]
        }
        "Secret" => |object| row![object.name(), object.text("/type"), object.len("/data"), object.age()],
        "ServiceAccount" => |object| row![object.name(), object.age()],
        "ResourceQuota" => resource_quota,
        "ClusterRoleBinding" | "RoleBinding" => role_binding,
        "PodDisruptionBudget" => pod_disruption_budget,
        "Lease" => |object| row![object.name(), object.text("/spec/holderIdentity"), object.age()],
        "PriorityClass" => |object| {
            row![
                object.name(),
                object.int("/value"),
                object.bool("/globalDefault"),
                object.age(),
                object.text("/preemptionPolicy"),
            ]
        },
        "RuntimeClass" => |object| row![object.name(), object.text("/handler"), object.age()],
        _ => return None,
    })
}

fn resource_quota(object: Object<'_>) -> Vec<Value> {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    let used = object.get("/status/used");
    for (resource, hard) in object.map("/status/hard").into_iter().flatten() {
        let used = used.and_then(|used| used.map("")).and_then(|used| used.get(resource));
        let text = |quantity: Option<&Value>| quantity.and_then(Value::as_str).unwrap_or("0").to_owned();
        let column = if resource.starts_with("limits.") { &mut limits } else { &mut requests };
        column.push(format!("{resource}: {}/{}", text(used), text(Some(hard))));
    }
    row![object.name(), requests.join(", "), limits.join(", "), object.age()]
}

fn role_binding(object: Object<'_>) -> Vec<Value> {
    let role = format!("{}/{}", object.text("/roleRef/kind"), object.text("/roleRef/name"));
    let (mut users, mut groups, mut accounts) = (Vec::new(), Vec::new(), Vec::new());
    for subject in object.list("/subjects") {
        let name = subject.text("/name");
        match subject.text("/kind") {
            "User" => users.push(name.to_owned()),
            "Group" => groups.push(name.to_owned()),
            "ServiceAccount" => accounts.push(format!("{}/{name}", subject.text("/namespace"))),
            _ => {}
        }
    }
    row![object.name(), role, object.age(), users.join(", "), groups.join(", "), accounts.join(", ")]
}

fn pod_disruption_budget(object: Object<'_>) -> Vec<Value> {
    let bound = |path| object.get(path).map_or_else(|| "N/A".into(), Object::to_text);
    row![
        object.name(),
        bound("/spec/minAvailable"),
        bound("/spec/maxUnavailable"),
        object.int("/status/disruptionsAllowed"),
        object.age(),
    ]
}
