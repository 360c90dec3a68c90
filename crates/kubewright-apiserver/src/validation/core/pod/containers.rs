//! What all containers, or those of one sort, must be.

use std::collections::BTreeSet;

use kubewright_schema::names;

use super::{
    Scope, environment, mounts, probes, resources, security, spec::visit_containers, volumes::Volumes,
};
use crate::validation::{Field, port::PORTS};

const RESTART_RULES: usize = 20;
const EXIT_CODES: usize = 255;

/// What containers must know of their pod.
pub(crate) struct Pod<'a> {
    pub(super) spec: Field<'a>,
    pub(super) volumes: &'a Volumes<'a>,
    pub(super) scope: &'a Scope<'a>,
    /// The names of the pod's resource claims.
    pub(super) claims: BTreeSet<&'a str>,
}

impl<'a> Pod<'a> {
    pub(super) fn new(spec: Field<'a>, volumes: &'a Volumes<'a>, scope: &'a Scope<'a>) -> Self {
        let claims = spec.child("resourceClaims").items().map(|claim| claim.child("name").text());
        Self { spec, volumes, scope, claims: claims.filter(|name| !name.is_empty()).collect() }
    }

    /// How many seconds containers have to end.
    pub(super) fn grace_period(&self) -> Option<i64> {
        self.spec.child("terminationGracePeriodSeconds").int()
    }

    fn names(&self, sort: &'static str) -> impl Iterator<Item = &'a str> {
        self.spec.child(sort).items().map(|container| container.child("name").text())
    }
}

pub(super) fn validate_containers(containers: Field<'_>, pod: &Pod<'_>) {
    if containers.is_empty() {
        return containers.required("");
    }
    let mut names = BTreeSet::new();
    for container in containers.items() {
        validate_common(container, pod);
        let name = container.child("name");
        if !names.insert(name.text()) {
            name.duplicate(name.text());
        }
        probes::validate(container, pod);
        validate_restart_policy(container);
    }
    validate_host_port_conflicts(containers.items());
}

pub(super) fn validate_init_containers(containers: Field<'_>, pod: &Pod<'_>) {
    let mut names: BTreeSet<&str> = pod.names("containers").collect();
    for container in containers.items() {
        validate_common(container, pod);
        if container.child("restartPolicy").is_set() {
            validate_restart_policy(container);
        } else if !container.child("restartPolicyRules").is_empty() {
            container
                .child("restartPolicy")
                .required("must specify restartPolicy when restart rules are used");
        }
        let name = container.child("name");
        if names.contains(name.text()) {
            name.duplicate(name.text());
        } else if !name.is_empty() {
            names.insert(name.text());
        }
        // One runs after the other, so each may have all ports.
        validate_host_port_conflicts(std::iter::once(container));
        if is_sidecar(container) {
            probes::validate(container, pod);
            continue;
        }
        for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if container.child(field).is_set() {
                let detail = "may not be set for init containers without restartPolicy=Always";
                container.child(field).forbidden(detail);
            }
        }
        for policy in container.child("resizePolicy").items() {
            let policy = policy.child("restartPolicy");
            if policy.text() == "RestartContainer" {
                let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
                policy.invalid(policy.text(), detail);
            }
        }
    }
}

pub(super) fn validate_ephemeral_containers(containers: Field<'_>, pod: &Pod<'_>) {
    const FORBIDDEN: [&str; 9] = [
        "ports",
        "resources",
        "resizePolicy",
        "restartPolicy",
        "restartPolicyRules",
        "livenessProbe",
        "readinessProbe",
        "startupProbe",
        "lifecycle",
    ];
    const DETAIL: &str = "cannot be set for an Ephemeral Container";
    let others: BTreeSet<&str> = pod.names("containers").chain(pod.names("initContainers")).collect();
    let mut names = others.clone();
    for container in containers.items() {
        validate_common(container, pod);
        validate_image_of_pod(container);
        let name = container.child("name");
        if !names.insert(name.text()) {
            name.duplicate(name.text());
        }
        let target = container.child("targetContainerName");
        if !target.is_empty() && !others.contains(target.text()) {
            target.not_found(target.text());
        }
        for field in FORBIDDEN {
            let value = container.child(field);
            // Resources are there in any case.
            if value.is_set() && !(field == "resources" && value.is_empty()) {
                value.forbidden(DETAIL);
            }
        }
        for mount in container.child("volumeMounts").items() {
            for path in [mount.child("subPath"), mount.child("subPathExpr")] {
                if !path.is_empty() {
                    path.forbidden(DETAIL);
                }
            }
        }
    }
}

/// An init container that goes on beside the others.
pub(super) fn is_sidecar(container: Field<'_>) -> bool {
    container.child("restartPolicy").text() == "Always"
}

/// A pod, other than a template, has no image with spaces around it.
pub(super) fn validate_image_of_pod(container: Field<'_>) {
    let image = container.child("image");
    if image.text().trim() != image.text() {
        image.invalid(image.text(), "must not have leading or trailing whitespace");
    }
}

