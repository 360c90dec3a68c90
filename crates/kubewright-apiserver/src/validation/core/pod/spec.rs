use kubewright_schema::names;

use super::{
    Kind, Scope, affinity, containers, dns, resources, scheduling, security, tolerations, topology_spread,
    volumes, windows,
};
use crate::validation::{Field, selector};

/// The sorts of containers that a pod has, in the order in which they start.
const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// Checks the spec of a pod, or that of the pods that something makes.
pub(crate) fn validate(spec: Field<'_>, scope: &Scope<'_>) {
    if !spec.child("terminationGracePeriodSeconds").is_set() {
        spec.child("terminationGracePeriodSeconds").required("");
    }
    let volumes = volumes::validate(spec.child("volumes"), scope);
    scheduling::validate_resource_claims(spec.child("resourceClaims"), scope);
    let pod = containers::Pod::new(spec, &volumes, scope);
    containers::validate_containers(spec.child("containers"), &pod);
    containers::validate_init_containers(spec.child("initContainers"), &pod);
    containers::validate_ephemeral_containers(spec.child("ephemeralContainers"), &pod);
    resources::validate_pod_level(spec, &pod.claims);
    validate_host_ports(spec, scope);
    validate_restart_policy(spec.child("restartPolicy"));
    dns::validate_policy(spec.child("dnsPolicy"));
    selector::validate_labels(spec.child("nodeSelector"));
    security::validate_pod_context(spec, spec.child("securityContext"));
    security::validate_shared_processes(spec);
    affinity::validate(spec.child("affinity"));
    dns::validate_config(spec.child("dnsConfig"), spec.child("dnsPolicy").text());
    for gate in spec.child("readinessGates").items() {
        gate.child("conditionType").check(names::label_key);
    }
    scheduling::validate_gates(spec.child("schedulingGates"));
    topology_spread::validate(spec.child("topologySpreadConstraints"));
    windows::validate_host_process(spec);
    security::validate_user_namespace(spec);
    dns::validate_hostname_override(spec);
    validate_names(spec);
    let tolerations = spec.child("tolerations");
    tolerations::validate(tolerations);
    dns::validate_host_aliases(spec.child("hostAliases"));
    let priority_class = spec.child("priorityClassName");
    if !priority_class.is_empty() {
        priority_class.check(names::dns1123_subdomain);
    }
    let runtime_class = spec.child("runtimeClassName");
    if runtime_class.is_set() {
        runtime_class.check(names::dns1123_subdomain);
    }
    validate_preemption_policy(spec.child("preemptionPolicy"));
    let overhead = spec.child("overhead");
    if overhead.is_set() {
        resources::validate_overhead(overhead);
    }
    windows::validate_os(spec);
    containers::validate_file_key_volumes(spec);
}

/// Calls `visit` with each container of the pod, whatever its sort, in the order in which they start.
pub(crate) fn visit_containers<'a>(spec: Field<'a>, mut visit: impl FnMut(Field<'a>)) {
    for sort in CONTAINERS {
        spec.child(sort).items().for_each(&mut visit);
    }
}

fn validate_restart_policy(policy: Field<'_>) {
    if policy.require() {
        policy.one_of(&["Always", "OnFailure", "Never"]);
    }
}

fn validate_preemption_policy(policy: Field<'_>) {
    if policy.is_set() && policy.require() {
        policy.one_of(&["PreemptLowerPriority", "Never"]);
    }
}

/// On the host's network, a port of a container is that of the host.
fn validate_host_ports(spec: Field<'_>, scope: &Scope<'_>) {
    if !spec.child("hostNetwork").is_true() {
        return;
    }
    for container in spec.child("containers").items() {
        for port in container.child("ports").items() {
            let host_port = port.child("hostPort");
            let (number, own) = (host_port.number(), port.child("containerPort").number());
            // The pods of a template get the host's port when they are made.
            if (scope.kind == Kind::Pod || number != 0) && number != own {
                host_port.invalid(number, "must match `containerPort` when `hostNetwork` is true");
            }
        }
    }
}

/// Names of other objects, and those of the pod in DNS.
fn validate_names(spec: Field<'_>) {
    let account = spec.child("serviceAccountName");
    if !account.is_empty() {
        account.check(names::dns1123_subdomain);
    }
    let old_account = spec.child("serviceAccount").text();
    if old_account != account.text() {
        let detail = format!("must be the same as serviceAccountName: {:?}", account.text());
        spec.at("deprecatedServiceAccount").invalid(old_account, detail);
    }
    let node = spec.child("nodeName");
    if !node.is_empty() {
        node.check(names::dns1123_subdomain);
    }
    spec.child("activeDeadlineSeconds").in_range(1..=i64::from(i32::MAX));
    for name in [spec.child("hostname"), spec.child("subdomain")] {
        if !name.is_empty() {
            name.check(names::dns1123_label);
        }
    }
}
