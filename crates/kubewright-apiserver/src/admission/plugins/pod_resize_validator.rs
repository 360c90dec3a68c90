//! A pod on a node does not grow beyond what the node has.

use kubewright_quota::{ResourceList, pod_requests};
use serde_json::Value;

use super::Attributes;
use crate::{
    registry::{Registry, metadata},
    status::{Cause, Status},
};

pub(super) fn validate(
    registry: &Registry,
    attributes: &Attributes<'_>,
    pod: Option<&Value>,
) -> Result<(), Status> {
    let is_resize = attributes.is_of("", "pods", "resize");
    let (Some(pod), Some(old)) = (pod.filter(|_| is_resize), attributes.old) else { return Ok(()) };
    let name = pod["spec"]["nodeName"].as_str().unwrap_or_default();
    if name.is_empty() || metadata::generation(pod) == metadata::generation(old) {
        return Ok(());
    }
    let Some(node) = registry.store.get("/nodes", name) else {
        return Err(attributes.forbidden(Some(pod), &format!("node {name:?} not found")));
    };
    let refuse = |why: &str, reason: &str| {
        let cause = Cause { reason: reason.to_owned(), ..Cause::default() };
        Err(attributes.forbidden(Some(pod), why).with_cause(cause))
    };
    let labels = metadata::get(node.value(), "labels");
    let system = labels.and_then(|own| own.get("kubernetes.io/os")?.as_str());
    if let Some(system) = system.filter(|system| *system != "linux") {
        let why = format!("pod resize is only supported on linux nodes, node {name:?} is {system:?}");
        return refuse(&why, "UnsupportedPlatform");
    }
    let mut requests = pod_requests(pod);
    requests.add(&ResourceList::of(&pod["spec"]["overhead"]));
    let allocatable = ResourceList::of(&node.value()["status"]["allocatable"]);
    let mut problems = Vec::new();
    for (resource, in_thousandths) in [("cpu", true), ("memory", false)] {
        let amount = |list: &ResourceList| list.get(resource).unwrap_or(kubewright_quota::Quantity::ZERO);
        let (wanted, there) = (amount(&requests), amount(&allocatable));
        if wanted > there {
            let number = |amount: kubewright_quota::Quantity| {
                if in_thousandths { amount.milli_value() } else { amount.value() }
            };
            let (wanted, there) = (number(wanted), number(there));
            problems.push(format!("{resource}, requested: {wanted}, allocatable: {there}"));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    let why = format!("node didn't have enough allocatable resources: {}", problems.join("; "));
    refuse(&why, "NodeCapacity")
}
