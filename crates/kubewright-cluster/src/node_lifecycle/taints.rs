use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Node, Taint},
    apimachinery::pkg::apis::meta::v1::Time,
};

const EFFECT: &str = "NoSchedule";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// The taint for each condition and its status.
const TAINTS: [(&str, &str, &str); 6] = [
    ("Ready", "False", "node.kubernetes.io/not-ready"),
    ("Ready", "Unknown", "node.kubernetes.io/unreachable"),
    ("MemoryPressure", "True", "node.kubernetes.io/memory-pressure"),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("NetworkUnavailable", "True", "node.kubernetes.io/network-unavailable"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
];

/// The taints that the node is to have, if it has others. Those that say nothing about conditions stay.
pub(super) fn wanted(node: &Node, now: Timestamp) -> Option<Vec<Taint>> {
    let keys = keys(node);
    let has = node.spec.as_ref().and_then(|spec| spec.taints.as_deref()).unwrap_or_default();
    let is_ours = |taint: &Taint| {
        taint.effect == EFFECT
            && (taint.key == UNSCHEDULABLE || TAINTS.iter().any(|(.., key)| *key == taint.key))
    };
    let is_kept = |taint: &&Taint| !is_ours(taint) || keys.contains(&taint.key.as_str());
    let mut taints: Vec<Taint> = has.iter().filter(is_kept).cloned().collect();
    let mut is_changed = taints.len() != has.len();
    for key in keys {
        if !taints.iter().any(|taint| taint.key == key && taint.effect == EFFECT) {
            is_changed = true;
            taints.push(Taint {
                key: key.into(),
                effect: EFFECT.into(),
                time_added: Some(Time(now)),
                ..Taint::default()
            });
        }
    }
    is_changed.then_some(taints)
}

/// The keys of the taints that the node's conditions call for.
fn keys(node: &Node) -> Vec<&'static str> {
    let conditions = node.status.as_ref().and_then(|status| status.conditions.as_deref());
    let mut keys: Vec<_> = conditions
        .unwrap_or_default()
        .iter()
        .filter_map(|condition| {
            let (.., key) = TAINTS
                .iter()
                .find(|(kind, status, _)| *kind == condition.type_ && *status == condition.status)?;
            Some(*key)
        })
        .collect();
    if node.spec.as_ref().and_then(|spec| spec.unschedulable) == Some(true) {
        keys.push(UNSCHEDULABLE);
    }
    keys
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{NodeCondition, NodeSpec, NodeStatus};

    use super::*;

    fn node(ready: &str, unschedulable: bool, taints: &[(&str, &str)]) -> Node {
        let taint = |(key, effect): &(&str, &str)| Taint {
            key: (*key).into(),
            effect: (*effect).into(),
            ..Taint::default()
        };
        let condition =
            NodeCondition { type_: "Ready".into(), status: ready.into(), ..NodeCondition::default() };
        Node {
            spec: Some(NodeSpec {
                unschedulable: Some(unschedulable),
                taints: Some(taints.iter().map(taint).collect()),
                ..NodeSpec::default()
            }),
            status: Some(NodeStatus { conditions: Some(vec![condition]), ..NodeStatus::default() }),
            ..Node::default()
        }
    }

    fn keys_of(node: &Node) -> Option<Vec<String>> {
        let taints = wanted(node, Timestamp::UNIX_EPOCH)?;
        Some(taints.into_iter().map(|taint| format!("{}:{}", taint.key, taint.effect)).collect())
    }

    #[test]
    fn conditions_become_taints() {
        let not_ready = ("node.kubernetes.io/not-ready", "NoSchedule");
        assert_eq!(keys_of(&node("True", false, &[not_ready])), Some(vec![]));
        assert_eq!(keys_of(&node("False", false, &[not_ready])), None);
        assert_eq!(keys_of(&node("True", false, &[])), None);
        let others = [("gpu", "NoSchedule"), ("node.kubernetes.io/not-ready", "NoExecute")];
        assert_eq!(keys_of(&node("True", false, &others)), None);
        assert_eq!(
            keys_of(&node("Unknown", true, &[("gpu", "NoSchedule"), not_ready])),
            Some(vec![
                "gpu:NoSchedule".to_owned(),
                "node.kubernetes.io/unreachable:NoSchedule".to_owned(),
                "node.kubernetes.io/unschedulable:NoSchedule".to_owned(),
            ])
        );
    }
}
