//! What no pod needs that does not administer its node.

use std::collections::BTreeSet;

use kubewright_schema::error::go;
use serde_json::Value;

use super::pod::{Pod, Violation, containers, name, plural, quoted, quoted_set, security, setters};

const CAPABILITIES: [&str; 13] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// In the order in which versions have added them.
const SYSCTLS: [&str; 14] = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_notsent_lowat",
];

/// The items of a list that are strings.
fn texts<'a>(value: &'a Value) -> impl Iterator<Item = &'a str> + use<'a> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn annotations<'a>(pod: &Pod<'a>) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
    let own = pod.metadata["annotations"].as_object();
    own.into_iter().flatten().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
}

pub(super) fn app_armor(pod: &Pod<'_>) -> Option<Violation> {
    const ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
    let mut values: BTreeSet<&str> = BTreeSet::new();
    let (is_pod, names) = with_profile(pod, "appArmorProfile", &mut values);
    let is_allowed =
        |value: &str| value.is_empty() || value == "runtime/default" || value.starts_with("localhost/");
    let forbidden: Vec<String> = annotations(pod)
        .filter(|(key, value)| key.starts_with(ANNOTATION) && !is_allowed(value))
        .map(|(key, value)| format!("{key}={}", go::quote(value)))
        .collect();
    let mut by = Vec::new();
    if is_pod || !names.is_empty() {
        by.push(setters(is_pod, &names));
    }
    if !forbidden.is_empty() {
        by.push(plural("annotation", forbidden.len()));
    }
    if by.is_empty() {
        return None;
    }
    let values: Vec<&str> = values.into_iter().chain(forbidden.iter().map(String::as_str)).collect();
    let reason = format!("forbidden AppArmor {}", plural("profile", values.len()));
    let by = by.join(" and ");
    Some(Violation::new(reason, format!("{by} must not set AppArmor profile type to {}", quoted(values))))
}

/// Whether the pod, and which of its containers, set a profile that is neither that of the runtime nor one of the node.
fn with_profile<'a>(pod: &Pod<'a>, field: &str, values: &mut BTreeSet<&'a str>) -> (bool, Vec<&'a str>) {
    let mut is_bad = |holder: &'a Value| {
        let profile = &holder[field];
        let kind = profile["type"].as_str().unwrap_or_default();
        let is_bad = profile.is_object() && !matches!(kind, "RuntimeDefault" | "Localhost");
        if is_bad {
            values.insert(kind);
        }
        is_bad
    };
    let is_pod = is_bad(pod.security());
    (is_pod, pod.containers_that(|container| is_bad(security(container))))
}

pub(super) fn capabilities(pod: &Pod<'_>) -> Option<Violation> {
    let mut added: BTreeSet<&str> = BTreeSet::new();
    let names = pod.containers_that(|container| {
        let count = added.len();
        let bad =
            || texts(&security(container)["capabilities"]["add"]).filter(|own| !CAPABILITIES.contains(own));
        added.extend(bad());
        added.len() > count || bad().next().is_some()
    });
    (!names.is_empty()).then(|| {
        let (by, added) = (containers(&names), quoted_set(&added));
        let detail = format!("{by} must not include {added} in securityContext.capabilities.add");
        Violation::new("non-default capabilities", detail)
    })
}

pub(super) fn host_namespaces(pod: &Pod<'_>) -> Option<Violation> {
    let fields = ["hostNetwork", "hostPID", "hostIPC"].into_iter().filter(|field| pod.spec[*field] == true);
    let set: Vec<String> = fields.map(|field| format!("{field}=true")).collect();
    (!set.is_empty()).then(|| Violation::new("host namespaces", set.join(", ")))
}

pub(super) fn host_path_volumes(pod: &Pod<'_>) -> Option<Violation> {
    let volumes = pod.spec["volumes"].as_array().into_iter().flatten();
    let names: Vec<&str> = volumes.filter(|volume| volume["hostPath"].is_object()).map(name).collect();
    (!names.is_empty()).then(|| {
        let detail = format!("{} {}", plural("volume", names.len()), quoted(names.iter().copied()));
        Violation::new("hostPath volumes", detail)
    })
}

