//! Types that were made of a definition give it back: what `kubewright generate` makes of them is compared with it.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Map, Value};

use crate::{as_member, building, kubewright};

/// The name of the project with the definitions of others.
pub(crate) const GOLDENS: &str = "taken-over-goldens";

/// Definitions of others, with all that theirs have.
const FILES: &[&str] = &[
    "crd-gateway/crds/standard-install.yaml",
    "kubebuilder/testdata/project-v4-with-plugins/config/crd/bases/example.com.testproject.org_busyboxes.yaml",
    "kubebuilder/testdata/project-v4-with-plugins/config/crd/bases/example.com.testproject.org_memcacheds.yaml",
    "kubebuilder/testdata/project-v4-with-plugins/config/crd/bases/example.com.testproject.org_wordpresses.yaml",
    "kubebuilder/docs/book/src/getting-started/testdata/project/config/crd/bases/cache.example.com_memcacheds.yaml",
    "extra/cluster-api/clusterctl.cluster.x-k8s.io_metadata.yaml",
    "extra/cluster-api/clusterctl.cluster.x-k8s.io_providers.yaml",
    "extra/kueue/kueue.x-k8s.io_topologies.yaml",
    "extra/kueue/kueue.x-k8s.io_workloadpriorityclasses.yaml",
    "controller-tools/pkg/crd/testdata/multiple_versions/testdata.kubebuilder.io_versionedresources.yaml",
    "controller-tools/pkg/crd/testdata/plural/plural.example.com_testquotas.yaml",
    "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_cronjobs.yaml",
    "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_enums.yaml",
    "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_externaldocs.yaml",
    "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_immutabletypes.yaml",
    "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_jobs.yaml",
    "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_oneofs.yaml",
    "controller-tools/pkg/applyconfiguration/testdata/cronjob/api/v1/testdata.kubebuilder.io_clusterscopedresources.yaml",
];

/// Our own, which has everything.
pub(crate) fn harbours() -> Value {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../kubewright-scaffold/tests/data/harbours.yaml"))
        .remove(0)
}

/// Makes a project of all goldens. Returns them; none if they are not there.
pub(crate) fn goldens(workspace: &Path) -> Vec<Value> {
    let root = std::env::var_os("KUBEWRIGHT_GOLDENS")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/goldens"), PathBuf::from);
    if !root.is_dir() {
        return Vec::new();
    }
    let folder = workspace.join(GOLDENS);
    fs::create_dir(&folder).expect("made");
    kubewright(
        &folder,
        &[
            "init",
            "--quiet",
            "--yes",
            "--multigroup",
            "--domain=taken.example.com",
            "--framework-source=path",
            "--project-name=scaffold-taken-over-goldens",
        ],
    );
    let mut goldens = Vec::new();
    for file in FILES.iter().map(|file| root.join(file)) {
        for definition in read(&file) {
            let kind = definition["spec"]["names"]["kind"].as_str().expect("a kind");
            let file = file.to_str().expect("text");
            let arguments =
                ["create", "api", "--quiet", "--controller=false", "--from-crd", file, "--kind", kind];
            let output =
                building(env!("CARGO_BIN_EXE_kubewright"), &folder, &arguments).output().expect("it runs");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            // One that no API server would take is refused here, too.
            assert!(
                output.status.success() || said.contains("an API server would refuse it"),
                "{file}: {said}"
            );
            if !output.status.success() {
                continue;
            }
            goldens.push(definition);
        }
    }
    as_member(&folder);
    goldens
}

fn read(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut documents: Vec<Value> = serde_saphyr::from_multiple(&text).expect("YAML");
    documents.retain(|document| document["kind"] == "CustomResourceDefinition");
    documents
}

