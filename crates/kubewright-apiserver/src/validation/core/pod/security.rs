//! What pods and containers may do: security contexts.

use super::{containers::Pod, spec::visit_containers, windows};
use crate::validation::{Field, file_path};

/// The ids of users and groups.
pub(super) const IDS: std::ops::RangeInclusive<i64> = 0..=i32::MAX as i64;

const PROFILE_LENGTH: usize = 4095;
const SYSCTL_LENGTH: usize = 253;

/// The parameters of the kernel that each namespace of interprocess communication has of its own, besides message queues.
const IPC_SYSCTLS: [&str; 10] = [
    "kernel.sem",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
    "kernel.shm_rmid_forced",
    "kernel.shm",
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.msg",
];

pub(super) fn validate_pod_context(spec: Field<'_>, context: Field<'_>) {
    if !context.is_set() {
        return;
    }
    for id in ["fsGroup", "runAsUser", "runAsGroup"] {
        context.child(id).in_range(IDS);
    }
    context.child("supplementalGroups").items().for_each(|group| group.in_range(IDS));
    validate_sysctls(context.child("sysctls"), spec);
    let policy = context.child("fsGroupChangePolicy");
    if policy.is_set() {
        policy.one_of(&["Always", "OnRootMismatch"]);
    }
    validate_seccomp_profile(context.child("seccompProfile"));
    windows::validate_options(context.child("windowsOptions"));
    validate_app_armor_profile(context.child("appArmorProfile"));
    let policy = context.child("supplementalGroupsPolicy");
    if policy.is_set() {
        policy.one_of(&["Merge", "Strict"]);
    }
    let policy = context.child("seLinuxChangePolicy");
    if policy.is_set() {
        policy.one_of(&["MountOption", "Recursive"]);
    }
}

pub(super) fn validate_container_context(context: Field<'_>, pod: &Pod<'_>) {
    if !context.is_set() {
        return;
    }
    context.child("runAsUser").in_range(IDS);
    context.child("runAsGroup").in_range(IDS);
    let mount = context.child("procMount");
    if mount.is_set() {
        mount.one_of(&["Default", "Unmasked"]);
        if mount.text() == "Unmasked" && !is_in_user_namespace(pod.spec) {
            mount.invalid(mount.text(), "`hostUsers` must be false to use `Unmasked`");
        }
    }
    validate_seccomp_profile(context.child("seccompProfile"));
    if context.child("allowPrivilegeEscalation").bool() == Some(false) {
        if context.child("privileged").is_true() {
            let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
            context.invalid_as("core.SecurityContext", detail);
        }
        let added = context.child("capabilities").child("add").list();
        if !pod.scope.allows_sys_admin {
            for _ in added.iter().filter(|capability| *capability == "CAP_SYS_ADMIN") {
                let detail =
                    "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
                context.invalid_as("core.SecurityContext", detail);
            }
        }
    }
    windows::validate_options(context.child("windowsOptions"));
    validate_app_armor_profile(context.child("appArmorProfile"));
}

/// Whether a container has a capability that one without new privileges must not have. Objects from before this was
/// checked may keep it.
pub(super) fn has_sys_admin(spec: Field<'_>) -> bool {
    let mut found = false;
    visit_containers(spec, |container| {
        let context = container.child("securityContext");
        let added = context.child("capabilities").child("add").list();
        found |= !context.child("allowPrivilegeEscalation").is_true()
            && added.iter().any(|capability| capability == "CAP_SYS_ADMIN");
    });
    found
}

pub(super) fn validate_shared_processes(spec: Field<'_>) {
    let shared = spec.child("shareProcessNamespace");
    if shared.is_true() && spec.child("hostPID").is_true() {
        shared.invalid(true, "ShareProcessNamespace and HostPID cannot both be enabled");
    }
}

/// A pod with users of its own shares nothing else with the host.
pub(super) fn validate_user_namespace(spec: Field<'_>) {
    const DETAIL: &str = "when `hostUsers` is false";
    if !is_in_user_namespace(spec) {
        return;
    }
    for (field, place) in [("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if spec.child(field).is_true() {
            spec.at(place).forbidden(DETAIL);
        }
    }
    visit_containers(spec, |container| {
        if !container.child("volumeDevices").is_empty() {
            container.child("volumeDevices").forbidden(DETAIL);
        }
    });
}

