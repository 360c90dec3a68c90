use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::types::Types;

fn deployment() -> &'static Type {
    Types::get().kind("apps", "v1", "Deployment").unwrap()
}

fn patch(object: &Value, patch: &Value) -> Result<Value> {
    strategic_merge_patch(object, patch.to_string().as_bytes(), deployment()).map(|patched| patched.value)
}

fn pod_spec(spec: &Value) -> Value {
    json!({"spec": {"template": {"spec": spec}}})
}

fn two_containers() -> Value {
    pod_spec(&json!({"containers": [{"name": "a", "image": "1"}, {"name": "b", "image": "1"}]}))
}

fn names(object: &Value) -> Vec<&str> {
    let containers = object["spec"]["template"]["spec"]["containers"].as_array().unwrap();
    containers.iter().map(|container| container["name"].as_str().unwrap()).collect()
}

#[test]
fn lists_merge_by_key() {
    let change = pod_spec(&json!({"containers": [{"name": "b", "image": "2"}, {"name": "c", "image": "1"}]}));
    let patched = patch(&two_containers(), &change).unwrap();
    let containers =
        json!([{"name": "a", "image": "1"}, {"name": "b", "image": "2"}, {"name": "c", "image": "1"}]);
    assert_eq!(patched, pod_spec(&json!({"containers": containers})));
}

#[test]
fn nulls_remove_and_are_not_kept_in_new_values() {
    let object = json!({"metadata": {"labels": {"a": "b", "c": "d"}}});
    let change =
        json!({"metadata": {"labels": {"a": null, "x": null}, "annotations": {"k": null, "l": "m"}}});
    let want = json!({"metadata": {"labels": {"c": "d"}, "annotations": {"l": "m"}}});
    assert_eq!(patch(&object, &change), Ok(want));
}

#[test]
fn items_can_be_deleted_and_lists_replaced() {
    let delete = pod_spec(&json!({"containers": [{"name": "a", "$patch": "delete"}]}));
    assert_eq!(names(&patch(&two_containers(), &delete).unwrap()), ["b"]);
    let replace = pod_spec(&json!({"containers": [{"$patch": "replace"}, {"name": "z", "image": "1"}]}));
    assert_eq!(names(&patch(&two_containers(), &replace).unwrap()), ["z"]);
    let object = pod_spec(&json!({"$patch": "replace", "hostNetwork": true}));
    assert_eq!(patch(&two_containers(), &object), Ok(pod_spec(&json!({"hostNetwork": true}))));
    let object = json!({"spec": {"template": {"$patch": "delete"}}});
    assert_eq!(patch(&two_containers(), &object), Ok(json!({"spec": {"template": {}}})));
}

#[test]
fn the_order_can_be_set() {
    let order = json!([{"name": "c"}, {"name": "b"}, {"name": "a"}]);
    let change =
        pod_spec(&json!({"$setElementOrder/containers": order, "containers": [{"name": "c", "image": "1"}]}));
    assert_eq!(names(&patch(&two_containers(), &change).unwrap()), ["c", "b", "a"]);
    // Items that the order does not name stay before what they stood before.
    let change = pod_spec(&json!({"$setElementOrder/containers": [{"name": "b"}]}));
    assert_eq!(names(&patch(&two_containers(), &change).unwrap()), ["a", "b"]);
}

#[test]
fn sets_of_scalars_grow_and_shrink() {
    let object = json!({"metadata": {"finalizers": ["a/a", "b/b"]}});
    let grown = patch(&object, &json!({"metadata": {"finalizers": ["c/c", "a/a"]}})).unwrap();
    assert_eq!(grown["metadata"]["finalizers"], json!(["c/c", "a/a", "b/b"]));
    let change = json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/a"]}});
    let shrunk = patch(&object, &change).unwrap();
    assert_eq!(shrunk["metadata"]["finalizers"], json!(["b/b"]));
    assert_eq!(patch(&json!({"metadata": {}}), &change), Ok(json!({"metadata": {}})));
}

