use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::core::v1::{Container, Node, Pod, PodSpec, Taint, Toleration},
    apimachinery::pkg::api::resource::Quantity,
};

use super::affinity;
use crate::pod;

/// Amounts of resources by name, in thousandths.
type Resources = BTreeMap<String, i128>;

/// Picks the node for a pod, or says why there is none.
///
/// `pods` are all pods there are; those bound to a node use up its resources.
pub(super) fn place(pod: &Pod, nodes: &[Arc<Node>], pods: &[Arc<Pod>]) -> Result<String, String> {
    if nodes.is_empty() {
        return Err("no nodes available to schedule pods".into());
    }
    let mut used: BTreeMap<&str, (i128, Resources)> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| !pod::is_finished(pod)) {
        let Some(spec) = &pod.spec else { continue };
        let Some(node) = spec.node_name.as_deref().filter(|name| !name.is_empty()) else { continue };
        let (count, resources) = used.entry(node).or_default();
        *count += 1;
        add(resources, &requests(spec));
    }

    let wanted = pod.spec.as_ref().map(requests).unwrap_or_default();
    let mut rejections: BTreeMap<String, usize> = BTreeMap::new();
    let mut best: Option<(i128, &str)> = None;
    for node in nodes {
        let name = node.metadata.name.as_deref().unwrap_or_default();
        let idle = Default::default();
        let (count, resources) = used.get(name).unwrap_or(&idle);
        let reasons = reject(pod, node, &wanted, *count, resources);
        if reasons.is_empty() {
            // Fewest pods first; equal nodes by name.
            best = Some(best.map_or((*count, name), |best| best.min((*count, name))));
        }
        for reason in reasons {
            *rejections.entry(reason).or_default() += 1;
        }
    }
    best.map(|(_, name)| name.to_owned()).ok_or_else(|| {
        let mut reasons: Vec<_> =
            rejections.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        reasons.sort();
        format!("0/{} nodes are available: {}.", nodes.len(), reasons.join(", "))
    })
}

/// Whether the node takes the pod, whatever else runs there: taints, selector and affinity allow it.
pub(crate) fn admits(pod: &Pod, node: &Node) -> bool {
    refusal(pod, node).is_none()
}

/// Why the node takes no such pod, however empty it is.
fn refusal(pod: &Pod, node: &Node) -> Option<&'static str> {
    let cordoned = node.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true);
    let cordon = Taint {
        key: "node.kubernetes.io/unschedulable".into(),
        effect: "NoSchedule".into(),
        ..Taint::default()
    };
    if cordoned && !is_tolerated(pod, &cordon) {
        return Some("node(s) were unschedulable");
    }
    let taints = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
    let repels = |taint: &Taint| {
        matches!(taint.effect.as_str(), "NoSchedule" | "NoExecute") && !is_tolerated(pod, taint)
    };
    if taints.iter().any(repels) {
        return Some("node(s) had untolerated taint(s)");
    }
    if !affinity::selects(pod, node) {
        return Some("node(s) didn't match Pod's node affinity/selector");
    }
    None
}

/// What is no quantity does not count: the server has refused it.
fn thousandths(Quantity(text): &Quantity) -> Option<i128> {
    kubewright_quota::Quantity::parse(text).ok().map(kubewright_quota::Quantity::milli_value)
}

/// Why the pod cannot run on the node: the reasons of the first filter that it fails.
fn reject(pod: &Pod, node: &Node, wanted: &Resources, count: i128, used: &Resources) -> Vec<String> {
    if let Some(reason) = refusal(pod, node) {
        return vec![reason.into()];
    }
    let capacity = node.status.as_ref().and_then(|status| status.allocatable.as_ref());
    let available = |name: &str| capacity.and_then(|capacity| capacity.get(name)).and_then(thousandths);
    let mut reasons = Vec::new();
    if available("pods").is_some_and(|pods| (count + 1) * 1000 > pods) {
        reasons.push("Too many pods".into());
    }
    for (name, amount) in wanted {
        let free = available(name).unwrap_or(0) - used.get(name).copied().unwrap_or(0);
        if *amount > 0 && *amount > free {
            reasons.push(format!("Insufficient {name}"));
        }
    }
    reasons
}

