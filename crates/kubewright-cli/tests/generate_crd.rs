//! `kubewright generate crd` with operators that print what a test wants them to.

mod project;

use project::Project;
use serde_json::{Value, json};

/// An operator that prints the file `crds.json` whatever it is asked, and notes what it was asked. The type is there for those
/// who read the source: compiling its derives would take the test's time.
const OPERATOR: &str = r#"
/// A mouse.
///
/// +kubebuilder:resource:shortName=mo
#[cfg(any())]
#[derive(CustomResource, JsonSchema)]
#[kube(group = "zoo.io", version = "v1", kind = "Mouse")]
struct MouseSpec {
    /// How old it is.
    /// +kubebuilder:validation:Minimum=0
    age: u32,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    std::fs::write("arguments", arguments.join(" ")).unwrap();
    println!("{}", include_str!("../crds.json"));
}
"#;

fn crd(plural: &str, kind: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.zoo.io")},
        "spec": {
            "group": "zoo.io",
            "names": {"kind": kind, "listKind": format!("{kind}List"), "plural": plural, "singular": kind.to_lowercase()},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}},
            }],
        },
    })
}

/// A project whose operator has these CRDs.
fn project(documents: &[Value], diagnostics: &Value) -> Project {
    let project = Project::new(&[("src/main.rs", OPERATOR)]);
    prints(&project, documents, diagnostics);
    project
}

fn prints(project: &Project, documents: &[Value], diagnostics: &Value) {
    let origins: Vec<Value> = documents.iter().map(|_| json!([])).collect();
    let printed = json!({"documents": documents, "origins": origins, "diagnostics": diagnostics});
    project.write("crds.json", &printed.to_string());
}

const FILE: &str = "config/crd/bases/zoo.io_mice.yaml";

#[test]
fn crds_are_what_the_operator_prints_and_stale_ones_go() {
    let project = project(&[crd("mice", "Mouse"), crd("cats", "Cat")], &json!([]));
    let run = project.generate(&["crd"]).ok();
    assert!(
        run.stderr.ends_with(
            "       Wrote config/crd/bases/zoo.io_cats.yaml\n       Wrote config/crd/bases/zoo.io_mice.yaml\n"
        ),
        "{}",
        run.stderr
    );
    assert_eq!(project.read("arguments"), "crd --output=json");
    // The tests of the API server send this file to a real one too.
    assert_eq!(project.read(FILE), include_str!("data/zoo.io_mice.yaml"));

    let before = project.config();
    project.generate(&["crd"]).ok();
    assert_eq!(project.config(), before, "nothing was written");
    project.generate(&["crd", "--check", "--quiet"]).ok();

    // The cat is gone. What others wrote stays.
    prints(&project, &[crd("mice", "Mouse")], &json!([]));
    project.write("config/crd/bases/zoo.io_dogs.yaml", "kind: CustomResourceDefinition\n");
    let check = project.generate(&["crd", "--check"]).failed();
    assert!(
        check.stdout.starts_with("--- a/config/crd/bases/zoo.io_cats.yaml\n+++ /dev/null\n"),
        "{}",
        check.stdout
    );
    let run = project.generate(&["crd"]).ok();
    assert!(run.stderr.contains("     Removed config/crd/bases/zoo.io_cats.yaml\n"), "{}", run.stderr);
    let left: Vec<_> = project.config().into_iter().map(|(path, _)| path).collect();
    assert_eq!(left, [project.path("config/crd/bases/zoo.io_dogs.yaml"), project.path(FILE)]);
}

#[test]
fn options_reach_the_operator_under_its_own_names() {
    let project = project(&[crd("mice", "Mouse")], &json!([]));
    project.generate(&["crd:maxDescLen=0,allowDangerousTypes=true,generateEmbeddedObjectMeta=false"]).ok();
    assert_eq!(
        project.read("arguments"),
        "crd --output=json --max-desc-len=0 --embedded-object-meta=false --allow-dangerous-types"
    );
    project.write("src/api.rs", "mod v1 { struct CacheSpec { size: i32 } }\n");
    project.generate(&["crd:maxDescLenOf={\"k8s_openapi::api::core=0\",\"crate::api::v1=60\"}"]).ok();
    assert_eq!(
        project.read("arguments"),
        "crd --output=json --max-desc-len-of=io.k8s.api.core.*=0 --max-desc-len-of=CacheSpec=60"
    );
    let run = project.generate(&["crd:maxDescLenOf=\"crate::apis=60\""]).failed();
    assert!(run.stderr.contains("`crate::apis` is no module of k8s_openapi"), "{}", run.stderr);
    project
        .generate(&[
            "--compat=controller-gen",
            "crd:deprecatedV1beta1CompatibilityPreserveUnknownFields=false",
        ])
        .ok();
    assert!(project.read("arguments").ends_with(" --preserve-unknown-fields=false"));
    let run = project.generate(&["--compat=controller-gen", "crd", "paths=./...", "output:stdout"]).ok();
    assert_eq!(project.read("arguments"), "crd --output=json --compat=controller-gen --tool-version=v0.23.0");
    assert!(run.stdout.starts_with("---\napiVersion: apiextensions.k8s.io/v1\n"), "{}", run.stdout);
    project.generate(&["--compat=controller-gen", "crd:omitToolVersion=true"]).ok();
    assert_eq!(project.read("arguments"), "crd --output=json --compat=controller-gen --tool-version=");
}

