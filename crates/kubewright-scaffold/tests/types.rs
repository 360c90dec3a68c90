//! The text that is made of a definition. That it builds and gives the definition back is tested with the command.

use std::{fs, path::Path};

use kubewright_scaffold::{
    Project, TakeOver,
    project::Resource,
    types::{Definition, Types},
};
use serde_json::{Value, json};

fn harbours() -> Value {
    serde_saphyr::from_str(include_str!("data/harbours.yaml")).expect("YAML")
}

/// A definition whose spec has these properties.
fn with(properties: &Value) -> Value {
    let spec = json!({"type": "object", "properties": properties});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "mice.zoo.example.com"},
        "spec": {
            "group": "zoo.example.com",
            "names": {"kind": "Mouse", "plural": "mice"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "required": ["spec"], "properties": {"spec": spec},
            }}}],
        },
    })
}

fn types(document: &Value) -> Types {
    let definition = Definition::read(document).unwrap_or_else(|error| panic!("{error}"));
    let types = Types::of(&definition, definition.stored());
    syn::parse_file(&types.text).unwrap_or_else(|error| panic!("{error}:\n{}", types.text));
    types
}

#[test]
fn the_text_is_as_recorded() {
    let types = types(&harbours());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/harbour.rs.txt");
    if std::env::var_os("KUBEWRIGHT_UPDATE").is_some() {
        fs::write(&path, &types.text).expect("writable");
    }
    let recorded = fs::read_to_string(&path).expect("it is there");
    assert!(
        types.text == recorded,
        "{} differs; run with KUBEWRIGHT_UPDATE=1 and read what changed",
        path.display()
    );
    assert_eq!(types.differences, Vec::<String>::new());
    assert_eq!(types.problems, Vec::<String>::new(), "{}", types.sample);
    assert!(types.has_conditions);
}

#[test]
fn equal_parts_have_one_type() {
    let port = json!({"type": "object", "properties": {"number": {"type": "integer", "format": "int32"}}});
    let text = types(&with(&json!({
        "first": {"type": "object", "properties": {"port": port}},
        "second": {"type": "object", "properties": {"port": port}},
    })))
    .text;
    assert_eq!(text.matches("pub struct").count(), 4, "{text}");
    assert!(text.contains("pub port: Option<MouseFirstPort>"), "{text}");
}

#[test]
fn names_that_would_clash_get_others() {
    let text = types(&with(&json!({
        "spec": {"type": "object", "properties": {"a": {"type": "string"}}},
        "a-b": {"type": "string"}, "aB": {"type": "string"},
    })))
    .text;
    assert!(text.contains("pub struct MouseSpec2 {"), "{text}");
    assert!(text.contains("rename = \"aB\"") && text.contains("pub a_b2:"), "{text}");
}

#[test]
fn what_is_no_definition_says_why() {
    let error = |document: &Value| Definition::read(document).expect_err("refused").to_string();
    assert!(error(&json!({"kind": "Pod"})).contains("it is no CustomResourceDefinition"));
    let mut old = with(&json!({}));
    old["apiVersion"] = json!("apiextensions.k8s.io/v1beta1");
    assert!(error(&old).contains("API servers know apiextensions.k8s.io/v1 alone"), "{}", error(&old));
    let mut unstructural = with(&json!({"a": {}}));
    assert!(error(&unstructural).contains("an API server would refuse it"), "{}", error(&unstructural));
    unstructural["spec"]["group"] = json!("other.example.com");
    assert!(error(&unstructural).contains("spec.names.plural"), "{}", error(&unstructural));
}

#[test]
fn a_sample_that_no_rule_allows_is_told() {
    let text = json!({"type": "string", "pattern": "^q[0-9]{7}$"});
    let mut document = with(&json!({"code": text}));
    document["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["required"] =
        json!(["code"]);
    let types = types(&document);
    assert_eq!(types.problems.len(), 1, "{:?}", types.problems);
    assert!(types.problems[0].contains("spec.code"), "{:?}", types.problems);
}

#[test]
fn a_kind_is_taken_over_in_all_versions_or_one() {
    let definition = Definition::read(&harbours()).expect("a definition");
    let mut project = Project::new("example.com", "sea-operator").expect("valid names");
    let all = project.take_over(&definition, &TakeOver::new()).expect("taken over");
    let keys: Vec<String> = all.keys.iter().map(ToString::to_string).collect();
    assert_eq!(keys, ["Harbour (sea/v1beta1)", "Harbour (sea/v1)"]);
    let controllers: Vec<bool> = project.resources().iter().map(Resource::has_controller).collect();
    assert_eq!(controllers, [false, true]);
    assert!(all.files.contains_key(Path::new("src/api/v1beta1/harbour.rs")), "{:?}", all.files.keys());
    assert!(
        all.files.contains_key(Path::new("config/samples/sea_v1_harbour.yaml")),
        "{:?}",
        all.files.keys()
    );
    let again = project.take_over(&definition, &TakeOver::new()).expect_err("it is there");
    assert!(again.to_string().contains("use --force"), "{again}");

    let mut other = Project::new("example.org", "sea-operator").expect("valid names");
    let one = other.take_over(&definition, &TakeOver::new().version("v1beta1")).expect("taken over");
    assert_eq!(one.keys[0].to_string(), "Harbour (sea.example.com/v1beta1)");
    let error = other.take_over(&definition, &TakeOver::new().version("v9")).expect_err("no such version");
    assert!(error.to_string().contains("it has v1beta1, v1"), "{error}");
}
