//! The quality of service: what becomes of a pod when a node runs out of something.

use kubewright_quota::Quantity;
use serde_json::Value;

use super::resources::is_set_for_pod;

/// The class of a pod by what it and its containers ask for and may use.
pub(crate) fn qos_class(pod: &Value) -> &'static str {
    let spec = &pod["spec"];
    if is_set_for_pod(&spec["resources"]) {
        return class(&spec["resources"]);
    }
    let containers = ["initContainers", "containers"].into_iter();
    let mut classes = containers
        .flat_map(|sort| spec[sort].as_array().into_iter().flatten())
        .map(|container| class(&container["resources"]));
    let Some(first) = classes.next() else { return "BestEffort" };
    if first != "Burstable" && classes.all(|class| class == first) { first } else { "Burstable" }
}

fn class(resources: &Value) -> &'static str {
    let amount = |list: &str, name: &str| {
        resources.get(list).and_then(|list| list.get(name)).map_or(Quantity::ZERO, Quantity::of)
    };
    let mut kinds = ["cpu", "memory"].into_iter().map(|name| {
        let (request, limit) = (amount("requests", name), amount("limits", name));
        (request == limit).then_some(request.is_zero())
    });
    match (kinds.next().flatten(), kinds.next().flatten()) {
        (Some(true), Some(true)) => "BestEffort",
        (Some(false), Some(false)) => "Guaranteed",
        _ => "Burstable",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_class_follows_requests_and_limits() {
        let pod = |resources: Value| json!({"spec": {"containers": [{"resources": resources}]}});
        assert_eq!(qos_class(&pod(json!({}))), "BestEffort");
        assert_eq!(qos_class(&pod(json!({"requests": {"cpu": "1"}}))), "Burstable");
        let all = json!({"cpu": "1", "memory": "1Gi"});
        assert_eq!(qos_class(&pod(json!({"requests": all, "limits": all}))), "Guaranteed");
        let both = json!({"spec": {"containers": [
            {"resources": {"requests": all, "limits": all}}, {"resources": {}},
        ]}});
        assert_eq!(qos_class(&both), "Burstable");
        let of_pod = json!({"spec": {"resources": {"limits": all, "requests": all}, "containers": [{}]}});
        assert_eq!(qos_class(&of_pod), "Guaranteed");
    }
}
