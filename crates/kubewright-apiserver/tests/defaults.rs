//! Built-in objects get the defaults and the form that Kubernetes' own code gives them.

use kubewright_apiserver::defaults;
use serde::Deserialize;
use serde_json::{Value, json};

/// An object as a client sends it, and as Kubernetes encodes it after decoding and defaulting.
#[derive(Deserialize)]
struct Pair {
    given: Value,
    defaulted: Value,
}

fn pairs() -> Vec<Pair> {
    let mut pairs: Vec<Pair> =
        serde_json::from_str(include_str!("../../../conformance/golden/defaulted.json")).unwrap();
    for Pair { defaulted, .. } in pairs.iter_mut().filter(|pair| pair.defaulted["kind"] == "DaemonSet") {
        // The annotation is a counter that the strategy of daemon sets keeps.
        let annotations = defaulted["metadata"].as_object_mut().unwrap().remove("annotations");
        assert_eq!(annotations, Some(json!({"deprecated.daemonset.template.generation": "0"})));
    }
    pairs
}

fn apply(object: &mut Value) {
    let api_version = object["apiVersion"].as_str().unwrap().to_owned();
    let kind = object["kind"].as_str().unwrap().to_owned();
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    defaults::apply(group, version, &kind, object);
}

#[test]
fn objects_become_what_kubernetes_makes_of_them() {
    let mut wrong = Vec::new();
    for Pair { given, defaulted } in pairs() {
        let mut object = given;
        apply(&mut object);
        let name = format!("{} {}", object["kind"], object["metadata"]["name"]);
        differences(&name, &object, &defaulted, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_second_time_changes_nothing() {
    for Pair { given, .. } in pairs() {
        let mut once = given;
        apply(&mut once);
        let mut twice = once.clone();
        apply(&mut twice);
        assert_eq!(once, twice);
    }
}

#[test]
fn values_of_a_wrong_type_are_left_for_validation() {
    let mut object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": "name",
        "spec": {"replicas": "many", "strategy": [], "template": {"spec": {"containers": {"name": 7}}}},
    });
    apply(&mut object);
    assert_eq!(object["metadata"], "name");
    assert_eq!(object["spec"]["replicas"], "many");
    assert_eq!(object["spec"]["template"]["spec"]["containers"], json!({"name": 7}));
}

#[test]
fn other_kinds_stay_as_they_are() {
    let mut object = json!({"apiVersion": "example.com/v1", "kind": "Widget", "spec": {"a": null, "b": []}});
    let given = object.clone();
    apply(&mut object);
    assert_eq!(object, given);
}

fn differences(path: &str, left: &Value, right: &Value, found: &mut Vec<String>) {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys().filter(|key| !left.contains_key(*key))) {
                match (left.get(key), right.get(key)) {
                    (Some(left), Some(right)) => differences(&format!("{path}.{key}"), left, right, found),
                    (Some(left), None) => found.push(format!("{path}.{key}: {left} is too much")),
                    (_, right) => found.push(format!("{path}.{key}: {right:?} is missing")),
                }
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (index, (left, right)) in left.iter().zip(right).enumerate() {
                differences(&format!("{path}[{index}]"), left, right, found);
            }
        }
        _ if left == right => {}
        _ => found.push(format!("{path}: {left} instead of {right}")),
    }
}