#[test]
fn other_lists_are_replaced() {
    let object = pod_spec(&json!({"containers": [{"name": "a", "command": ["x", "y"]}]}));
    let change = pod_spec(&json!({"containers": [{"name": "a", "command": ["z"]}]}));
    assert_eq!(patch(&object, &change), Ok(change));
}

#[test]
fn keys_that_are_not_retained_go() {
    let object = json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}});
    let change = json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}});
    assert_eq!(patch(&object, &change), Ok(json!({"spec": {"strategy": {"type": "Recreate"}}})));
    let change = json!({"spec": {"strategy": {"$retainKeys": ["type"], "rollingUpdate": {}}}});
    let error = patch(&object, &change).unwrap_err();
    assert_eq!(error, PatchError::BadRequest("invalid patch format of retainKeys".to_owned()));
}

#[test]
fn errors_are_those_of_the_api_server() {
    let object = two_containers();
    for (change, want) in [
        (
            pod_spec(&json!({"containers": [{"image": "x"}]})),
            "map: map[image:x] does not contain declared merge key: name",
        ),
        (
            pod_spec(&json!({"containers": [{"$patch": "bogus", "name": "c"}]})),
            "unknown patch type: bogus in map: map[$patch:bogus name:c]",
        ),
        (json!({"spec": {"$patch": "bogus"}}), "unknown patch type: bogus in map: map[$patch:bogus]"),
        (
            pod_spec(
                &json!({"$setElementOrder/containers": [{"name": "c"}], "containers": [{"name": "x", "image": "y"}]}),
            ),
            "The order in patch list:\n[map[image:y name:x]]\n doesn't match $setElementOrder list:\n[map[name:c]]\n",
        ),
        (
            pod_spec(&json!({"containers": [1]})),
            "list element types are not identical: [[map[image:1 name:a] map[image:1 name:b]] [1]]",
        ),
    ] {
        assert_eq!(patch(&object, &change), Err(PatchError::Internal(want.to_owned())), "{change}");
    }
    let change = json!({"metadata": {"$deleteFromPrimitiveList": ["a"]}});
    let error = patch(&json!({"metadata": {}}), &change).unwrap_err();
    assert_eq!(error, PatchError::BadRequest("invalid patch format of primitive list".to_owned()));
}

#[test]
fn the_outcome_is_decoded_strictly() {
    let body = br#"{"spec":{"foo":1,"replicas":1,"replicas":2}}"#;
    let patched = strategic_merge_patch(&two_containers(), body, deployment()).unwrap();
    let decoded = patched.clone().decode(Some(deployment()), false).unwrap();
    let errors = ["duplicate field \"spec.replicas\"", "unknown field \"spec.foo\""];
    assert_eq!(decoded.strict_errors, errors);
    assert_eq!(decoded.value["spec"]["replicas"], 2);
    assert_eq!(
        patched.decode(Some(deployment()), true).unwrap_err().to_string(),
        format!(
            "patch: Invalid value: \"map[spec:map[foo:1 replicas:2]]\": strict decoding error: {}",
            errors.join(", ")
        )
    );
}

/// Patches of the fields around containers, with all directives.
fn any_patch() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        Just(json!("a")),
        Just(json!(1)),
        Just(json!("delete")),
        Just(json!("replace")),
    ];
    let key = prop_oneof![
        Just("spec"),
        Just("template"),
        Just("containers"),
        Just("name"),
        Just("ports"),
        Just("metadata"),
        Just("finalizers"),
        Just("$patch"),
        Just("$retainKeys"),
        Just("$setElementOrder/containers"),
        Just("$deleteFromPrimitiveList/finalizers"),
    ];
    leaf.prop_recursive(6, 40, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..4).prop_map(|fields| fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn no_patch_panics(change in any_patch()) {
        let mut object = two_containers();
        object["metadata"] = json!({"finalizers": ["a"]});
        let _ = patch(&object, &change);
        let _ = patch(&object, &pod_spec(&change));
        let _ = patch(&object, &json!({"metadata": change}));
    }
}