/// Compares what is generated of the project with the definitions. The differences are those that are recorded, or none.
pub(crate) fn assert_given_back(project: &Path, definitions: &[Value], recorded: Option<&Path>) {
    let binary = env!("CARGO_BIN_EXE_kubewright");
    let output = building(binary, project, &["generate", "crd", "--output", "-"]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let generated: Vec<Value> =
        serde_saphyr::from_multiple(&String::from_utf8(output.stdout).expect("text")).expect("YAML");
    let mut found = String::new();
    let mut equal = 0;
    for definition in definitions {
        let name = &definition["metadata"]["name"];
        let ours = generated.iter().find(|other| other["metadata"]["name"] == *name);
        let ours = ours.unwrap_or_else(|| panic!("{name} is not generated"));
        let mut differences = Vec::new();
        compare("", &normal(definition), &normal(ours), &mut differences);
        let name = name.as_str().expect("a name");
        if differences.is_empty() {
            equal += 1;
            let _ = writeln!(found, "{name}: equal");
            continue;
        }
        let _ = writeln!(found, "{name}:");
        for difference in differences {
            let _ = writeln!(found, "  {difference}");
        }
    }
    let _ = writeln!(found, "{equal} of {} are equal", definitions.len());
    match recorded {
        None => assert_eq!(equal, definitions.len(), "{found}"),
        Some(file) => {
            if std::env::var_os("KUBEWRIGHT_UPDATE").is_some() {
                fs::write(file, &found).expect("writable");
            }
            let before = fs::read_to_string(file).expect("it is there");
            assert!(
                before == found,
                "{} is not what was found; KUBEWRIGHT_UPDATE=1 records it:\n{found}",
                file.display()
            );
        }
    }
}

/// What is compared of a definition: not how it got to its cluster, and no texts that its server has of its own.
fn normal(definition: &Value) -> Value {
    let spec = &definition["spec"];
    let mut names = spec["names"].clone();
    let kind = names["kind"].as_str().unwrap_or_default().to_owned();
    let of_kind = [("listKind", format!("{kind}List")), ("singular", kind.to_lowercase())];
    for (name, usual) in of_kind {
        if names[name].is_null() {
            names[name] = usual.into();
        }
    }
    let mut versions = Map::new();
    for version in spec["versions"].as_array().into_iter().flatten() {
        let mut version = version.clone();
        let properties = version.pointer_mut("/schema/openAPIV3Schema/properties");
        if let Some(Value::Object(properties)) = properties {
            properties.retain(|name, _| !["apiVersion", "kind", "metadata"].contains(&name.as_str()));
        }
        if let Some(Value::Object(schema)) = version.pointer_mut("/schema/openAPIV3Schema") {
            sorted(schema);
            if let Some(Value::Array(required)) = schema.get_mut("required") {
                required.retain(|name| *name != "metadata");
                if required.is_empty() {
                    schema.remove("required");
                }
            }
        }
        let name = version["name"].as_str().expect("a name").to_owned();
        versions.insert(name, version);
    }
    let annotations = definition["metadata"]["annotations"].as_object().into_iter().flatten();
    let annotations: BTreeMap<&String, &Value> =
        annotations.filter(|(name, _)| !name.starts_with("controller-gen.")).collect();
    serde_json::json!({
        "annotations": annotations,
        "labels": definition["metadata"]["labels"].as_object().cloned().unwrap_or_default(),
        "group": spec["group"],
        "names": names,
        "scope": spec["scope"],
        "versions": versions,
    })
}

/// Puts what has no order into one, and takes away the texts of conditions, which are those of their type.
fn sorted(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.sort_by_key(|name| name.as_str().unwrap_or_default().to_owned());
    }
    let mut conditions = false;
    for (name, value) in schema.iter_mut() {
        match (name.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                conditions =
                    properties.contains_key("lastTransitionTime") && properties.contains_key("reason");
                for property in properties.values_mut().filter_map(Value::as_object_mut) {
                    sorted(property);
                    if conditions {
                        property.remove("description");
                    }
                }
            }
            ("items" | "additionalProperties", Value::Object(inner)) => sorted(inner),
            _ => {}
        }
    }
    if conditions {
        schema.remove("description");
    }
}

fn compare(at: &str, theirs: &Value, ours: &Value, differences: &mut Vec<String>) {
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) => {
            let mut names: Vec<&String> = theirs.keys().chain(ours.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                let at = format!("{at}/{name}");
                match (theirs.get(name), ours.get(name)) {
                    (Some(theirs), Some(ours)) => compare(&at, theirs, ours, differences),
                    (Some(theirs), None) => differences.push(format!("{at}: without {}", short(theirs))),
                    (None, Some(ours)) => differences.push(format!("{at}: with {}", short(ours))),
                    (None, None) => {}
                }
            }
        }
        _ if theirs == ours => {}
        _ => differences.push(format!("{at}: {}, not {}", short(ours), short(theirs))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 100 { text.chars().take(100).collect::<String>() + "..." } else { text }
}
