use serde_json::{Map, Value};

use super::{annotations, containers::is_sidecar, quality::qos_class, validate_again};
use crate::validation::Field;

/// Checks a change of what a pod may use while it runs.
pub(super) fn validate(new: Field<'_>, old: Field<'_>) {
    if old.child("metadata").child("annotations").value().get(annotations::MIRROR).is_some() {
        return new.forbidden_nowhere("static pods cannot be resized");
    }
    if old.child("spec").child("os").child("name").text() == "windows" {
        return new.forbidden_nowhere("windows pods cannot be resized");
    }
    let before = new.report().len();
    validate_again(new, old);
    let class = old.child("status").child("qosClass").text();
    let class = if class.is_empty() { qos_class(old.value()) } else { class };
    let spec = new.child("spec");
    if class != qos_class(new.value()) {
        let shown = new.child("status").child("qosClass").text();
        spec.invalid(shown, "Pod QOS Class may not change as a result of resizing");
    }
    if !is_supported(old.child("status")) {
        spec.forbidden("Pod running on node without support for resize");
    }
    let old_spec = old.child("spec");
    let has_resources = |spec: Field<'_>| {
        let resources = spec.child("resources");
        resources.child("requests").len() + resources.child("limits").len() > 0
    };
    if has_resources(spec) || has_resources(old_spec) {
        validate_pod_level(spec, old_spec);
    }
    if !validate_order(spec, old_spec) {
        return;
    }
    for sort in ["initContainers", "containers"] {
        for (container, old) in spec.child(sort).items().zip(old_spec.child(sort).items()) {
            let (own, old) = (container.child("resources"), old.child("resources"));
            for (list, detail) in [
                ("requests", "resource requests cannot be removed"),
                ("limits", "resource limits cannot be removed"),
            ] {
                if is_removed(own.child(list), old.child(list)) {
                    own.child(list).forbidden(detail);
                }
            }
        }
    }
    for (container, old) in spec.child("containers").items().zip(old_spec.child("containers").items()) {
        if !is_same_but_resources(container.value(), old.value()) {
            spec.forbidden("only cpu and memory resources are mutable");
        }
    }
    let init = spec.child("initContainers").items().zip(old_spec.child("initContainers").items());
    for (container, old) in init {
        if !is_same_but_resources(container.value(), old.value()) {
            let detail = "only cpu and memory resources for init or sidecar containers are mutable";
            container.forbidden(detail);
        }
        if container.value() != old.value() && !is_sidecar(container) {
            let policies = container.child("resizePolicy").list();
            for _ in policies.iter().filter(|policy| policy["restartPolicy"] == "RestartContainer") {
                let detail =
                    "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
                container.forbidden(detail);
            }
        }
    }
    if spec.child("volumes").value() != old_spec.child("volumes").value() {
        let detail = "volumes are immutable on resize when InPlacePodVerticalScalingMemoryBackedVolumes feature gate \
                      is disabled";
        spec.child("volumes").forbidden(detail);
    }
    if new.report().len() > before {
        return;
    }
    let others = |spec: Field<'_>| {
        let mut fields = spec.map().cloned().unwrap_or_default();
        for field in ["containers", "initContainers", "volumes", "resources"] {
            fields.remove(field);
        }
        fields
    };
    if others(spec) != others(old_spec) {
        spec.forbidden("only cpu and memory resources are mutable");
    }
}

/// Whether the node of the pod has told that it can do so. Of a node that has told nothing it is believed.
fn is_supported(status: Field<'_>) -> bool {
    let mut containers = status.child("containerStatuses").items();
    let running = containers.find(|container| container.child("state").child("running").is_set());
    running.is_none_or(|container| container.child("resources").is_set())
}

fn validate_pod_level(spec: Field<'_>, old: Field<'_>) {
    let (own, old) = (spec.child("resources"), old.child("resources"));
    if old.is_set() && !own.is_set() {
        return own.forbidden("pod-level resources cannot be removed");
    }
    for (list, detail) in [
        ("requests", "pod-level resource requests cannot be removed"),
        ("limits", "pod-level resource limits cannot be removed"),
    ] {
        if old.is_set() && is_removed(own.child(list), old.child(list)) {
            own.child(list).forbidden(detail);
        }
    }
    if !is_same_amounts(own.value(), old.value()) {
        spec.forbidden("only cpu and memory resources are mutable at pod-level");
    }
}

/// Containers stay who and where they are. Gives whether they do.
fn validate_order(spec: Field<'_>, old: Field<'_>) -> bool {
    let before = spec.report().len();
    for sort in ["containers", "initContainers"] {
        let (own, old) = (spec.child(sort), old.child(sort));
        if own.len() != old.len() {
            own.forbidden(format!("{sort} may not be added or removed on resize"));
            continue;
        }
        for (container, old) in own.items().zip(old.items()) {
            if container.child("name").text() != old.child("name").text() {
                let detail = format!("{sort} may not be renamed or reordered on resize");
                container.child("name").forbidden(detail);
            }
        }
    }
    spec.report().len() == before
}

fn is_removed(new: Field<'_>, old: Field<'_>) -> bool {
    old.map().into_iter().flatten().any(|(name, _)| new.value().get(name).is_none())
}

/// Whether two containers differ in nothing but how much of CPU and memory they have.
fn is_same_but_resources(new: &Value, old: &Value) -> bool {
    let others = |container: &Value| {
        let mut fields = container.as_object().cloned().unwrap_or_default();
        fields.remove("resources");
        fields
    };
    new == old || (others(new) == others(old) && is_same_amounts(&new["resources"], &old["resources"]))
}

/// Whether two sets of resources differ in nothing but amounts of CPU and memory.
fn is_same_amounts(new: &Value, old: &Value) -> bool {
    let others = |resources: &Value, list: &str| -> Map<String, Value> {
        let mut amounts = resources[list].as_object().cloned().unwrap_or_default();
        amounts.remove("cpu");
        amounts.remove("memory");
        amounts
    };
    ["requests", "limits"].iter().all(|list| others(new, list) == others(old, list))
        && new["claims"] == old["claims"]
}
