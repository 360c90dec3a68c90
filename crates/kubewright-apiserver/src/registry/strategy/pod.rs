use serde_json::{Map, Value, json};

use super::{copy_field, feature_gates};
use crate::{
    registry::{Warnings, metadata},
    validation,
};

const DEFAULT_GRACE_PERIOD: i64 = 30;

/// Brings a new pod into its first state.
pub(super) fn prepare_create(pod: &mut Value, warnings: &Warnings) {
    merge_label_keys(pod);
    warnings.extend(take_over_app_armor(pod));
    share_resources(pod);
    let mut status = json!({ "phase": "Pending", "qosClass": validation::qos_class(pod) });
    let gates = pod.pointer("/spec/schedulingGates").and_then(Value::as_array);
    if gates.is_some_and(|gates| !gates.is_empty()) {
        status["conditions"] = json!([{
            "type": "PodScheduled",
            "status": "False",
            "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
            "lastTransitionTime": metadata::get(pod, "creationTimestamp"),
        }]);
    }
    metadata::as_map(pod).insert("status".to_owned(), status);
}

/// Lets a resize of a pod change nothing but what containers may use, as long as they are the same containers.
pub(super) fn prepare_resize(object: &mut Value, old: &Value) {
    let list = |pod: &Value, sort: &str| pod["spec"][sort].as_array().cloned().unwrap_or_default();
    const SORTS: [&str; 2] = ["containers", "initContainers"];
    if SORTS.iter().any(|sort| list(object, sort).len() != list(old, sort).len()) {
        return;
    }
    let mut new = old.clone();
    let spec = metadata::child(metadata::as_map(&mut new), "spec");
    // What clients who do not know of it leave out stays.
    if let Some(resources) = object["spec"].get("resources") {
        spec.insert("resources".to_owned(), resources.clone());
    }
    for sort in SORTS {
        let (wanted, mut containers) = (list(object, sort), list(old, sort));
        if wanted.is_empty() {
            continue;
        }
        let is_same = |(wanted, own): (&Value, &Value)| wanted["name"] == own["name"];
        if wanted.iter().zip(&containers).all(is_same) {
            for (container, wanted) in containers.iter_mut().zip(&wanted) {
                for field in ["resources", "resizePolicy"] {
                    copy_field(container, wanted, field);
                }
            }
        } else {
            containers = wanted;
        }
        spec.insert(sort.to_owned(), Value::from(containers));
    }
    metadata::restore(&mut new, object, &["managedFields", "resourceVersion"]);
    *object = new;
}

/// Completes what older clients, who do not know all of it, write of the status of a pod.
pub(super) fn prepare_status_update(pod: &mut Value, old: &Value) {
    feature_gates::drop_disabled_status(pod);
    let Some(status) = pod.get_mut("status").and_then(Value::as_object_mut) else { return };
    // The first address decides: older kubelets write no others.
    if let Some(ip) = status.get("podIP").cloned().filter(|ip| ip != "")
        && status.get("podIPs").is_none_or(|ips| ips[0]["ip"] != ip)
    {
        status.insert("podIPs".to_owned(), json!([{ "ip": ip }]));
    }
    for field in ["qosClass", "resourceClaimStatuses", "extendedResourceClaimStatus", "observedGeneration"] {
        if status.get(field).is_none()
            && let Some(before) = old["status"].get(field)
        {
            status.insert(field.to_owned(), before.clone());
        }
    }
    let mut before = old["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let conditions = status.get_mut("conditions").and_then(Value::as_array_mut);
    for condition in conditions.into_iter().flatten() {
        let Some(at) = before.iter().position(|before| before["type"] == condition["type"]) else { continue };
        let before = before.remove(at);
        if condition["observedGeneration"].is_null() && !before["observedGeneration"].is_null() {
            metadata::as_map(condition)
                .insert("observedGeneration".to_owned(), before["observedGeneration"].clone());
        }
    }
}

/// Counts the generation of a pod whose spec a subresource has changed.
pub(super) fn count_generation(object: &mut Value, old: &Value) {
    if object["spec"] != old["spec"] {
        metadata::set(object, "generation", Some(Value::from(metadata::generation(old) + 1)));
    }
}

/// Makes selectors of pods require that pods have the same labels as the new one, or others, where it says so by keys.
fn merge_label_keys(pod: &mut Value) {
    let labels = metadata::get(pod, "labels").and_then(Value::as_object).cloned().unwrap_or_default();
    let merge = |term: &mut Value| {
        for (field, operator) in [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")] {
            let keys = term.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
            let Some(selector) = term.get_mut("labelSelector").filter(|selector| selector.is_object()) else {
                return;
            };
            for key in keys.iter().filter_map(Value::as_str) {
                let Some(value) = labels.get(key) else { continue };
                let requirement = json!({ "key": key, "operator": operator, "values": [value] });
                let requirements = metadata::as_map(selector).entry("matchExpressions").or_insert(json!([]));
                if let Some(requirements) = requirements.as_array_mut() {
                    requirements.push(requirement);
                }
            }
        }
    };
    for pods in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = pod.pointer_mut("/spec/affinity").and_then(|affinity| affinity.get_mut(pods))
        else {
            continue;
        };
        items_mut(affinity, "preferredDuringSchedulingIgnoredDuringExecution")
            .filter_map(|term| term.get_mut("podAffinityTerm"))
            .for_each(merge);
        items_mut(affinity, "requiredDuringSchedulingIgnoredDuringExecution").for_each(merge);
    }
    if let Some(spec) = pod.get_mut("spec") {
        items_mut(spec, "topologySpreadConstraints").for_each(merge);
    }
}

