//! The operating system of a pod, and what only Windows has or has not.

use kubewright_schema::names;

use super::spec::visit_containers;
use crate::validation::Field;

const CREDENTIAL_SPEC_LENGTH: usize = 64 * 1024;
const DOMAIN_LENGTH: usize = 256;
const USER_LENGTH: usize = 104;

/// What a security context of a pod on Windows has not.
const NOT_IN_PODS: [&str; 11] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "runAsUser",
    "runAsGroup",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
];

/// What a security context of a container on Windows has not.
const NOT_IN_CONTAINERS: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// Checks the operating system, and that nothing contradicts it.
pub(super) fn validate_os(spec: Field<'_>) {
    let os = spec.child("os");
    if !os.is_set() {
        return;
    }
    let name = os.child("name");
    match name.text() {
        "" => name.required(""),
        "linux" => validate_linux(spec),
        "windows" => validate_windows(spec),
        other => os.not_supported(other, &["linux", "windows"]),
    }
}

fn validate_linux(spec: Field<'_>) {
    let check = |place: Field<'_>| {
        let options = place.child("securityContext").child("windowsOptions");
        if options.is_set() {
            options.forbidden("windows options cannot be set for a linux pod");
        }
    };
    check(spec);
    visit_containers(spec, check);
}

fn validate_windows(spec: Field<'_>) {
    let forbid = |field: Field<'_>| {
        if field.is_set() && field.bool() != Some(false) {
            field.forbidden("cannot be set for a windows pod");
        }
    };
    let forbid_any = |field: Field<'_>| {
        if field.is_set() {
            field.forbidden("cannot be set for a windows pod");
        }
    };
    let context = spec.child("securityContext");
    for field in NOT_IN_PODS {
        forbid_any(context.child(field));
    }
    forbid_any(spec.child("hostUsers"));
    forbid(spec.child("hostPID"));
    forbid(spec.child("hostIPC"));
    forbid_any(spec.child("shareProcessNamespace"));
    visit_containers(spec, |container| {
        let context = container.child("securityContext");
        for field in NOT_IN_CONTAINERS {
            forbid_any(context.child(field));
        }
    });
}

/// Checks the options of a security context for Windows, if there are any.
pub(super) fn validate_options(options: Field<'_>) {
    if !options.is_set() {
        return;
    }
    let name = options.child("gmsaCredentialSpecName");
    if name.is_set() {
        name.check(names::dns1123_subdomain);
    }
    let spec = options.child("gmsaCredentialSpec");
    if spec.is_set() {
        if spec.is_empty() {
            spec.invalid("", "gmsaCredentialSpec cannot be an empty string");
        } else if spec.text().len() > CREDENTIAL_SPEC_LENGTH {
            spec.invalid(spec.text(), "gmsaCredentialSpec size must be under 64 KiB");
        }
    }
    let user = options.child("runAsUserName");
    if user.is_set() {
        for reason in user_name(user.text()) {
            user.invalid(user.text(), format!("runAsUserName{reason}"));
        }
    }
}

/// What is wrong with `user` or `domain\user`, as the rest of a sentence.
fn user_name(text: &str) -> Vec<String> {
    if text.is_empty() {
        return vec![" cannot be an empty string".to_owned()];
    }
    if text.bytes().any(|byte| byte.is_ascii_control()) {
        return vec![" cannot contain control characters".to_owned()];
    }
    let parts: Vec<&str> = text.split('\\').collect();
    let (domain, user) = match parts.as_slice() {
        [user] => (None, *user),
        [domain, user] => (Some(*domain), *user),
        _ => return vec![" cannot contain more than one backslash".to_owned()],
    };
    let mut reasons = Vec::new();
    if domain.is_some_and(|domain| domain.len() >= DOMAIN_LENGTH) {
        reasons.push(format!("'s Domain length must be under {DOMAIN_LENGTH} characters"));
    }
    if domain.is_some_and(|domain| !is_net_bios_name(domain) && !is_dns_name(domain)) {
        reasons.push("'s Domain doesn't match the NetBios nor the DNS format".to_owned());
    }
    if user.is_empty() {
        reasons.push("'s User cannot be empty".to_owned());
    } else if user.len() > USER_LENGTH {
        reasons.push(format!("'s User length must not be longer than {USER_LENGTH} characters"));
    }
    if !user.is_empty() && user.bytes().all(|byte| byte == b'.' || byte == b' ') {
        reasons.push("'s User cannot contain only periods or spaces".to_owned());
    }
    if user.contains(|c: char| r#""/\:;|=,+*?<>@[]"#.contains(c)) {
        reasons.push(r#"'s User cannot contain the following characters: "/\:;|=,+*?<>@[]"#.to_owned());
    }
    reasons
}

fn is_net_bios_name(domain: &str) -> bool {
    let fits = |c: char| !r#"\/:*?"<>|"#.contains(c);
    (1..=15).contains(&domain.chars().count()) && !domain.starts_with('.') && domain.chars().all(fits)
}

fn is_dns_name(domain: &str) -> bool {
    domain.split('.').all(|label| {
        let bytes = label.as_bytes();
        (1..=63).contains(&bytes.len())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    })
}

/// A container that is a process of the host is among its like, on the host's network.
pub(super) fn validate_host_process(spec: Field<'_>) {
    let of_pod = host_process(spec).bool();
    let (mut count, mut host_count) = (0, 0);
    visit_containers(spec, |container| {
        count += 1;
        let own = host_process(container);
        if let (Some(of_pod), Some(of_container)) = (of_pod, own.bool())
            && of_pod != of_container
        {
            let detail =
                format!("pod hostProcess value must be identical if both are specified, was {of_pod}");
            own.invalid(of_container, detail);
        }
        host_count += usize::from(own.bool().or(of_pod) == Some(true));
    });
    if host_count == 0 {
        return;
    }
    if host_count != count {
        let detail =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        spec.invalid("", detail);
    }
    if !spec.child("hostNetwork").is_true() {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        spec.child("hostNetwork").invalid(false, detail);
    }
}

fn host_process(place: Field<'_>) -> Field<'_> {
    place.child("securityContext").child("windowsOptions").child("hostProcess")
}