fn is_tolerated(pod: &Pod, taint: &Taint) -> bool {
    let tolerations = pod.spec.as_ref().and_then(|spec| spec.tolerations.as_deref()).unwrap_or_default();
    tolerations.iter().any(|toleration| tolerates(toleration, taint))
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let given = |text: &Option<String>| text.as_deref().unwrap_or_default().to_owned();
    let effect = given(&toleration.effect);
    let key = given(&toleration.key);
    if !(effect.is_empty() || effect == taint.effect) || !(key.is_empty() || key == taint.key) {
        return false;
    }
    match toleration.operator.as_deref() {
        Some("Exists") => true,
        None | Some("" | "Equal") => given(&toleration.value) == taint.value.clone().unwrap_or_default(),
        _ => false,
    }
}

/// What a pod asks for: its containers and sidecars together, or its most demanding init container if that
/// is more.
fn requests(spec: &PodSpec) -> Resources {
    let of = |container: &Container| -> Resources {
        let resources = container.resources.as_ref();
        let requests = resources.and_then(|resources| resources.requests.as_ref());
        requests
            .into_iter()
            .flatten()
            .filter_map(|(name, quantity)| Some((name.clone(), thousandths(quantity)?)))
            .collect()
    };
    let mut total = Resources::new();
    for container in &spec.containers {
        add(&mut total, &of(container));
    }
    let mut peak = Resources::new();
    for container in spec.init_containers.iter().flatten() {
        if container.restart_policy.as_deref() == Some("Always") {
            add(&mut total, &of(container));
        } else {
            for (name, amount) in of(container) {
                let entry = peak.entry(name).or_default();
                *entry = (*entry).max(amount);
            }
        }
    }
    for (name, amount) in peak {
        let entry = total.entry(name).or_default();
        *entry = (*entry).max(amount);
    }
    total
}