/// Variables that come from a file need an empty directory that the file is in.
pub(super) fn validate_file_key_volumes(spec: Field<'_>) {
    visit_containers(spec, |container| {
        for variable in container.child("env").items() {
            let source = variable.child("valueFrom").child("fileKeyRef");
            if !source.is_set() {
                continue;
            }
            let name = source.child("volumeName");
            // Of several volumes with the name, the last one counts.
            let mut volumes = spec.child("volumes").items().rev();
            match volumes.find(|volume| volume.child("name").text() == name.text()) {
                None => name.not_found(name.text()),
                Some(volume) if volume.child("emptyDir").is_set() => {}
                Some(_) => name.invalid(name.text(), "referenced volume must be of type emptyDir"),
            }
        }
    });
}

/// What holds for containers of every sort.
fn validate_common(container: Field<'_>, pod: &Pod<'_>) {
    let name = container.child("name");
    if name.require() {
        name.check(names::dns1123_label);
    }
    container.child("image").require();
    let policy = container.child("terminationMessagePolicy");
    if policy.require() {
        policy.one_of(&["File", "FallbackToLogsOnError"]);
    }
    validate_ports(container.child("ports"));
    environment::validate(container.child("env"));
    environment::validate_sources(container.child("envFrom"));
    mounts::validate_mounts(container, pod.volumes);
    mounts::validate_devices(container, pod.volumes);
    validate_pull_policy(container.child("imagePullPolicy"));
    resources::validate_container(container.child("resources"), &pod.claims);
    validate_resize_policy(container.child("resizePolicy"), pod.spec.child("restartPolicy").text());
    security::validate_container_context(container.child("securityContext"), pod);
}

/// Checks when an image is pulled.
pub(super) fn validate_pull_policy(policy: Field<'_>) {
    if policy.require() {
        policy.one_of(&["Always", "IfNotPresent", "Never"]);
    }
}

fn validate_ports(ports: Field<'_>) {
    let mut port_names = BTreeSet::new();
    for port in ports.items() {
        let name = port.child("name");
        if !name.is_empty() {
            let before = name.report().len();
            name.check(names::port_name);
            if name.report().len() == before && !port_names.insert(name.text()) {
                name.duplicate(name.text());
            }
        }
        let number = port.child("containerPort");
        if number.number() == 0 {
            number.required("");
        } else {
            number.in_range(PORTS);
        }
        let host_port = port.child("hostPort");
        if host_port.number() != 0 {
            host_port.in_range(PORTS);
        }
        let protocol = port.child("protocol");
        if protocol.require() {
            protocol.one_of(&["SCTP", "TCP", "UDP"]);
        }
    }
}

/// No two containers that run at the same time may have one port of the host.
fn validate_host_port_conflicts<'a>(containers: impl Iterator<Item = Field<'a>>) {
    let mut taken = BTreeSet::new();
    for container in containers {
        for port in container.child("ports").items() {
            let host_port = port.child("hostPort");
            if host_port.number() == 0 {
                continue;
            }
            let (protocol, ip) = (port.child("protocol").text(), port.child("hostIP").text());
            if !taken.insert((protocol, ip, host_port.number())) {
                host_port.duplicate(format!("{protocol}/{ip}/{}", host_port.number()));
            }
        }
    }
}

fn validate_resize_policy(policies: Field<'_>, restart_policy: &str) {
    let mut resources = BTreeSet::new();
    for policy in policies.items() {
        let resource = policy.child("resourceName").text();
        if !resources.insert(resource) {
            policy.duplicate(resource);
        }
        // The faults of an entry are reported at the list.
        match resource {
            "cpu" | "memory" => {}
            "" => policies.required(""),
            _ => policies.not_supported(resource, &["cpu", "memory"]),
        }
        let policy = policy.child("restartPolicy").text();
        match policy {
            "NotRequired" | "RestartContainer" => {}
            "" => policies.required(""),
            _ => policies.not_supported(policy, &["NotRequired", "RestartContainer"]),
        }
        if restart_policy == "Never" && policy != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            policies.invalid(policy, detail);
        }
    }
}

/// When a container starts anew, whatever its pod says.
fn validate_restart_policy(container: Field<'_>) {
    let (policy, rules) = (container.child("restartPolicy"), container.child("restartPolicyRules"));
    if policy.is_set() {
        policy.one_of(&["Always", "Never", "OnFailure"]);
    } else if rules.is_empty() {
        return;
    } else {
        policy.required("must specify restartPolicy when restart rules are used");
    }
    if rules.len() > RESTART_RULES {
        rules.too_many(RESTART_RULES);
    }
    for rule in rules.items() {
        rule.child("action").one_of(&["Restart", "RestartAllContainers"]);
        let codes = rule.child("exitCodes");
        if !codes.is_set() {
            codes.required("must be specified");
            continue;
        }
        codes.child("operator").one_of(&["In", "NotIn"]);
        if codes.child("values").len() > EXIT_CODES {
            codes.child("values").too_many(EXIT_CODES);
        }
    }
}
