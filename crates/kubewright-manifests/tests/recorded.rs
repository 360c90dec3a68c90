//! Roles and webhook configurations against what controller-gen v0.23 made of the same markers.
//!
//! The Go files with the markers, and what came out, are in `conformance/controller-gen/cases`.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use kubewright_manifests::{
    Manifests, Style,
    diagnostic::{Place, Severity},
    marker::{Marker, MarkerError, Target, parse},
    rbac, webhook,
};
use serde_json::Value;

/// A marker and where it stands.
type Placed = (Marker, Place);

fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/controller-gen/cases").join(name)
}

fn expected(path: &str) -> String {
    let path = case(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The markers of the Go files of a case or of one of its packages, in the order of paths and lines, as far as they can be
/// read; and what is wrong with the others.
fn read(folder: &str) -> (Vec<Placed>, Vec<(String, MarkerError)>) {
    fn files(folder: &Path, found: &mut BTreeSet<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "go") {
                found.insert(path);
            }
        }
    }
    let mut found = BTreeSet::new();
    files(&case(folder), &mut found);
    let (mut markers, mut errors) = (Vec::new(), Vec::new());
    for file in found {
        let text = fs::read_to_string(&file).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("// +")) {
            let text = format!("+{line}");
            match parse(&text, &[Target::Package]) {
                Ok(marker) => {
                    markers.push((marker, Place::File { file: file.clone(), range: 0..text.len() }));
                }
                Err(error) => errors.push((text, error)),
            }
        }
    }
    (markers, errors)
}

fn markers(folder: &str) -> Vec<Placed> {
    let (markers, errors) = read(folder);
    assert!(errors.is_empty(), "{folder}: {errors:#?}");
    markers
}

fn roles(markers: &[Placed], name: &str, style: Style) -> Manifests {
    let markers = markers.iter().map(|(marker, place)| (marker, place.clone()));
    rbac::documents(markers, &rbac::Options::new(name).style(style))
}

fn webhooks(markers: &[Placed], style: Style) -> Manifests {
    let markers = markers.iter().map(|(marker, place)| (marker, place.clone()));
    webhook::documents(markers, &webhook::Options::default().style(style))
}

#[test]
fn roles_have_the_same_bytes() {
    for (folder, name, file) in [
        ("rbac-merge", "manager-role", "rbac/role.yaml"),
        ("rbac-merge", "other-role", "named/other.yaml"),
        ("rbac-order", "manager-role", "rbac/role.yaml"),
        ("rbac-roles", "manager-role", "rbac/role.yaml"),
    ] {
        let generated = roles(&markers(folder), name, Style::ControllerGen);
        assert!(!generated.has_errors(), "{folder}: {:#?}", generated.diagnostics);
        assert_eq!(generated.to_yaml(), expected(&format!("{folder}/expected/{file}")), "{folder}");
    }
}

#[test]
fn where_the_roles_differ_from_run_to_run_nothing_is_lost() {
    let run = |case: &str, run: u8| expected(&format!("{case}/expected/rbac/{run}/role.yaml"));
    let ours = |case: &str, style| roles(&markers(case), "manager-role", style).to_yaml();

    let (reading, writing) = (run("rbac-loss", 1), run("rbac-loss", 2));
    let both = reading.trim_end().to_owned();
    let both = both.replace("  - watch", "  - patch\n  - update\n  - watch\n");
    assert_ne!(reading, writing);
    for style in [Style::ControllerGen, Style::Kubewright] {
        assert_eq!(ours("rbac-loss", style), both);
    }

    assert_ne!(run("rbac-groupless", 1), run("rbac-groupless", 2));
    assert_eq!(ours("rbac-groupless", Style::ControllerGen), run("rbac-groupless", 1));
    let found = roles(&markers("rbac-groupless"), "manager-role", Style::Kubewright).diagnostics;
    assert_eq!(found.iter().map(|found| found.code.as_str()).collect::<Vec<_>>(), ["rbac-no-groups"]);
}