#[test]
fn what_is_wrong_with_compiled_types_is_shown_in_their_source_with_all_else() {
    let diagnostics = json!([{
        "severity": "error",
        "code": "wrong-type",
        "message": "there is a minimum of a text",
        "place": {
            "in": "doc", "typeName": "MouseSpec", "field": "age",
            "marker": "+kubebuilder:validation:Minimum=0", "range": {"start": 32, "end": 33},
        },
        "help": ["make it a number"],
    }]);
    let project = project(&[crd("mice", "Mouse")], &diagnostics);
    project.write("src/other.rs", "// +kubebuilder:rbac:groups=apps,verb=get\nfn other() {}\n");
    let run = project.generate(&[]).failed();
    let expected = [
        "error[wrong-type]: there is a minimum of a text",
        "src/main.rs:10:41",
        "make it a number",
        "error[unknown-argument]: `kubebuilder:rbac` has no argument `verb`",
        "src/other.rs:1:34",
        "error: nothing was written because of the 2 errors above\n",
    ];
    let places: Vec<_> = expected.iter().map(|text| run.stderr.find(text)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in\n{}", run.stderr);
    assert_eq!(project.config(), []);
}

#[test]
fn a_build_that_fails_does_not_hide_what_is_known() {
    let project = project(&[crd("mice", "Mouse")], &json!([]));
    project.write(
        "src/main.rs",
        "// +kubebuilder:rbac:groups=apps,verb=get\nfn main() { let count: u8 = \"not a number\"; }\n",
    );
    let run = project.generate(&[]).failed();
    assert!(run.stderr.contains("mismatched types"), "cargo's message: {}", run.stderr);
    assert!(run.stderr.contains("`kubebuilder:rbac` has no argument `verb`"), "{}", run.stderr);
    assert!(
        run.stderr.ends_with("error: the operator does not build; cargo's message is above\n"),
        "{}",
        run.stderr
    );
    assert_eq!(project.config(), []);
}

#[test]
fn a_program_that_is_no_operator_is_told_apart() {
    let project = Project::new(&[("src/main.rs", "fn main() { println!(\"hello\"); }\n")]);
    let run = project.generate(&["crd"]).failed();
    assert!(run.stderr.contains("error: the operator did not print its CRDs (`"), "{}", run.stderr);
    assert!(run.stderr.contains("`Manager::new(Options::parse())`"), "{}", run.stderr);
    assert_eq!(project.config(), []);
}

#[test]
fn of_several_binaries_one_is_named() {
    let project = project(&[crd("mice", "Mouse")], &json!([]));
    project.write("src/bin/other.rs", "fn main() {}\n");
    let run = project.generate(&["crd"]).failed();
    assert!(
        run.stderr.contains("several binary targets (") && run.stderr.contains("--bin"),
        "{}",
        run.stderr
    );
    project.generate(&["crd", "--bin", "zoo"]).ok();
    assert!(project.path(FILE).exists());
    project.write(
        "Cargo.toml",
        "[package]\nname = \"zoo\"\nedition = \"2024\"\n[package.metadata.kubewright.generate]\nbin = \"zoo\"\n",
    );
    project.generate(&["crd", "--check"]).ok();
}

#[test]
fn crds_of_controller_gen_are_taken_over_and_others_of_its_reported() {
    let project = project(&[crd("mice", "Mouse")], &json!([]));
    let theirs = |plural: &str| {
        format!(
            "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n    \
             controller-gen.kubebuilder.io/version: v0.20.0\n  name: {plural}.zoo.io\nspec:\n  group: zoo.io\n  names:\n    \
             plural: {plural}\n"
        )
    };
    project.write(FILE, &theirs("mice"));
    project.write("config/crd/bases/zoo.io_dogs.yaml", &theirs("dogs"));
    let run = project.generate(&["crd"]).ok();
    assert!(
        run.stderr.contains("warning: config/crd/bases/zoo.io_dogs.yaml was written by controller-gen"),
        "{}",
        run.stderr
    );
    assert!(project.read(FILE).starts_with("# Code generated by `kubewright generate crd` from zoo."));
    assert_eq!(project.read("config/crd/bases/zoo.io_dogs.yaml"), theirs("dogs"));
    let run = project.generate(&["--compat", "controller-gen", "crd"]).ok();
    assert!(run.stderr.contains("     Removed config/crd/bases/zoo.io_dogs.yaml\n"), "{}", run.stderr);
}

#[test]
fn roles_for_users_are_made_if_they_are_asked_for() {
    let project = project(&[crd("mice", "Mouse")], &json!([]));
    project.generate(&["rbac:userRoles=true"]).ok();
    let names: Vec<_> = project.config().into_iter().map(|(path, _)| path).collect();
    let expected = ["mouse_admin_role.yaml", "mouse_editor_role.yaml", "mouse_viewer_role.yaml"];
    assert_eq!(names, expected.map(|name| project.path("config/rbac").join(name)));
    let viewer = project.read("config/rbac/mouse_viewer_role.yaml");
    assert!(viewer.contains("rbac.authorization.k8s.io/aggregate-to-view: \"true\""), "{viewer}");
    project.generate(&["rbac"]).ok();
    assert_eq!(project.config(), [], "nobody asks for them any more");
}
