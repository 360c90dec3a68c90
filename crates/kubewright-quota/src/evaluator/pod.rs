//! Pods: what they ask for, and what they count for.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{items, text};
use crate::{Quantity, ResourceList, scope::Requirement};

/// What a pod counts for besides itself. The names without a prefix are older ones for requests.
const COUNTED: [&str; 10] = [
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
];

/// What each container has to say if it is limited. No later resource is like that.
const REQUIRED: [&str; 6] =
    ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

const REQUESTS: &str = "requests.";
const HUGE_PAGES: &str = "hugepages-";
const DEVICE_CLASS: &str = "deviceclass.resource.kubernetes.io/";

pub(super) fn counts(name: &str) -> bool {
    if COUNTED.contains(&name) || name.starts_with(HUGE_PAGES) {
        return true;
    }
    name.strip_prefix(REQUESTS).is_some_and(|rest| {
        rest.starts_with(HUGE_PAGES) || rest.starts_with(DEVICE_CLASS) || is_extended(rest)
    })
}

/// Whether a resource is one that Kubernetes knows nothing of.
fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/")
}

pub(super) fn usage(pod: &Value, now: Timestamp) -> ResourceList {
    if is_over(pod, now) {
        return ResourceList::default();
    }
    let asked = |kind| aggregate(pod, kind, true);
    compute(&asked(Kind::Requests), &asked(Kind::Limits))
}

/// What a pod with these requests and limits counts for.
fn compute(requests: &ResourceList, limits: &ResourceList) -> ResourceList {
    let mut usage = ResourceList::default();
    usage.set("pods", Quantity::count(1));
    for (name, amount) in requests.iter() {
        match name {
            "cpu" | "memory" | "ephemeral-storage" => {
                usage.set(name, amount);
                usage.set(format!("{REQUESTS}{name}"), amount);
            }
            _ if name.starts_with(HUGE_PAGES) => {
                usage.set(name, amount);
                usage.set(format!("{REQUESTS}{name}"), amount);
            }
            _ if name.starts_with(DEVICE_CLASS) || is_extended(name) => {
                usage.set(format!("{REQUESTS}{name}"), amount);
            }
            _ => {}
        }
    }
    for name in ["cpu", "memory", "ephemeral-storage"] {
        if let Some(amount) = limits.get(name) {
            usage.set(format!("limits.{name}"), amount);
        }
    }
    usage
}

/// Whether nothing of the pod runs any more, or its time to end is over.
fn is_over(pod: &Value, now: Timestamp) -> bool {
    if matches!(pod["status"]["phase"].as_str(), Some("Failed" | "Succeeded")) {
        return true;
    }
    let metadata = &pod["metadata"];
    let deleted = metadata["deletionTimestamp"].as_str().and_then(|time| time.parse::<Timestamp>().ok());
    let (Some(deleted), Some(grace)) = (deleted, metadata["deletionGracePeriodSeconds"].as_i64()) else {
        return false;
    };
    deleted.saturating_add(SignedDuration::from_secs(grace)).is_ok_and(|end| now > end)
}

/// Requests or limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Requests,
    Limits,
}

impl Kind {
    fn field(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Limits => "limits",
        }
    }
}

/// What a pod asks for as its spec says, without overhead.
#[must_use]
pub fn requests(pod: &Value) -> ResourceList {
    pod_level(pod, Kind::Requests, containers(pod, |container| of_spec(container, Kind::Requests)))
}

/// What a pod may use at most as its spec says, without overhead.
#[must_use]
pub fn limits(pod: &Value) -> ResourceList {
    pod_level(pod, Kind::Limits, containers(pod, |container| of_spec(container, Kind::Limits)))
}

fn of_spec(container: &Value, kind: Kind) -> ResourceList {
    ResourceList::of(&container["resources"][kind.field()])
}

