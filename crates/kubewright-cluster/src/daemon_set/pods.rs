use k8s_openapi::api::{
    apps::v1::DaemonSet,
    core::v1::{Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod, PodSpec, Toleration},
};
use kube::ResourceExt;

use crate::{ownership, pod_template::template_hash, scheduler};

/// The revision of the template that a pod was made of.
const REVISION: &str = "controller-revision-hash";
const NAME_FIELD: &str = "metadata.name";

/// What pods of a DaemonSet put up with besides what their template says: a daemon is there in bad times too.
const TOLERATED: [(&str, &str); 6] = [
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
];

/// The revision of the set's template.
pub(super) fn revision(set: &DaemonSet) -> String {
    template_hash(&set.spec.template, set.status.as_ref().and_then(|status| status.collision_count))
}

/// Whether a pod was made of the template with this revision.
pub(super) fn is_of(pod: &Pod, revision: &str) -> bool {
    pod.metadata.labels.as_ref().and_then(|labels| labels.get(REVISION)).is_some_and(|own| own == revision)
}

/// Whether the node is one for pods of the set.
pub(super) fn fits(set: &DaemonSet, node: &Node) -> bool {
    let mut pod = Pod { spec: set.spec.template.spec.clone(), ..Pod::default() };
    tolerate(pod.spec.get_or_insert_default());
    scheduler::admits(&pod, node)
}

/// The node that a pod is on, or is to be on.
pub(super) fn node_of(pod: &Pod) -> Option<&str> {
    let spec = pod.spec.as_ref()?;
    if let Some(node) = spec.node_name.as_deref().filter(|node| !node.is_empty()) {
        return Some(node);
    }
    let affinity = spec.affinity.as_ref()?.node_affinity.as_ref()?;
    let required = affinity.required_during_scheduling_ignored_during_execution.as_ref()?;
    let fields = required.node_selector_terms.iter().flat_map(|term| term.match_fields.iter().flatten());
    let named =
        fields.filter(|field| field.key == NAME_FIELD).find_map(|field| field.values.as_ref()?.first());
    named.map(String::as_str)
}

/// The pod for a node.
pub(super) fn new_pod(set: &DaemonSet, node: &str) -> Pod {
    let template = set.spec.template.clone();
    let meta = template.metadata.unwrap_or_default();
    let mut pod = Pod { spec: template.spec, ..Pod::default() };
    let mut labels = meta.labels.unwrap_or_default();
    labels.insert(REVISION.into(), revision(set));
    pod.metadata.generate_name = Some(format!("{}-", set.name_any()));
    pod.metadata.namespace = set.namespace();
    pod.metadata.labels = Some(labels);
    pod.metadata.annotations = meta.annotations;
    pod.metadata.finalizers = meta.finalizers;
    pod.metadata.owner_references = Some(vec![ownership::controller_reference(set)]);
    let spec = pod.spec.get_or_insert_default();
    tolerate(spec);
    bind(spec, node);
    pod
}

/// Adds the node's name to every required term: the scheduler has no choice but that node.
fn bind(spec: &mut PodSpec, node: &str) {
    let by_name = NodeSelectorRequirement {
        key: NAME_FIELD.into(),
        operator: "In".into(),
        values: Some(vec![node.into()]),
    };
    let affinity = spec.affinity.get_or_insert_default().node_affinity.get_or_insert_default();
    let required: &mut NodeSelector =
        affinity.required_during_scheduling_ignored_during_execution.get_or_insert_default();
    if required.node_selector_terms.is_empty() {
        required.node_selector_terms.push(NodeSelectorTerm::default());
    }
    for term in &mut required.node_selector_terms {
        term.match_fields = Some(vec![by_name.clone()]);
    }
}

fn tolerate(spec: &mut PodSpec) {
    let tolerations = spec.tolerations.get_or_insert_default();
    for (key, effect) in TOLERATED {
        let toleration = Toleration {
            key: Some(key.into()),
            operator: Some("Exists".into()),
            effect: Some(effect.into()),
            ..Toleration::default()
        };
        if !tolerations.contains(&toleration) {
            tolerations.push(toleration);
        }
    }
}