fn is_in_user_namespace(spec: Field<'_>) -> bool {
    spec.child("hostUsers").bool() == Some(false)
}

fn validate_sysctls(sysctls: Field<'_>, spec: Field<'_>) {
    let mut seen = std::collections::BTreeSet::new();
    for sysctl in sysctls.items() {
        let name = sysctl.child("name");
        if name.require() {
            if !is_sysctl(name.text()) {
                let detail = format!(
                    "must have at most {SYSCTL_LENGTH} characters and match regex \
                     ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"
                );
                name.invalid(name.text(), detail);
            } else if seen.contains(name.text()) {
                name.duplicate(name.text());
            }
        }
        seen.insert(name.text());
        let normal = normal_sysctl(name.text());
        let is_ipc = IPC_SYSCTLS.contains(&normal.as_str()) || normal.starts_with("fs.mqueue.");
        if spec.child("hostNetwork").is_true() && normal.starts_with("net.") {
            name.invalid(name.text(), "may not be specified when 'hostNetwork' is true");
        } else if spec.child("hostIPC").is_true() && is_ipc {
            name.invalid(name.text(), "may not be specified when 'hostIPC' is true");
        }
    }
}

/// The name with dots between its parts. The first separator tells which character separates.
fn normal_sysctl(name: &str) -> String {
    match name.find(['.', '/']).and_then(|at| name.as_bytes().get(at)) {
        Some(b'/') => {
            let swap = |c| match c {
                '/' => '.',
                '.' => '/',
                c => c,
            };
            name.chars().map(swap).collect()
        }
        _ => name.to_owned(),
    }
}

fn is_sysctl(name: &str) -> bool {
    let is_end = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let is_segment = |segment: &str| {
        let bytes = segment.as_bytes();
        bytes.first().is_some_and(is_end)
            && bytes.last().is_some_and(is_end)
            && bytes.iter().all(|byte| is_end(byte) || matches!(byte, b'-' | b'_'))
    };
    name.len() <= SYSCTL_LENGTH && name.split(['.', '/']).all(is_segment)
}

fn validate_seccomp_profile(profile: Field<'_>) {
    if !profile.is_set() {
        return;
    }
    let (kind, file) = (profile.child("type"), profile.child("localhostProfile"));
    if kind.require_or("type is required when seccompProfile is set") {
        kind.one_of(&["Localhost", "RuntimeDefault", "Unconfined"]);
    }
    match (kind.text() == "Localhost", file.is_set()) {
        (true, false) => file.required("must be set when seccomp type is Localhost"),
        (true, true) => file_path::validate_descending(file),
        (false, true) => file
            .with(profile.value())
            .invalid_as("core.SeccompProfile", "can only be set when seccomp type is Localhost"),
        (false, false) => {}
    }
}

/// Checks a profile of AppArmor, if there is one.
pub(super) fn validate_app_armor_profile(profile: Field<'_>) {
    const REQUIRED: &str = "must be set when AppArmor type is Localhost";
    if !profile.is_set() {
        return;
    }
    let (kind, name) = (profile.child("type"), profile.child("localhostProfile"));
    match kind.text() {
        "Localhost" if !name.is_set() => name.required(REQUIRED),
        "Localhost" => {
            if name.text().trim() != name.text() {
                name.invalid(name.text(), "must not be padded with whitespace");
            } else {
                name.require_or(REQUIRED);
            }
            if name.text().len() > PROFILE_LENGTH {
                name.too_long(4095);
            }
        }
        "RuntimeDefault" | "Unconfined" => {
            if name.is_set() {
                name.invalid(name.text(), "can only be set when AppArmor type is Localhost");
            }
        }
        "" => kind.required("type is required when appArmorProfile is set"),
        other => kind.not_supported(other, &["Localhost", "RuntimeDefault", "Unconfined"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_sysctls() {
        assert!(is_sysctl("net.ipv4.ip_forward") && is_sysctl("net/ipv4/conf/eth0.1/x"));
        assert!(!is_sysctl("") && !is_sysctl("a..b") && !is_sysctl("A") && !is_sysctl("a-"));
        assert_eq!(normal_sysctl("net/ipv4/eth0.1"), "net.ipv4.eth0/1");
        assert_eq!(normal_sysctl("net.ipv4.eth0/1"), "net.ipv4.eth0/1");
    }
}