/// What the pod asks for, or has got if that is more, with its overhead.
fn aggregate(pod: &Value, kind: Kind, with_overhead: bool) -> ResourceList {
    let spec = containers(pod, |container| of_spec(container, kind));
    let is_infeasible = items(&pod["status"], "conditions")
        .find(|condition| condition["type"] == "PodResizePending")
        .is_some_and(|condition| condition["reason"] == "Infeasible");
    let asked = |container: &Value| {
        if is_infeasible { ResourceList::default() } else { of_spec(container, kind) }
    };
    let actuated = containers(pod, |container| {
        let status = status_of(pod, container);
        match (&status["resources"][kind.field()], &status["allocatedResources"]) {
            (resources @ Value::Object(_), _) => ResourceList::of(resources),
            (_, allocated @ Value::Object(_)) if kind == Kind::Requests => ResourceList::of(allocated),
            _ => asked(container),
        }
    });
    let mut all = if is_infeasible { ResourceList::default() } else { spec };
    all.raise(&actuated);
    if kind == Kind::Requests {
        all.raise(&containers(pod, |container| match &status_of(pod, container)["allocatedResources"] {
            allocated @ Value::Object(_) => ResourceList::of(allocated),
            _ => asked(container),
        }));
    }
    let mut all = pod_level(pod, kind, all);
    if with_overhead {
        let overhead = ResourceList::of(&pod["spec"]["overhead"]);
        // What is not limited is not limited by overhead either.
        all.add(&overhead.filter(|name, _| {
            kind == Kind::Requests || all.get(name).is_some_and(|amount| !amount.is_zero())
        }));
    }
    all
}

/// Puts what the pod says as a whole in place of what its containers come to.
fn pod_level(pod: &Value, kind: Kind, mut containers: ResourceList) -> ResourceList {
    for (name, amount) in ResourceList::of(&pod["spec"]["resources"][kind.field()]).iter() {
        if is_of_pod(name) {
            containers.set(name, amount);
        }
    }
    containers
}

/// Whether a pod can say as a whole how much it wants of the resource.
fn is_of_pod(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with(HUGE_PAGES)
}

fn status_of<'a>(pod: &'a Value, container: &Value) -> &'a Value {
    let status = &pod["status"];
    let mut all = items(status, "containerStatuses").chain(items(status, "initContainerStatuses"));
    all.find(|status| status["name"] == container["name"]).unwrap_or(&Value::Null)
}

/// What the containers need together: those that run at the same time are added up, and init containers run before.
fn containers(pod: &Value, amounts: impl Fn(&Value) -> ResourceList) -> ResourceList {
    let spec = &pod["spec"];
    let mut all = ResourceList::default();
    for container in items(spec, "containers") {
        all.add(&amounts(container));
    }
    let (mut sidecars, mut before) = (ResourceList::default(), ResourceList::default());
    for container in items(spec, "initContainers") {
        let mut own = amounts(container);
        if container["restartPolicy"] == "Always" {
            all.add(&own);
            sidecars.add(&own);
            own = sidecars.clone();
        } else {
            own.add(&sidecars);
        }
        before.raise(&own);
    }
    all.raise(&before);
    all
}

