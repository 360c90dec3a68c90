//! What a pod has to do to be as harmless as can be.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    baseline,
    pod::{Pod, Violation, containers, name, plural, quoted, quoted_set, security, setters},
};

/// The kinds of volumes that are allowed.
const VOLUMES: [&str; 9] = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
];

/// Those that are not.
const OTHER_VOLUMES: [&str; 21] = [
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
];

pub(super) fn privilege_escalation(pod: &Pod<'_>) -> Option<Violation> {
    let names = pod.containers_that(|container| security(container)["allowPrivilegeEscalation"] != false);
    (!names.is_empty()).then(|| {
        let by = containers(&names);
        let detail = format!("{by} must set securityContext.allowPrivilegeEscalation=false");
        Violation::new("allowPrivilegeEscalation != false", detail)
    })
}

pub(super) fn privilege_escalation_1_25(pod: &Pod<'_>) -> Option<Violation> {
    if pod.is_of_windows() { None } else { privilege_escalation(pod) }
}

pub(super) fn capabilities(pod: &Pod<'_>) -> Option<Violation> {
    let list = |container: &'_ Value, field: &str| {
        let own = security(container)["capabilities"][field].as_array().cloned();
        own.unwrap_or_default()
    };
    let keeping = pod.containers_that(|container| !list(container, "drop").iter().any(|own| own == "ALL"));
    let mut added: BTreeSet<String> = BTreeSet::new();
    let adding = pod.containers_that(|container| {
        let own = list(container, "add");
        let bad: Vec<&str> =
            own.iter().filter_map(Value::as_str).filter(|own| *own != "NET_BIND_SERVICE").collect();
        added.extend(bad.iter().map(|own| (*own).to_owned()));
        !bad.is_empty()
    });
    let mut details = Vec::new();
    if !keeping.is_empty() {
        details
            .push(format!("{} must set securityContext.capabilities.drop=[\"ALL\"]", containers(&keeping)));
    }
    if !adding.is_empty() {
        let (by, added) = (containers(&adding), quoted(added.iter().map(String::as_str)));
        details.push(format!("{by} must not include {added} in securityContext.capabilities.add"));
    }
    (!details.is_empty()).then(|| Violation::new("unrestricted capabilities", details.join("; ")))
}

pub(super) fn capabilities_1_25(pod: &Pod<'_>) -> Option<Violation> {
    if pod.is_of_windows() { None } else { capabilities(pod) }
}

pub(super) fn volumes(pod: &Pod<'_>) -> Option<Violation> {
    let has = |volume: &Value, kind: &str| volume.get(kind).is_some_and(|source| !source.is_null());
    let (mut names, mut kinds): (Vec<&str>, BTreeSet<&str>) = (Vec::new(), BTreeSet::new());
    for volume in pod.spec["volumes"].as_array().into_iter().flatten() {
        if !VOLUMES.iter().any(|kind| has(volume, kind)) {
            names.push(name(volume));
            let kind = OTHER_VOLUMES.iter().find(|kind| has(volume, kind));
            kinds.insert(kind.copied().unwrap_or("unknown"));
        }
    }
    (!names.is_empty()).then(|| {
        let title = plural("volume", names.len());
        let verb = if names.len() == 1 { "uses" } else { "use" };
        let of = plural("restricted volume type", kinds.len());
        let detail = format!("{title} {} {verb} {of} {}", quoted(names), quoted_set(&kinds));
        Violation::new("restricted volume types", detail)
    })
}

pub(super) fn run_as_non_root(pod: &Pod<'_>) -> Option<Violation> {
    const REASON: &str = "runAsNonRoot != true";
    let of_pod = &pod.security()["runAsNonRoot"];
    let says = |container: &'_ Value| security(container)["runAsNonRoot"].as_bool();
    let as_root = pod.containers_that(|container| says(container) == Some(false));
    if of_pod == false || !as_root.is_empty() {
        let by = setters(of_pod == false, &as_root);
        return Some(Violation::new(REASON, format!("{by} must not set securityContext.runAsNonRoot=false")));
    }
    let silent = pod.containers_that(|container| says(container).is_none() && of_pod != true);
    (!silent.is_empty()).then(|| {
        let by = containers(&silent);
        Violation::new(REASON, format!("pod or {by} must set securityContext.runAsNonRoot=true"))
    })
}

pub(super) fn run_as_non_root_1_35(pod: &Pod<'_>) -> Option<Violation> {
    if pod.has_own_users() { None } else { run_as_non_root(pod) }
}

pub(super) fn run_as_user(pod: &Pod<'_>) -> Option<Violation> {
    let is_root = |holder: &Value| holder["runAsUser"].as_i64() == Some(0);
    let is_pod = is_root(pod.security());
    let names = pod.containers_that(|container| is_root(security(container)));
    (is_pod || !names.is_empty()).then(|| {
        Violation::new("runAsUser=0", format!("{} must not set runAsUser=0", setters(is_pod, &names)))
    })
}

pub(super) fn run_as_user_1_35(pod: &Pod<'_>) -> Option<Violation> {
    if pod.has_own_users() { None } else { run_as_user(pod) }
}

pub(super) fn seccomp(pod: &Pod<'_>) -> Option<Violation> {
    if let Some(violation) = baseline::seccomp(pod) {
        return Some(violation);
    }
    let says = |holder: &Value| holder["seccompProfile"].is_object();
    if says(pod.security()) {
        return None;
    }
    let silent = pod.containers_that(|container| !says(security(container)));
    (!silent.is_empty()).then(|| {
        let by = containers(&silent);
        let detail = format!(
            "pod or {by} must set securityContext.seccompProfile.type to \"RuntimeDefault\" or \"Localhost\""
        );
        Violation::new("seccompProfile", detail)
    })
}

pub(super) fn seccomp_1_25(pod: &Pod<'_>) -> Option<Violation> {
    if pod.is_of_windows() { None } else { seccomp(pod) }
}
