use serde_json::{Value, json};

use crate::registry::metadata;

const DEFAULT_GRACE_PERIOD: i64 = 30;

pub(super) fn prepare_create(pod: &mut Value) {
    let status = json!({ "phase": "Pending", "qosClass": qos_class(pod) });
    metadata::as_map(pod).insert("status".to_owned(), status);
}

/// How long a pod may take to end: nothing has to end where no kubelet has begun.
pub(super) fn grace_period(pod: &Value, asked: Option<i64>) -> i64 {
    let spec = |field| pod.get("spec").and_then(|spec| spec.get(field));
    let scheduled = spec("nodeName").and_then(Value::as_str).is_some_and(|node| !node.is_empty());
    let phase = pod.get("status").and_then(|status| status.get("phase")).and_then(Value::as_str);
    if !scheduled || matches!(phase, Some("Failed" | "Succeeded")) {
        return 0;
    }
    let own = || spec("terminationGracePeriodSeconds").and_then(Value::as_i64);
    // A negative period, which older clients used to store, means the shortest one.
    match asked.or_else(own).unwrap_or(DEFAULT_GRACE_PERIOD) {
        period if period < 0 => 1,
        period => period,
    }
}

/// The quality-of-service class: what the containers' requests and limits amount to.
fn qos_class(pod: &Value) -> &'static str {
    let containers = ["containers", "initContainers"].into_iter().flat_map(|field| {
        pod.get("spec").and_then(|spec| spec.get(field)).and_then(Value::as_array).into_iter().flatten()
    });
    let (mut any, mut guaranteed) = (false, true);
    for container in containers {
        let quantity = |list: &str, resource: &str| {
            container
                .get("resources")
                .and_then(|resources| resources.get(list))
                .and_then(|list| list.get(resource))
                .filter(|quantity| !matches!(quantity.as_str(), Some("0")))
        };
        for resource in ["cpu", "memory"] {
            let (request, limit) = (quantity("requests", resource), quantity("limits", resource));
            any |= request.is_some() || limit.is_some();
            // A request that is not given is the limit.
            guaranteed &= limit.is_some() && (request.is_none() || request == limit);
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quality_of_service_follows_requests_and_limits() {
        let pod = |resources: Value| json!({"spec": {"containers": [{"resources": resources}]}});
        assert_eq!(qos_class(&pod(json!({}))), "BestEffort");
        assert_eq!(qos_class(&pod(json!({"requests": {"cpu": "1"}}))), "Burstable");
        assert_eq!(qos_class(&pod(json!({"limits": {"cpu": "1", "memory": "1Gi"}}))), "Guaranteed");
    }

    #[test]
    fn grace_is_for_pods_that_run() {
        let mut pod = json!({"spec": {}, "status": {"phase": "Running"}});
        assert_eq!(grace_period(&pod, None), 0);
        pod["spec"]["nodeName"] = json!("n");
        assert_eq!(grace_period(&pod, None), 30);
        assert_eq!(grace_period(&pod, Some(0)), 0);
        pod["status"]["phase"] = json!("Succeeded");
        assert_eq!(grace_period(&pod, None), 0);
    }
}
