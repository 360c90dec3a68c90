use super::{
    baseline,
    pod::{Pod, Violation},
    policy::{Level, Standard},
    restricted,
};

type Check = fn(&Pod<'_>) -> Option<Violation>;

/// A check, as it was changed from version to version.
struct Series {
    level: Level,
    /// The first minor version of each form of the check.
    forms: &'static [(u32, Check)],
    /// Whether a check of the stricter level takes its place, and from which minor version on.
    replaced_from: Option<u32>,
}

/// All checks, in the order in which they are reported.
const CHECKS: [Series; 19] = [
    baseline(&[(0, baseline::app_armor)], None),
    baseline(&[(0, baseline::capabilities)], Some(22)),
    baseline(&[(0, baseline::host_namespaces)], None),
    baseline(&[(0, baseline::host_path_volumes)], Some(0)),
    baseline(&[(0, baseline::host_ports)], None),
    baseline(&[(34, baseline::probe_hosts)], None),
    baseline(&[(0, baseline::privileged)], None),
    baseline(&[(0, baseline::proc_mount), (35, baseline::proc_mount_of_own_users)], Some(35)),
    baseline(&[(0, baseline::selinux), (31, baseline::selinux_1_31)], None),
    baseline(&[(0, baseline::seccomp_annotations), (19, baseline::seccomp)], Some(19)),
    baseline(
        &[
            (0, baseline::sysctls),
            (27, baseline::sysctls_1_27),
            (29, baseline::sysctls_1_29),
            (32, baseline::sysctls_1_32),
            (37, baseline::sysctls_1_37),
        ],
        None,
    ),
    baseline(&[(0, baseline::windows_host_process)], None),
    restricted(&[(8, restricted::privilege_escalation), (25, restricted::privilege_escalation_1_25)]),
    restricted(&[(22, restricted::capabilities), (25, restricted::capabilities_1_25)]),
    restricted(&[(35, baseline::proc_mount)]),
    restricted(&[(0, restricted::volumes)]),
    restricted(&[(0, restricted::run_as_non_root), (35, restricted::run_as_non_root_1_35)]),
    restricted(&[(23, restricted::run_as_user), (35, restricted::run_as_user_1_35)]),
    restricted(&[(19, restricted::seccomp), (25, restricted::seccomp_1_25)]),
];

const fn baseline(forms: &'static [(u32, Check)], replaced_from: Option<u32>) -> Series {
    Series { level: Level::Baseline, forms, replaced_from }
}

const fn restricted(forms: &'static [(u32, Check)]) -> Series {
    Series { level: Level::Restricted, forms, replaced_from: None }
}

/// What the checks of a standard have against a pod.
pub(super) fn evaluate(standard: Standard, pod: &Pod<'_>) -> Vec<Violation> {
    let minor = standard.version.0.unwrap_or(u32::MAX);
    let is_replaced = |series: &Series| {
        standard.level == Level::Restricted && series.replaced_from.is_some_and(|from| from <= minor)
    };
    let mut violations = Vec::new();
    for series in CHECKS.iter().filter(|series| series.level <= standard.level && !is_replaced(series)) {
        let form = series.forms.iter().rev().find(|(from, _)| *from <= minor);
        violations.extend(form.and_then(|(_, check)| check(pod)));
    }
    violations
}

/// Why a pod is not as it is to be, in short.
pub(super) fn reasons(violations: &[Violation]) -> String {
    violations.iter().map(|violation| violation.reason.as_str()).collect::<Vec<_>>().join(", ")
}

/// Why a pod is not as it is to be, and what to do.
pub(super) fn details(violations: &[Violation]) -> String {
    let texts = violations.iter().map(|violation| match violation.detail.as_str() {
        "" => violation.reason.clone(),
        detail => format!("{} ({detail})", violation.reason),
    });
    texts.collect::<Vec<_>>().join(", ")
}
