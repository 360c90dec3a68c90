//! What is deployed of a scaffolded project, beside what Kubebuilder deploys of the same one.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::Write,
    path::{Path, PathBuf},
};

use kubewright_kustomize::{Builder, Memory};
use kubewright_scaffold::{Project, api::NewApi, project::DeployImage, render, webhook::NewWebhook};
use serde_json::Value;

/// A project of Kubebuilder's: kubebuilder itself wrote it, and kustomize built it.
fn golden(path: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens");
    let folder = env::var_os("KUBEWRIGHT_GOLDENS").map_or_else(beside, PathBuf::from);
    let project = folder.join("kubebuilder").join(path);
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

/// The same for Kubebuilder's project with webhooks.
const WEBHOOK_IMPROVEMENTS: &[(&str, &str)] = &[
    ("Deployment project-v4-with-plugins-controller-manager", "/spec/template/spec/containers/0/args"),
    (
        "Deployment project-v4-with-plugins-controller-manager",
        "/spec/template/spec/terminationGracePeriodSeconds",
    ),
    ("Role project-v4-with-plugins-leader-election-role", "/rules"),
];

/// What the rendered files and these generated ones are deployed as, and what Kubebuilder deploys.
fn compare(
    project: &Project,
    golden: &Path,
    generated: &[&str],
    improvements: &[(&str, &str)],
    not_ours: &[&str],
) -> BTreeMap<String, Value> {
    let mut files: Memory = render(project, &|_| None).into_iter().collect();
    // What is generated from the code is not scaffolded.
    for generated in generated {
        files.insert(*generated, fs::read(golden.join(generated)).expect("it is there"));
    }
    let mut ours = by_name(Builder::new(files).build("config/default").expect("a kustomization").objects);
    let install = fs::read_to_string(golden.join("dist/install.yaml")).expect("it is there");
    let mut theirs = by_name(serde_saphyr::from_multiple(&install).expect("YAML"));
    for name in not_ours {
        assert!(theirs.remove(*name).is_some(), "{name} is not theirs");
    }
    if project.namespaced() {
        // Those for people are for one namespace in Kubebuilder's projects of one namespace, whose users may be in others.
        let for_people = |name: &str| {
            ["-admin-role", "-editor-role", "-viewer-role"].iter().any(|end| name.ends_with(end))
        };
        ours.retain(|name, _| !for_people(name));
        theirs.retain(|name, _| !for_people(name));
    }

    assert_eq!(ours.keys().collect::<Vec<_>>(), theirs.keys().collect::<Vec<_>>());
    let (mut unexpected, mut seen) = (Vec::new(), 0);
    for (name, object) in &ours {
        let mut found = BTreeSet::new();
        differences("", object, &theirs[name], &mut found);
        for path in found {
            if improvements.contains(&(name, &path)) {
                seen += 1;
            } else {
                unexpected.push(format!("{name} at {path}"));
            }
        }
    }
    assert_eq!(unexpected, Vec::<String>::new());
    assert_eq!(seen, improvements.len(), "an improvement in the list is none");
    ours
}

#[test]
fn a_project_is_deployed_as_kubebuilders_but_for_the_listed_improvements() {
    let Some(golden) = golden("docs/book/src/getting-started/testdata/project") else { return };
    let mut project = Project::new("example.com", "project").expect("valid names");
    project.add_api(&NewApi::new("cache", "v1alpha1", "Memcached")).expect("a new kind");
    let generated = ["config/crd/bases/cache.example.com_memcacheds.yaml", "config/rbac/role.yaml"];
    compare(&project, &golden, &generated, IMPROVEMENTS, &[]);
}

/// Validation of one kind and conversion of another, behind a certificate of cert-manager.
#[test]
fn webhooks_are_deployed_as_kubebuilders_but_for_the_listed_improvements() {
    let Some(golden) = golden("testdata/project-v4-with-plugins") else { return };
    let mut project = Project::new("testproject.org", "project-v4-with-plugins").expect("valid names");
    project.set_namespaced(true);
    let group = "example.com";
    let image = |image: &str| DeployImage { image: image.to_owned(), ..DeployImage::default() };
    for api in [
        // Kubebuilder puts the environment of the last image first.
        NewApi::new(group, "v1alpha1", "Busybox").deploy_image(image("busybox:1.36.1")),
        NewApi::new(group, "v1alpha1", "Memcached").deploy_image(image("memcached:1.6.26-alpine3.19")),
        NewApi::new(group, "v1", "Wordpress"),
        NewApi::new(group, "v2", "Wordpress").controller(false),
    ] {
        project.add_api(&api).expect("a new kind");
    }
    let memcached = NewWebhook::new(group, "v1alpha1", "Memcached").validation(true);
    project.add_webhook(&memcached).expect("a webhook");
    let wordpress = NewWebhook::new(group, "v1", "Wordpress").conversion(["v2"]);
    project.add_webhook(&wordpress).expect("a hub");
    let generated = [
        "config/crd/bases/example.com.testproject.org_busyboxes.yaml",
        "config/crd/bases/example.com.testproject.org_memcacheds.yaml",
        "config/crd/bases/example.com.testproject.org_wordpresses.yaml",
        "config/rbac/role.yaml",
        "config/webhook/manifests.yaml",
    ];
    // A certificate that nobody uses, for a name that nobody has.
    let unused = ["Certificate project-v4-with-plugins-metrics-certs"];
    let ours = compare(&project, &golden, &generated, WEBHOOK_IMPROVEMENTS, &unused);
    let certificate = &ours["Certificate project-v4-with-plugins-serving-cert"];
    assert_eq!(
        certificate["spec"]["dnsNames"][0],
        "project-v4-with-plugins-webhook-service.project-v4-with-plugins-system.svc"
    );
}
