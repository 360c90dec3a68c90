//! The embedded server answers the corpus as a real one did.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
};

use kubewright_conformance::{
    area, compare,
    exceptions::{Exceptions, Pending},
    player,
    target::Target,
};

/// Makes a test for each area.
macro_rules! areas {
    ($($test:ident $name:literal)*) => {
        const AREAS: &[&str] = &[$($name),*];
        $(
            #[tokio::test(start_paused = true)]
            async fn $test() {
                replay($name).await;
            }
        )*
    };
}

areas! {
    admission "admission"
    apply "apply"
    authz "authz"
    bootstrap "bootstrap"
    built_in_admissionregistration "built-in-admissionregistration"
    built_in_apiextensions "built-in-apiextensions"
    built_in_apiregistration "built-in-apiregistration"
    built_in_apps "built-in-apps"
    built_in_autoscaling "built-in-autoscaling"
    built_in_batch "built-in-batch"
    built_in_certificates "built-in-certificates"
    built_in_coordination "built-in-coordination"
    built_in_core "built-in-core"
    built_in_discovery "built-in-discovery"
    built_in_events "built-in-events"
    built_in_flowcontrol "built-in-flowcontrol"
    built_in_networking "built-in-networking"
    built_in_node "built-in-node"
    built_in_policy "built-in-policy"
    built_in_rbac "built-in-rbac"
    built_in_resource "built-in-resource"
    built_in_scheduling "built-in-scheduling"
    built_in_storage "built-in-storage"
    built_in_storagemigration "built-in-storagemigration"
    cel "cel"
    conversion "conversion"
    crd "crd"
    create "create"
    delete "delete"
    discovery "discovery"
    errors "errors"
    fields "fields"
    kinds "kinds"
    list "list"
    negotiation "negotiation"
    openapi "openapi"
    patch "patch"
    policies "policies"
    table "table"
    update "update"
    validation "validation"
    watch "watch"
    webhooks "webhooks"
    wire "wire"
}

#[test]
fn each_area_has_a_test_and_each_case_a_name_of_its_own() {
    let mut named: Vec<&str> = AREAS.to_vec();
    named.sort_unstable();
    assert_eq!(area::all(), named);
    let mut seen = BTreeMap::new();
    for area in area::all() {
        for case in area::files(&area).into_iter().flat_map(|file| file.cases) {
            assert!(
                !case.needs_namespace() || case.name.len() <= 63,
                "{} is too long for a namespace",
                case.name
            );
            if let Some(other) = seen.insert(case.name.clone(), area.clone()) {
                panic!("{} is in {other} and in {area}", case.name);
            }
        }
    }
}

/// Whether there is what a line of the checklist says that it is shown by.
fn is_there(shown_by: &str, cases: &BTreeSet<String>) -> bool {
    if let Some((file, function)) = shown_by.split_once("::") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file);
        return fs::read_to_string(path).is_ok_and(|text| text.contains(&format!("fn {function}(")));
    }
    match shown_by.strip_suffix('*') {
        Some(start) => cases.iter().any(|case| case.starts_with(start)),
        None => cases.contains(shown_by),
    }
}

#[test]
fn each_line_of_the_checklist_is_shown_by_cases_or_tests() {
    let named = |area: &String| {
        let cases = area::files(area).into_iter().flat_map(|file| file.cases);
        cases.map(|case| format!("{area}/{}", case.name)).collect::<Vec<_>>()
    };
    let cases: BTreeSet<String> = area::all().iter().flat_map(named).collect();
    let mut missing = String::new();
    for line in include_str!("../checklist.tsv").lines().skip(2) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [_, what, shown_by] = columns.as_slice() else { panic!("three columns, not {line:?}") };
        assert!(!shown_by.is_empty(), "nothing shows: {what}");
        for shown_by in shown_by.split(' ').filter(|shown_by| !is_there(shown_by, &cases)) {
            let _ = writeln!(missing, "{shown_by}, which is to show: {what}");
        }
    }
    assert!(missing.is_empty(), "there is no\n{missing}");
}

async fn replay(area: &str) {
    let exceptions = Exceptions::of(area);
    let mut pending = Pending::of(area);
    let (mut cases, mut wrong, mut report) = (0, 0, String::new());
    for file in area::files(area) {
        let recorded = file.recorded();
        // One server does for all the cases that leave nothing behind.
        let shared = file.cases.first().map(Target::embedded);
        for case in &file.cases {
            cases += 1;
            let mut found = String::new();
            let target = if case.leaves_nothing() { shared.clone() } else { None };
            let target = target.unwrap_or_else(|| Target::embedded(case));
            match (recorded.get(&case.name), player::play(case, &target).await) {
                (None, _) => found.push_str("  nothing is recorded; run conformance/record --missing\n"),
                (_, Err(error)) => {
                    let _ = writeln!(found, "  {error}");
                }
                (Some(expected), Ok(got)) => {
                    for difference in compare::answers(expected, &got) {
                        if !exceptions.cover(case, &difference) {
                            let title = case.steps[difference.step - 1].title();
                            let _ = writeln!(found, "  {title}\n  {difference}");
                        }
                    }
                }
            }
            if pending.settle(case, !found.is_empty()) {
                wrong += 1;
                if found.is_empty() {
                    found.push_str("  it does not differ any more; take it off with KUBEWRIGHT_UPDATE=1\n");
                }
                let _ = write!(report, "\n{area}/{}: {}\n{found}", case.name, case.why);
            }
        }
    }
    pending.update();
    for text in exceptions.needless() {
        wrong += 1;
        let _ = write!(report, "\nno difference needs the exception {text}\n");
    }
    assert!(wrong == 0, "{wrong} of {cases} cases differ:\n{report}");
}