#[test]
fn without_rules_there_is_no_file() {
    let (markers, errors) = read("rbac-none");
    assert_eq!(errors[0].1.code, "unknown-marker");
    assert_eq!(roles(&markers, "manager-role", Style::ControllerGen).to_yaml(), "");
}

#[test]
fn patched_webhooks_have_the_same_bytes() {
    let generated = webhooks(&markers("webhook-patch"), Style::ControllerGen);
    assert!(!generated.has_errors(), "{:#?}", generated.diagnostics);
    assert_eq!(generated.to_yaml(), expected("webhook-patch/expected/webhook/manifests.yaml"));
    // In our style, what the API server would refuse of it is an error.
    let codes: BTreeSet<_> = webhooks(&markers("webhook-patch"), Style::Kubewright)
        .diagnostics
        .into_iter()
        .filter(|found| found.severity == Severity::Error)
        .map(|found| found.code)
        .collect();
    assert_eq!(
        codes,
        BTreeSet::from(["webhook-empty-list".to_owned(), "webhook-review-versions".to_owned()])
    );
}

#[test]
fn webhooks_of_all_forms_are_equal_but_for_words_that_are_none() {
    let (markers, errors) = read("webhook-forms");
    // controller-gen writes these, and the API server refuses two of them.
    let refused: Vec<_> =
        errors.iter().map(|(text, error)| (error.code, &text[error.range.clone()])).collect();
    assert_eq!(
        refused,
        [("unknown-word", "Sometimes"), ("unknown-word", "Sometimes"), ("unknown-word", "get")]
    );

    let generated = webhooks(&markers, Style::ControllerGen);
    assert!(!generated.has_errors(), "{:#?}", generated.diagnostics);
    let text = expected("webhook-forms/expected/webhook/manifests.yaml");
    let mut theirs: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap();
    for document in &mut theirs {
        document["webhooks"].as_array_mut().unwrap().retain(|hook| {
            !["all.example.com", "odd.example.com", "odd-verbs.example.com"]
                .contains(&hook["name"].as_str().unwrap())
        });
    }
    assert_eq!(generated.documents, theirs);
}

#[test]
fn webhooks_of_several_packages_are_joined() {
    let generated = webhooks(&markers("webhook-packages"), Style::ControllerGen);
    // Their names contradict each other, and controller-gen takes the last.
    let codes: Vec<_> = generated.diagnostics.iter().map(|found| found.code.as_str()).collect();
    assert_eq!(codes, ["webhook-duplicate-configuration"]);
    let theirs = expected("webhook-packages/expected/webhook/manifests.yaml");
    assert_eq!(generated.to_yaml(), theirs.replace("from-two", "from-one"));
}

#[test]
fn what_is_refused_is_refused_for_the_same_reason() {
    for (package, word) in [
        ("hookeffects", "Some"),
        ("hookmatch", "Fuzzy"),
        ("hookname", "name"),
        ("hooknoeffects", "sideEffects"),
        ("hookpatch", "the patch is no JSON"),
        ("hookpath", "neither a `path` nor a `url`"),
        ("hooktimeout", "31"),
        ("hooktwice", "another mutating configuration"),
        ("hookurl", "both a `path` and a `url`"),
        ("hookversion", "v1beta1"),
    ] {
        let (markers, errors) = read(&format!("webhook-errors/{package}"));
        let mut said: Vec<String> = errors.into_iter().map(|(_, error)| error.message).collect();
        let generated = webhooks(&markers, Style::ControllerGen).diagnostics.into_iter();
        said.extend(generated.filter(|found| found.severity == Severity::Error).map(|found| found.message));
        let [only] = said.as_slice() else { panic!("{package}: {said:#?}") };
        assert!(only.contains(word), "{package}: {only}");
    }
}
