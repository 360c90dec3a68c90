//! What is deployed of a scaffolded project, beside what Kubebuilder deploys of the same one.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::Write,
    path::{Path, PathBuf},
};

use kubewright_kustomize::{Builder, Memory};
use kubewright_scaffold::{Project, api::NewApi, render};
use serde_json::Value;

/// Kubebuilder's getting-started project: kubebuilder itself wrote it, and kustomize built it.
fn golden() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens");
    let folder = env::var_os("KUBEWRIGHT_GOLDENS").map_or_else(beside, PathBuf::from);
    let project = folder.join("kubebuilder/docs/book/src/getting-started/testdata/project");
    if !project.is_dir() {
        // Past the capture of the test harness: a skipped test must say so.
        let place = project.display();
        let _ = writeln!(
            std::io::stderr(),
            "skipped: there is no {place} (KUBEWRIGHT_GOLDENS names the test data)"
        );
        return None;
    }
    Some(project)
}

/// The differences that `docs/parity/kubebuilder.md` lists, each with its reason: an object, and where it differs.
const IMPROVEMENTS: &[(&str, &str)] = &[
    // A name for what it owns, and time for what runs at its end.
    ("Deployment project-controller-manager", "/spec/template/spec/containers/0/args"),
    ("Deployment project-controller-manager", "/spec/template/spec/terminationGracePeriodSeconds"),
    // The rights that are needed, and no others.
    ("Role project-leader-election-role", "/rules"),
];

fn by_name(objects: Vec<Value>) -> BTreeMap<String, Value> {
    let name = |object: &Value| format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]));
    objects.into_iter().map(|object| (name(&object), object)).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Where two values differ. Lists differ as a whole, unless they have as many objects each.
fn differences(path: &str, ours: &Value, theirs: &Value, found: &mut BTreeSet<String>) {
    match (ours, theirs) {
        (Value::Object(a), Value::Object(b)) => {
            for name in a.keys().chain(b.keys()).collect::<BTreeSet<_>>() {
                let of =
                    |object: &serde_json::Map<String, Value>| object.get(name).cloned().unwrap_or_default();
                differences(&format!("{path}/{name}"), &of(a), &of(b), found);
            }
        }
        (Value::Array(a), Value::Array(b))
            if a.len() == b.len() && a.iter().all(Value::is_object) && path != "/rules" =>
        {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{path}/{at}"), a, b, found);
            }
        }
        _ if ours == theirs => {}
        _ => {
            found.insert(path.to_owned());
        }
    }
}

#[test]
fn a_project_is_deployed_as_kubebuilders_but_for_the_listed_improvements() {
    let Some(golden) = golden() else { return };
    let mut project = Project::new("example.com", "project").expect("valid names");
    project.add_api(&NewApi::new("cache", "v1alpha1", "Memcached")).expect("a new kind");
    let mut files: Memory = render(&project, &|_| None).into_iter().collect();
    // What is generated from the code is not scaffolded.
    for generated in ["config/crd/bases/cache.example.com_memcacheds.yaml", "config/rbac/role.yaml"] {
        files.insert(generated, fs::read(golden.join(generated)).expect("it is there"));
    }
    let ours = by_name(Builder::new(files).build("config/default").expect("a kustomization").objects);
    let install = fs::read_to_string(golden.join("dist/install.yaml")).expect("it is there");
    let theirs = by_name(serde_saphyr::from_multiple(&install).expect("YAML"));

    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    let (mut unexpected, mut seen) = (Vec::new(), 0);
    for (name, object) in &ours {
        let mut found = BTreeSet::new();
        differences("", object, &theirs[name], &mut found);
        for path in found {
            if IMPROVEMENTS.contains(&(name, &path)) {
                seen += 1;
            } else {
                unexpected.push(format!("{name} at {path}"));
            }
        }
    }
    assert_eq!(unexpected, Vec::<String>::new());
    assert_eq!(seen, IMPROVEMENTS.len(), "an improvement in the list is none");
}