pub(super) fn host_ports(pod: &Pod<'_>) -> Option<Violation> {
    let mut ports: BTreeSet<String> = BTreeSet::new();
    let names = pod.containers_that(|container| {
        let own = container["ports"].as_array().into_iter().flatten();
        let own: Vec<i64> =
            own.filter_map(|port| port["hostPort"].as_i64()).filter(|port| *port != 0).collect();
        ports.extend(own.iter().map(i64::to_string));
        !own.is_empty()
    });
    (!names.is_empty()).then(|| {
        let verb = if names.len() == 1 { "uses" } else { "use" };
        let title = plural("hostPort", ports.len());
        let ports = ports.into_iter().collect::<Vec<_>>().join(", ");
        Violation::new("hostPort", format!("{} {verb} {title} {ports}", containers(&names)))
    })
}

pub(super) fn probe_hosts(pod: &Pod<'_>) -> Option<Violation> {
    let (mut names, mut hosts): (BTreeSet<&str>, BTreeSet<&str>) = (BTreeSet::new(), BTreeSet::new());
    for container in pod.containers() {
        let probes = ["livenessProbe", "readinessProbe", "startupProbe"].map(|probe| &container[probe]);
        let handlers = ["postStart", "preStop"].map(|handler| &container["lifecycle"][handler]);
        for handler in probes.into_iter().chain(handlers) {
            for action in ["httpGet", "tcpSocket"] {
                if let Some(host) = handler[action]["host"].as_str().filter(|host| !host.is_empty()) {
                    hosts.insert(host);
                    names.insert(name(container));
                }
            }
        }
    }
    (!names.is_empty()).then(|| {
        let names: Vec<&str> = names.into_iter().collect();
        let verb = if names.len() == 1 { "uses" } else { "use" };
        let title = plural("probe or lifecycle host", hosts.len());
        let detail = format!("{} {verb} {title} {}", containers(&names), quoted_set(&hosts));
        Violation::new("probe or lifecycle host", detail)
    })
}

pub(super) fn privileged(pod: &Pod<'_>) -> Option<Violation> {
    let names = pod.containers_that(|container| security(container)["privileged"] == true);
    (!names.is_empty()).then(|| {
        let detail = format!("{} must not set securityContext.privileged=true", containers(&names));
        Violation::new("privileged", detail)
    })
}

pub(super) fn proc_mount(pod: &Pod<'_>) -> Option<Violation> {
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    let names = pod.containers_that(|container| {
        let kind = security(container)["procMount"].as_str().filter(|kind| *kind != "Default");
        kinds.extend(kind);
        kind.is_some()
    });
    (!names.is_empty()).then(|| {
        let (by, kinds) = (containers(&names), quoted_set(&kinds));
        Violation::new("procMount", format!("{by} must not set securityContext.procMount to {kinds}"))
    })
}

pub(super) fn proc_mount_of_own_users(pod: &Pod<'_>) -> Option<Violation> {
    if pod.has_own_users() { None } else { proc_mount(pod) }
}

pub(super) fn selinux(pod: &Pod<'_>) -> Option<Violation> {
    selinux_with(pod, &["", "container_t", "container_init_t", "container_kvm_t"])
}

