//! What `memcached-operator crd` prints.

use std::process::{Command, Output};

use serde_json::{Value, json};

fn crd(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memcached-operator"));
    command.arg("crd").args(arguments).output().expect("the operator runs")
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn yaml_is_what_is_applied() {
    let yaml = text(&crd(&[]));
    let start = "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: memcacheds.cache.example.com\nspec:\n";
    assert!(yaml.starts_with(start), "{yaml}");
    assert!(yaml.contains("\n    - mc\n"), "{yaml}");
}

#[test]
fn json_is_for_programs() {
    let generated: Value = serde_json::from_str(&text(&crd(&["--output", "json"]))).expect("JSON");
    assert_eq!(generated["diagnostics"], json!([]));
    assert_eq!(generated["documents"][0]["metadata"]["name"], "memcacheds.cache.example.com");
    let origins = generated["origins"][0].as_array().expect("the origins of the first document");
    let path = "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[size]";
    let size = json!({"path": path, "keyword": "", "typeName": "MemcachedSpec", "field": "size"});
    assert!(origins.contains(&size), "{origins:#?}");
}

#[test]
fn the_options_of_controller_gen_have_their_effect() {
    let yaml = text(&crd(&["--compat", "controller-gen", "--max-desc-len", "0"]));
    assert!(yaml.contains("\n    controller-gen.kubebuilder.io/version: v0.23.0\n"), "{yaml}");
    // The columns have no descriptions, so only those of the schema are left out.
    assert!(!yaml.contains("description:"), "{yaml}");
}