fn add(total: &mut Resources, more: &Resources) {
    for (name, amount) in more {
        let entry = total.entry(name.clone()).or_default();
        *entry = entry.saturating_add(*amount);
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{
        Affinity, NodeAffinity, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, NodeSpec,
        NodeStatus, ResourceRequirements,
    };

    use super::*;

    fn node(name: &str, change: impl FnOnce(&mut Node)) -> Arc<Node> {
        let mut node = Node {
            status: Some(NodeStatus {
                allocatable: Some(quantities(&[("cpu", "2"), ("memory", "4Gi"), ("pods", "3")])),
                ..NodeStatus::default()
            }),
            ..Node::default()
        };
        node.metadata.name = Some(name.into());
        node.metadata.labels = Some(BTreeMap::from([("disk".into(), "ssd".into())]));
        change(&mut node);
        Arc::new(node)
    }

    fn quantities(list: &[(&str, &str)]) -> BTreeMap<String, Quantity> {
        list.iter().map(|(name, value)| ((*name).into(), Quantity((*value).into()))).collect()
    }

    fn pod(cpu: &str, node: Option<&str>, change: impl FnOnce(&mut PodSpec)) -> Pod {
        let mut spec = PodSpec {
            node_name: node.map(Into::into),
            containers: vec![Container {
                resources: Some(ResourceRequirements {
                    requests: Some(quantities(&[("cpu", cpu)])),
                    ..ResourceRequirements::default()
                }),
                ..Container::default()
            }],
            ..PodSpec::default()
        };
        change(&mut spec);
        Pod { spec: Some(spec), ..Pod::default() }
    }

    #[test]
    fn the_node_with_the_fewest_pods_is_taken() {
        let nodes = [node("a", |_| {}), node("b", |_| {})];
        let pods = [Arc::new(pod("1", Some("a"), |_| {}))];
        assert_eq!(place(&pod("1", None, |_| {}), &nodes, &[]), Ok("a".into()));
        assert_eq!(place(&pod("1", None, |_| {}), &nodes, &pods), Ok("b".into()));
    }

    #[test]
    fn a_pod_that_fits_nowhere_learns_why() {
        let nodes = [
            node("a", |_| {}),
            node("b", |node| {
                node.spec = Some(NodeSpec { unschedulable: Some(true), ..NodeSpec::default() });
            }),
        ];
        assert_eq!(
            place(&pod("3", None, |_| {}), &nodes, &[]),
            Err("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.".into())
        );
        assert_eq!(
            place(&pod("1", None, |_| {}), &[], &[]),
            Err("no nodes available to schedule pods".into())
        );
        let full: Vec<_> = (0..3).map(|_| Arc::new(pod("100m", Some("a"), |_| {}))).collect();
        assert_eq!(
            place(&pod("100m", None, |_| {}), &nodes[..1], &full),
            Err("0/1 nodes are available: 1 Too many pods.".into())
        );
    }

    #[test]
    fn taints_need_tolerations() {
        let nodes = [node("a", |node| {
            node.spec = Some(NodeSpec {
                taints: Some(vec![Taint {
                    key: "gpu".into(),
                    value: Some("yes".into()),
                    effect: "NoSchedule".into(),
                    ..Taint::default()
                }]),
                ..NodeSpec::default()
            });
        })];
        let error = place(&pod("1", None, |_| {}), &nodes, &[]).expect_err("tainted");
        assert_eq!(error, "0/1 nodes are available: 1 node(s) had untolerated taint(s).");
        let tolerating = |operator: &str, value: Option<&str>| {
            pod("1", None, |spec| {
                spec.tolerations = Some(vec![Toleration {
                    key: Some("gpu".into()),
                    operator: Some(operator.into()),
                    value: value.map(Into::into),
                    ..Toleration::default()
                }]);
            })
        };
        assert!(place(&tolerating("Exists", None), &nodes, &[]).is_ok());
        assert!(place(&tolerating("Equal", Some("yes")), &nodes, &[]).is_ok());
        assert!(place(&tolerating("Equal", Some("no")), &nodes, &[]).is_err());
    }

    #[test]
    fn selectors_and_affinity_must_match() {
        let nodes = [node("a", |_| {})];
        let selecting = |value: &str| {
            pod("1", None, |spec| {
                spec.node_selector = Some(BTreeMap::from([("disk".into(), value.into())]));
            })
        };
        assert!(place(&selecting("ssd"), &nodes, &[]).is_ok());
        assert_eq!(
            place(&selecting("hdd"), &nodes, &[]),
            Err("0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.".into())
        );
        let affine = |operator: &str, values: &[&str]| {
            let requirement = NodeSelectorRequirement {
                key: "disk".into(),
                operator: operator.into(),
                values: Some(values.iter().map(|value| (*value).into()).collect()),
            };
            let term = NodeSelectorTerm {
                match_expressions: Some(vec![requirement]),
                ..NodeSelectorTerm::default()
            };
            pod("1", None, |spec| {
                spec.affinity = Some(Affinity {
                    node_affinity: Some(NodeAffinity {
                        required_during_scheduling_ignored_during_execution: Some(NodeSelector {
                            node_selector_terms: vec![term],
                        }),
                        ..NodeAffinity::default()
                    }),
                    ..Affinity::default()
                });
            })
        };
        assert!(place(&affine("In", &["ssd", "nvme"]), &nodes, &[]).is_ok());
        assert!(place(&affine("NotIn", &["ssd"]), &nodes, &[]).is_err());
        assert!(place(&affine("DoesNotExist", &[]), &nodes, &[]).is_err());
    }

    #[test]
    fn init_containers_count_by_their_peak() {
        let spec = pod("1", None, |spec| {
            let mut big = spec.containers[0].clone();
            big.resources.as_mut().expect("resources").requests = Some(quantities(&[("cpu", "1500m")]));
            let mut sidecar = spec.containers[0].clone();
            sidecar.restart_policy = Some("Always".into());
            spec.init_containers = Some(vec![big.clone(), big, sidecar]);
        });
        assert_eq!(requests(spec.spec.as_ref().expect("a spec"))["cpu"], 2000);
    }
}