/// Completes what containers of a pod share by what they ask for themselves, where the pod says something of it.
fn share_resources(pod: &mut Value) {
    let amounts = |list: &str| -> Map<String, Value> {
        let list = pod["spec"]["resources"].get(list).and_then(Value::as_object);
        list.cloned().unwrap_or_default()
    };
    let (mut requests, mut limits) = (amounts("requests"), amounts("limits"));
    if requests.is_empty() && limits.is_empty() {
        return;
    }
    let spec = &pod["spec"];
    let asked = validation::total_resources(spec, "requests");
    let limited = validation::total_resources(spec, "limits");
    let is_huge_pages = |name: &str| name.starts_with("hugepages-");
    let is_shared = |name: &str| matches!(name, "cpu" | "memory") || is_huge_pages(name);
    for (name, amount) in
        limited.iter().filter(|(name, _)| is_huge_pages(name) && !requests.contains_key(*name))
    {
        limits.entry(name).or_insert_with(|| amount.as_str().into());
    }
    for (name, amount) in asked.iter().filter(|(name, _)| is_shared(name) && !is_huge_pages(name)) {
        requests.entry(name).or_insert_with(|| amount.as_str().into());
    }
    for (name, amount) in limits.iter().filter(|(name, _)| is_shared(name)) {
        requests.entry(name).or_insert_with(|| amount.clone());
    }
    let containers = ["containers", "initContainers"].into_iter().flat_map(|sort| spec[sort].as_array());
    let containers: Vec<&Value> = containers.flatten().collect();
    for (name, asked) in requests.iter().filter(|(name, _)| is_shared(name)) {
        let is_limited = |container: &&Value| !container["resources"]["limits"][name].is_null();
        if limits.contains_key(name) || !containers.iter().all(is_limited) {
            continue;
        }
        let Some(limit) = limited.get(name) else { continue };
        let limit = validation::larger_amount(asked.as_str().unwrap_or_default(), limit);
        limits.insert(name.clone(), Value::from(limit));
    }
    let spec = metadata::child(metadata::as_map(pod), "spec");
    let resources = metadata::child(spec, "resources");
    for (list, amounts) in [("requests", requests), ("limits", limits)] {
        if !amounts.is_empty() {
            resources.insert(list.to_owned(), Value::from(amounts));
        }
    }
}

/// Puts profiles of AppArmor that stand in annotations, where they used to be, into the fields for them. Gives what the
/// client should know.
fn take_over_app_armor(pod: &mut Value) -> Vec<String> {
    const PREFIX: &str = "container.apparmor.security.beta.kubernetes.io/";
    let mut warnings = Vec::new();
    let notes = metadata::get(pod, "annotations").and_then(Value::as_object).cloned().unwrap_or_default();
    if !notes.keys().any(|key| key.starts_with(PREFIX))
        || pod.pointer("/spec/os/name") == Some(&json!("windows"))
    {
        return warnings;
    }
    let of_pod = pod.pointer("/spec/securityContext/appArmorProfile").cloned();
    let Some(spec) = pod.get_mut("spec") else { return warnings };
    for sort in ["initContainers", "containers", "ephemeralContainers"] {
        for container in items_mut(spec, sort) {
            let key = format!("{PREFIX}{}", container["name"].as_str().unwrap_or_default());
            let Some(annotation) = notes.get(&key).and_then(Value::as_str) else { continue };
            if !container["securityContext"]["appArmorProfile"].is_null() {
                continue;
            }
            let profile = validation::app_armor_profile(annotation);
            if profile.is_some() && profile == of_pod {
                continue;
            }
            let text = "deprecated since v1.30; use the \"appArmorProfile\" field instead";
            warnings.push(format!("metadata.annotations[{key}]: {text}"));
            if let Some(profile) = profile {
                let context = metadata::child(metadata::as_map(container), "securityContext");
                context.insert("appArmorProfile".to_owned(), profile);
            }
        }
    }
    warnings
}

fn items_mut<'a>(value: &'a mut Value, list: &str) -> impl Iterator<Item = &'a mut Value> + use<'a> {
    value.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
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

#[cfg(test)]
mod tests {
    use super::*;

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
