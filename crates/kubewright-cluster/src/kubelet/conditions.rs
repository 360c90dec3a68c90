use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{ContainerStatus, Pod, PodCondition, ResourceRequirements},
    apimachinery::pkg::apis::meta::v1::Time,
};

use super::container;

/// Why a condition is not true.
type Problem = (&'static str, String);

/// The conditions that sum up a pod's containers, with those that others set kept.
pub(super) fn conditions(
    pod: &Pod,
    has_sandbox: bool,
    init: &[ContainerStatus],
    main: &[ContainerStatus],
    phase: &str,
    now: Timestamp,
) -> Vec<PodCondition> {
    let current: &[PodCondition] =
        pod.status.as_ref().and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let containers = containers_ready(main, phase);
    let verdicts: [(&str, Option<Problem>); 5] = [
        ("PodReadyToStartContainers", (!has_sandbox).then(|| ("", String::new()))),
        ("Initialized", initialized(pod, init, phase)),
        ("Ready", containers.clone().or_else(|| gates_ready(pod, current))),
        ("ContainersReady", containers),
        ("PodScheduled", None),
    ];
    let mut conditions: Vec<PodCondition> = current
        .iter()
        .filter(|condition| verdicts.iter().all(|(kind, _)| *kind != condition.type_))
        .cloned()
        .collect();
    conditions.extend(verdicts.into_iter().map(|(kind, problem)| {
        let status = if problem.is_none() { "True" } else { "False" };
        let before = current.iter().find(|condition| condition.type_ == kind);
        let since =
            before.filter(|before| before.status == status).and_then(|c| c.last_transition_time.clone());
        let (reason, message) = match (kind, problem) {
            (_, Some((reason, message))) => (reason, message),
            ("Initialized" | "Ready" | "ContainersReady", None) if phase == "Succeeded" => {
                ("PodCompleted", String::new())
            }
            _ => ("", String::new()),
        };
        PodCondition {
            type_: kind.into(),
            status: status.into(),
            reason: Some(reason).filter(|reason| !reason.is_empty()).map(Into::into),
            message: Some(message).filter(|message| !message.is_empty()),
            last_transition_time: since.or(Some(Time(now))),
            last_probe_time: None,
            observed_generation: pod.metadata.generation,
        }
    }));
    conditions
}

fn initialized(pod: &Pod, init: &[ContainerStatus], phase: &str) -> Option<Problem> {
    let wanted = pod.spec.as_ref().and_then(|spec| spec.init_containers.as_ref());
    let incomplete: Vec<_> = wanted
        .into_iter()
        .flatten()
        .map(|container| container.name.as_str())
        .filter(|name| {
            init.iter()
                .find(|status| status.name == *name)
                .is_none_or(|status| container::exit_code(status) != Some(0) && status.started != Some(true))
        })
        .collect();
    if incomplete.is_empty() || phase == "Succeeded" {
        return None;
    }
    let names = incomplete.join(" ");
    Some(("ContainersNotInitialized", format!("containers with incomplete status: [{names}]")))
}

fn containers_ready(main: &[ContainerStatus], phase: &str) -> Option<Problem> {
    match phase {
        "Succeeded" => return Some(("PodCompleted", String::new())),
        "Failed" => return Some(("PodFailed", String::new())),
        _ => {}
    }
    let unready: Vec<_> =
        main.iter().filter(|status| !status.ready).map(|status| status.name.as_str()).collect();
    if unready.is_empty() {
        return None;
    }
    let names = unready.join(" ");
    Some(("ContainersNotReady", format!("containers with unready status: [{names}]")))
}

fn gates_ready(pod: &Pod, current: &[PodCondition]) -> Option<Problem> {
    let gates = pod.spec.as_ref().and_then(|spec| spec.readiness_gates.as_ref());
    let problems: Vec<_> = gates
        .into_iter()
        .flatten()
        .filter_map(|gate| {
            let kind = &gate.condition_type;
            match current.iter().find(|condition| condition.type_ == *kind) {
                None => {
                    Some(format!("corresponding condition of pod readiness gate {kind:?} does not exist."))
                }
                Some(condition) if condition.status != "True" => Some(format!(
                    "the status of pod readiness gate {kind:?} is not \"True\", but {}",
                    condition.status
                )),
                Some(_) => None,
            }
        })
        .collect();
    (!problems.is_empty()).then(|| ("ReadinessGatesNotReady", problems.join(", ")))
}

/// The pod's quality of service: Guaranteed when every container has limits for cpu and memory that its
/// requests equal, BestEffort when none has either, Burstable otherwise.
pub(super) fn qos_class(pod: &Pod) -> &'static str {
    let Some(spec) = &pod.spec else { return "BestEffort" };
    let all = || spec.init_containers.iter().flatten().chain(&spec.containers);
    let relevant = |resources: &ResourceRequirements| {
        let has = |list: &Option<std::collections::BTreeMap<String, _>>| {
            list.iter().flatten().any(|(name, _)| name == "cpu" || name == "memory")
        };
        has(&resources.limits) || has(&resources.requests)
    };
    if !all().any(|container| container.resources.as_ref().is_some_and(relevant)) {
        return "BestEffort";
    }
    let guaranteed = |resources: &ResourceRequirements| {
        ["cpu", "memory"].iter().all(|name| {
            let limit = resources.limits.as_ref().and_then(|limits| limits.get(*name));
            let request = resources.requests.as_ref().and_then(|requests| requests.get(*name));
            limit.is_some() && (request.is_none() || request == limit)
        })
    };
    if all().all(|container| container.resources.as_ref().is_some_and(guaranteed)) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use k8s_openapi::{
        api::core::v1::{Container, PodReadinessGate, PodSpec, PodStatus},
        apimachinery::pkg::api::resource::Quantity,
    };

    use super::*;

    fn list(cpu: &str, memory: &str) -> Option<BTreeMap<String, Quantity>> {
        let quantities =
            [("cpu", cpu), ("memory", memory)].into_iter().filter(|(_, value)| !value.is_empty());
        Some(quantities.map(|(name, value)| (name.to_owned(), Quantity(value.to_owned()))).collect())
    }

    fn pod(resources: ResourceRequirements) -> Pod {
        let container = Container { resources: Some(resources), ..Container::default() };
        Pod { spec: Some(PodSpec { containers: vec![container], ..PodSpec::default() }), ..Pod::default() }
    }

    #[test]
    fn qos_follows_requests_and_limits() {
        let class = |limits, requests| {
            qos_class(&pod(ResourceRequirements { limits, requests, ..ResourceRequirements::default() }))
        };
        assert_eq!(class(None, None), "BestEffort");
        assert_eq!(class(None, list("1", "")), "Burstable");
        assert_eq!(class(list("1", "1Gi"), None), "Guaranteed");
        assert_eq!(class(list("1", "1Gi"), list("1", "1Gi")), "Guaranteed");
        assert_eq!(class(list("1", "1Gi"), list("500m", "1Gi")), "Burstable");
    }

    #[test]
    fn readiness_gates_wait_for_their_condition() {
        let mut pod = pod(ResourceRequirements::default());
        pod.spec.as_mut().expect("a spec").readiness_gates =
            Some(vec![PodReadinessGate { condition_type: "example.com/lb".into() }]);
        let ready = |pod: &Pod| {
            let all = conditions(pod, true, &[], &[], "Running", Timestamp::UNIX_EPOCH);
            let ready = all.iter().find(|condition| condition.type_ == "Ready").cloned().expect("Ready");
            (ready.status, ready.reason)
        };
        assert_eq!(ready(&pod), ("False".into(), Some("ReadinessGatesNotReady".into())));
        pod.status = Some(PodStatus {
            conditions: Some(vec![PodCondition {
                type_: "example.com/lb".into(),
                status: "True".into(),
                ..PodCondition::default()
            }]),
            ..PodStatus::default()
        });
        assert_eq!(ready(&pod), ("True".into(), None));
    }
}
