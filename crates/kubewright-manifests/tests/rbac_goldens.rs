//! Roles of real projects, from their markers, against what controller-gen and kubebuilder wrote.

use std::{env, fs, path::PathBuf};

use kubewright_manifests::{
    Manifests, Style,
    diagnostic::{Place, Severity},
    marker::{Marker, Target, parse},
    rbac::{self, Options, Rule, ServiceAccount, UserRoles, bindings, merge, merge_as_controller_gen},
};
use serde_json::Value;

/// The folder with test data; none, with a message, if there is none here.
fn goldens() -> Option<PathBuf> {
    let root = env::var_os("KUBEWRIGHT_GOLDENS").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens"),
        PathBuf::from,
    );
    if !root.join("controller-tools").is_dir() {
        #[expect(clippy::print_stderr, reason = "a test that does nothing has to say so")]
        {
            eprintln!("SKIPPED: no goldens at {}; set KUBEWRIGHT_GOLDENS", root.display());
        }
        return None;
    }
    Some(root)
}

/// The markers of a file of comment lines.
fn markers(text: &str) -> Vec<(Marker, Place)> {
    let mut start = 0;
    let mut markers = Vec::new();
    for line in text.split_inclusive('\n') {
        if let Some(at) = line.find('+') {
            let marker = line[at..].trim_end();
            let place =
                Place::File { file: "markers.txt".into(), range: start + at..start + at + marker.len() };
            markers.push((parse(marker, &[Target::Package]).expect(marker), place));
        }
        start += line.len();
    }
    markers
}

fn generate(markers: &[(Marker, Place)], style: Style) -> Manifests {
    let markers = markers.iter().map(|(marker, place)| (marker, place.clone()));
    rbac::documents(markers, &Options::new("manager-role").style(style))
}

/// The projects: markers and role.
const PROJECTS: [(&str, &str); 3] = [
    ("controller-tools/pkg/rbac/testdata/rbac-markers.txt", "controller-tools/pkg/rbac/testdata/role.yaml"),
    ("extra/kueue/rbac-markers.txt", "extra/kueue/role.yaml"),
    ("extra/cluster-api/core-rbac-markers.txt", "extra/cluster-api/core-role.yaml"),
];

#[test]
fn roles_are_those_of_controller_gen_byte_by_byte() {
    let Some(goldens) = goldens() else { return };
    for (input, output) in PROJECTS {
        let markers = markers(&fs::read_to_string(goldens.join(input)).unwrap());
        let generated = generate(&markers, Style::ControllerGen);
        assert!(!generated.has_errors());
        assert_eq!(generated.to_yaml(), fs::read_to_string(goldens.join(output)).unwrap(), "{input}");
    }
}

/// The rules of a document.
fn rules(document: &Value) -> Vec<Rule> {
    let list = |rule: &Value, name: &str| {
        let items = rule[name].as_array().into_iter().flatten();
        items.map(|item| item.as_str().unwrap().to_owned()).collect()
    };
    let rule = |rule: &Value| Rule {
        groups: list(rule, "apiGroups"),
        resources: list(rule, "resources"),
        resource_names: list(rule, "resourceNames"),
        verbs: list(rule, "verbs"),
        urls: list(rule, "nonResourceURLs"),
    };
    document["rules"].as_array().unwrap().iter().map(rule).collect()
}

#[test]
fn our_roles_allow_the_same_with_fewer_rules() {
    let Some(goldens) = goldens() else { return };
    for (input, fewer) in PROJECTS.iter().map(|(input, _)| input).zip([15, 45, 13]) {
        let markers = markers(&fs::read_to_string(goldens.join(input)).unwrap());
        let (ours, theirs) =
            (generate(&markers, Style::Kubewright), generate(&markers, Style::ControllerGen));
        assert!(!ours.has_errors(), "{:#?}", ours.diagnostics);
        assert_eq!(ours.documents.len(), theirs.documents.len());
        for (ours, theirs) in ours.documents.iter().zip(&theirs.documents) {
            assert_eq!(ours["metadata"], theirs["metadata"]);
            // Merging depends on what is allowed alone, so what allows the same is merged to the same.
            assert_eq!(rules(ours), merge(rules(theirs)));
        }
        let count = rules(&ours.documents[0]).len();
        assert!(count <= fewer, "{input}: {count}");
    }
}

#[test]
fn users_have_the_roles_of_kubebuilder() {
    let Some(goldens) = goldens() else { return };
    let folder = goldens.join("kubebuilder/docs/book/src/getting-started/testdata/project/config/rbac");
    let read = |file: &str| -> Value {
        serde_saphyr::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap()
    };
    let labels = [("app.kubernetes.io/name", "project"), ("app.kubernetes.io/managed-by", "kustomize")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()));
    let mut roles = UserRoles::new("cache.example.com", "Memcached", "memcacheds");
    roles.labels = labels.clone().into();
    let theirs = ["admin", "editor", "viewer"].map(|access| read(&format!("memcached_{access}_role.yaml")));
    assert_eq!(roles.documents(Style::ControllerGen), theirs);

    for ((ours, theirs), access) in
        roles.documents(Style::Kubewright).iter().zip(&theirs).zip(["admin", "edit", "view"])
    {
        assert_eq!(ours["rules"], theirs["rules"]);
        assert_eq!(
            ours["metadata"]["labels"][format!("rbac.authorization.k8s.io/aggregate-to-{access}")],
            "true"
        );
    }

    let account = ServiceAccount::new("controller-manager", "system");
    assert_eq!(bindings([&read("role.yaml")], &account, &labels.into()), [read("role_binding.yaml")]);
}

#[test]
fn a_large_project_is_free_of_noise() {
    let Some(goldens) = goldens() else { return };
    let markers = markers(&fs::read_to_string(goldens.join("extra/kueue/rbac-markers.txt")).unwrap());
    let found = generate(&markers, Style::Kubewright).diagnostics;
    assert!(found.iter().all(|found| found.severity == Severity::Warning), "{found:#?}");
    assert!(found.len() <= 1, "{found:#?}");
}

#[test]
fn both_styles_keep_what_controller_gen_loses() {
    let rules = [
        Rule::resources(["apps"], ["deployments"], ["get", "list", "watch"]),
        Rule::resources(["extensions"], ["deployments"], ["get", "list", "watch"]),
        Rule::resources(["apps", "extensions"], ["deployments"], ["patch", "update"]),
    ];
    assert_eq!(merge(rules.clone()), merge_as_controller_gen(rules));
}