pub(super) fn selinux_1_31(pod: &Pod<'_>) -> Option<Violation> {
    selinux_with(pod, &["", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"])
}

fn selinux_with<'a>(pod: &Pod<'a>, allowed: &[&str]) -> Option<Violation> {
    let mut kinds: BTreeSet<&str> = BTreeSet::new();
    let (mut has_user, mut has_role) = (false, false);
    let mut is_bad = |holder: &'a Value| {
        let text = |field: &str| holder["seLinuxOptions"][field].as_str().unwrap_or_default();
        let (kind, user, role) = (text("type"), !text("user").is_empty(), !text("role").is_empty());
        let is_kind_bad = !allowed.contains(&kind);
        if is_kind_bad {
            kinds.insert(kind);
        }
        has_user |= user;
        has_role |= role;
        is_kind_bad || user || role
    };
    let is_pod = is_bad(pod.security());
    let names = pod.containers_that(|container| is_bad(security(container)));
    if !is_pod && names.is_empty() {
        return None;
    }
    let mut problems = Vec::new();
    if !kinds.is_empty() {
        problems.push(format!("{} {}", plural("type", kinds.len()), quoted_set(&kinds)));
    }
    if has_user {
        problems.push("user may not be set".to_owned());
    }
    if has_role {
        problems.push("role may not be set".to_owned());
    }
    let (by, problems) = (setters(is_pod, &names), problems.join("; "));
    let detail = format!("{by} set forbidden securityContext.seLinuxOptions: {problems}");
    Some(Violation::new("seLinuxOptions", detail))
}

pub(super) fn seccomp_annotations(pod: &Pod<'_>) -> Option<Violation> {
    const OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
    const OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
    let is_allowed = |value: &str| {
        matches!(value, "runtime/default" | "docker/default") || value.starts_with("localhost/")
    };
    let is_own = |key: &str| {
        let container = key.strip_prefix(OF_CONTAINER);
        key == OF_POD || container.is_some_and(|own| pod.containers().any(|container| name(container) == own))
    };
    let forbidden: BTreeSet<String> = annotations(pod)
        .filter(|(key, value)| is_own(key) && !is_allowed(value))
        .map(|(key, value)| format!("{key}={}", go::quote(value)))
        .collect();
    (!forbidden.is_empty()).then(|| {
        let title = plural("annotation", forbidden.len());
        let forbidden = forbidden.into_iter().collect::<Vec<_>>().join(", ");
        Violation::new("seccompProfile", format!("forbidden {title} {forbidden}"))
    })
}

pub(super) fn seccomp(pod: &Pod<'_>) -> Option<Violation> {
    let mut values: BTreeSet<&str> = BTreeSet::new();
    let (is_pod, names) = with_profile(pod, "seccompProfile", &mut values);
    (is_pod || !names.is_empty()).then(|| {
        let (by, values) = (setters(is_pod, &names), quoted_set(&values));
        let detail = format!("{by} must not set securityContext.seccompProfile.type to {values}");
        Violation::new("seccompProfile", detail)
    })
}

pub(super) fn sysctls(pod: &Pod<'_>) -> Option<Violation> {
    sysctls_with(pod, 5)
}

pub(super) fn sysctls_1_27(pod: &Pod<'_>) -> Option<Violation> {
    sysctls_with(pod, 6)
}

pub(super) fn sysctls_1_29(pod: &Pod<'_>) -> Option<Violation> {
    sysctls_with(pod, 10)
}

pub(super) fn sysctls_1_32(pod: &Pod<'_>) -> Option<Violation> {
    sysctls_with(pod, 12)
}

pub(super) fn sysctls_1_37(pod: &Pod<'_>) -> Option<Violation> {
    sysctls_with(pod, SYSCTLS.len())
}

/// Allows the first so many.
fn sysctls_with(pod: &Pod<'_>, allowed: usize) -> Option<Violation> {
    let own = pod.security()["sysctls"].as_array().into_iter().flatten().map(name);
    let forbidden: Vec<&str> =
        own.filter(|own| !SYSCTLS.iter().take(allowed).any(|known| known == own)).collect();
    (!forbidden.is_empty()).then(|| Violation::new("forbidden sysctls", forbidden.join(", ")))
}

pub(super) fn windows_host_process(pod: &Pod<'_>) -> Option<Violation> {
    let is_set = |holder: &Value| holder["windowsOptions"]["hostProcess"] == true;
    let is_pod = is_set(pod.security());
    let names = pod.containers_that(|container| is_set(security(container)));
    (is_pod || !names.is_empty()).then(|| {
        let by = setters(is_pod, &names);
        Violation::new(
            "hostProcess",
            format!("{by} must not set securityContext.windowsOptions.hostProcess=true"),
        )
    })
}
