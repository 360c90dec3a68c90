//! Fields of features that are off by default: a server drops them, whoever sends them.

use serde_json::{Map, Value};

use super::super::metadata;

/// Annotations that used to hold init containers.
const DEAD_ANNOTATIONS: [&str; 4] = [
    "pod.beta.kubernetes.io/init-containers",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-container-statuses",
];

/// Drops the fields from an object that has a pod or the template of one in it.
pub(super) fn drop_disabled(group: &str, plural: &str, object: &mut Value) {
    // The pod or the template.
    let place = match (group, plural) {
        ("", "pods") => "",
        ("", "podtemplates") => "/template",
        ("", "replicationcontrollers")
        | ("apps", "deployments" | "replicasets" | "statefulsets" | "daemonsets")
        | ("batch", "jobs") => "/spec/template",
        ("batch", "cronjobs") => "/spec/jobTemplate/spec/template",
        _ => return,
    };
    if group == "batch" {
        let job = place.strip_suffix("/template").unwrap_or(place);
        remove(object.pointer_mut(job), "scheduling");
    }
    let Some(pod) = object.pointer_mut(place) else { return };
    if metadata::get(pod, "annotations").is_some() {
        let annotations = metadata::child(metadata::edit(pod), "annotations");
        DEAD_ANNOTATIONS.iter().for_each(|key| drop(annotations.remove(*key)));
    }
    let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) else { return };
    spec.remove("schedulingGroup");
    spec.remove("evictionResponders");
    items(spec, "volumes").for_each(drop_of_volume);
    for sort in ["containers", "initContainers", "ephemeralContainers"] {
        items(spec, sort).for_each(drop_of_container);
    }
}

/// Drops the fields from the status of a pod.
pub(super) fn drop_disabled_status(pod: &mut Value) {
    for field in ["volumeHealth", "nodeAllocatableResourceClaimStatuses"] {
        remove(pod.get_mut("status"), field);
    }
    let Some(status) = pod.get_mut("status").and_then(Value::as_object_mut) else { return };
    for list in ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] {
        for mount in items(status, list).flat_map(|status| items(status, "volumeMounts")) {
            mount.remove("volumeStatus");
        }
    }
}

fn drop_of_volume(volume: &mut Map<String, Value>) {
    remove(volume.get_mut("emptyDir"), "mode");
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        drop_users(volume.get_mut(source));
    }
    let projected = volume.get_mut("projected").and_then(Value::as_object_mut);
    for source in projected.into_iter().flat_map(|projected| items(projected, "sources")) {
        source.values_mut().for_each(|source| drop_users(Some(source)));
    }
}

/// Whom the files of a volume belong to.
fn drop_users(source: Option<&mut Value>) {
    let Some(source) = source.and_then(Value::as_object_mut) else { return };
    source.remove("defaultUser");
    source.remove("user");
    items(source, "items").for_each(|item| drop(item.remove("user")));
}

fn drop_of_container(container: &mut Map<String, Value>) {
    items(container, "volumeMounts").for_each(|mount| drop(mount.remove("bindMountOptions")));
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = container.get_mut(probe) else { continue };
        remove(probe.get_mut("httpGet"), "protocol");
        remove(probe.get_mut("grpc"), "mode");
    }
    let Some(lifecycle) = container.get_mut("lifecycle").and_then(Value::as_object_mut) else { return };
    for hook in ["postStart", "preStop"] {
        remove(lifecycle.get_mut(hook).and_then(|hook| hook.get_mut("httpGet")), "protocol");
    }
    if lifecycle.remove("stopSignal").is_some() && lifecycle.is_empty() {
        container.remove("lifecycle");
    }
}

fn remove(place: Option<&mut Value>, field: &str) {
    if let Some(place) = place.and_then(Value::as_object_mut) {
        place.remove(field);
    }
}

fn items<'a>(
    map: &'a mut Map<String, Value>,
    list: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> + use<'a> {
    map.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_off_is_dropped() {
        let mut deployment = json!({"spec": {"template": {
            "metadata": {"annotations": {"pod.beta.kubernetes.io/init-containers": "[]", "a": "b"}},
            "spec": {
                "schedulingGroup": {},
                "volumes": [
                    {"emptyDir": {"mode": 1}},
                    {"secret": {"defaultUser": 1, "items": [{"key": "k", "user": 1}]}},
                    {"projected": {"sources": [{"serviceAccountToken": {"user": 1, "path": "p"}}]}},
                ],
                "containers": [{
                    "lifecycle": {"stopSignal": "SIGTERM"},
                    "livenessProbe": {"httpGet": {"protocol": "HTTP2"}, "grpc": {"mode": "TLS"}},
                    "volumeMounts": [{"name": "a", "bindMountOptions": ["noexec"]}],
                }],
            },
        }}});
        drop_disabled("apps", "deployments", &mut deployment);
        assert_eq!(
            deployment,
            json!({"spec": {"template": {
                "metadata": {"annotations": {"a": "b"}},
                "spec": {
                    "volumes": [
                        {"emptyDir": {}},
                        {"secret": {"items": [{"key": "k"}]}},
                        {"projected": {"sources": [{"serviceAccountToken": {"path": "p"}}]}},
                    ],
                    "containers": [{
                        "livenessProbe": {"httpGet": {}, "grpc": {}},
                        "volumeMounts": [{"name": "a"}],
                    }],
                },
            }}})
        );
    }
}