pub(super) fn require(limited: &[&str], pod: &Value) -> Result<(), String> {
    let resources = &pod["spec"]["resources"];
    let says = |field: &str| ResourceList::of(&resources[field]).names().any(is_of_pod);
    if says("requests") || says("limits") {
        return Ok(());
    }
    let required: Vec<&str> = limited.iter().copied().filter(|name| REQUIRED.contains(name)).collect();
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for container in items(&pod["spec"], "containers").chain(items(&pod["spec"], "initContainers")) {
        let usage = compute(&of_spec(container, Kind::Requests), &of_spec(container, Kind::Limits));
        for name in required.iter().filter(|name| usage.get(name).is_none()) {
            missing.entry(name).or_default().insert(container["name"].as_str().unwrap_or_default());
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let texts = missing.into_iter().map(|(name, containers)| {
        format!("{name} for: {}", containers.into_iter().collect::<Vec<_>>().join(","))
    });
    Err(format!("must specify {}", texts.collect::<Vec<_>>().join("; ")))
}

pub(super) fn is_terminating(pod: &Value) -> bool {
    pod["spec"]["activeDeadlineSeconds"].as_i64().is_some_and(|seconds| seconds >= 0)
}

pub(super) fn is_in_scope(requirement: &Requirement, pod: &Value) -> bool {
    match requirement.scope.as_str() {
        "Terminating" => is_terminating(pod),
        "NotTerminating" => !is_terminating(pod),
        "BestEffort" => is_best_effort(pod),
        "NotBestEffort" => !is_best_effort(pod),
        "PriorityClass" => {
            let class: Vec<&str> = text(&pod["spec"], "priorityClassName").into_iter().collect();
            requirement.selects(&class)
        }
        "CrossNamespacePodAffinity" => looks_across_namespaces(pod),
        _ => false,
    }
}

fn is_best_effort(pod: &Value) -> bool {
    if let Some(class) = text(&pod["status"], "qosClass") {
        return class == "BestEffort";
    }
    let spec = &pod["spec"];
    let asks = |holder: &Value| {
        ["requests", "limits"].into_iter().any(|field| {
            let list = ResourceList::of(&holder["resources"][field]);
            list.iter().any(|(name, amount)| matches!(name, "cpu" | "memory") && !amount.is_zero())
        })
    };
    !asks(spec) && !items(spec, "containers").chain(items(spec, "initContainers")).any(asks)
}

fn looks_across_namespaces(pod: &Value) -> bool {
    let affinity = &pod["spec"]["affinity"];
    ["podAffinity", "podAntiAffinity"].into_iter().map(|kind| &affinity[kind]).any(|affinity| {
        let required = items(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
        let preferred = items(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
        let mut terms = required.chain(preferred.map(|weighted| &weighted["podAffinityTerm"]));
        terms.any(|term| items(term, "namespaces").next().is_some() || term["namespaceSelector"].is_object())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn container(name: &str, cpu: &str) -> Value {
        json!({"name": name, "resources": {"requests": {"cpu": cpu}}})
    }

    #[test]
    fn containers_that_run_together_are_added_up() {
        let mut pod = json!({"spec": {
            "containers": [container("a", "1"), container("b", "500m")],
            "initContainers": [container("x", "2")],
        }});
        assert_eq!(requests(&pod).to_string(), "cpu=2");
        pod["spec"]["initContainers"][0]["restartPolicy"] = json!("Always");
        assert_eq!(requests(&pod).to_string(), "cpu=3500m");
        pod["spec"]["resources"] = json!({"requests": {"cpu": "7"}});
        assert_eq!(requests(&pod).to_string(), "cpu=7");
    }

    #[test]
    fn what_a_pod_has_got_counts_if_it_is_more() {
        let mut pod = json!({"spec": {"containers": [container("a", "1")], "overhead": {"cpu": "10m"}}});
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(usage(&pod, now).to_string(), "cpu=1010m,pods=1,requests.cpu=1010m");
        pod["status"] = json!({"containerStatuses": [{"name": "a", "allocatedResources": {"cpu": "3"}}]});
        assert_eq!(usage(&pod, now).to_string(), "cpu=3010m,pods=1,requests.cpu=3010m");
        pod["status"]["phase"] = json!("Succeeded");
        assert!(usage(&pod, now).is_empty());
    }

    #[test]
    fn extended_resources_are_counted_as_requests() {
        let limited = json!({"example.com/gpu": "2", "hugepages-2Mi": "4Mi"});
        let pod = json!({"spec": {"containers": [{"name": "a", "resources": {"requests": limited}}]}});
        assert_eq!(
            usage(&pod, Timestamp::UNIX_EPOCH).to_string(),
            "hugepages-2Mi=4Mi,pods=1,requests.example.com/gpu=2,requests.hugepages-2Mi=4Mi"
        );
        assert!(counts("requests.example.com/gpu") && !counts("example.com/gpu"));
    }

    #[test]
    fn containers_have_to_say_what_is_limited() {
        let pod = json!({"spec": {"containers": [container("a", "1"), {"name": "b"}]}});
        let missing = require(&["requests.cpu", "limits.memory", "pods"], &pod);
        assert_eq!(missing, Err("must specify limits.memory for: a,b; requests.cpu for: b".to_owned()));
        assert_eq!(require(&["pods"], &pod), Ok(()));
    }
}
