use jiff::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::status::Status;

fn time(second: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + second).unwrap()
}

fn manager_of(group: &str, version: &str, kind: &str, subresource: &str, reset: &Set) -> FieldManager {
    FieldManager::builtin(GroupVersionKind::new(group, version, kind), subresource, reset).unwrap()
}

fn config_maps() -> FieldManager {
    manager_of("", "v1", "ConfigMap", "", &Set::new())
}

fn config_map(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "n"}, "data": data})
}

/// What the registry does between a write and the next: the object gets a uid.
fn stored(mut object: Value) -> Value {
    object["metadata"]["uid"] = json!("1");
    object
}

fn entries(object: &Value) -> Vec<(String, String, String)> {
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap_or_default().to_owned();
    let entries = object["metadata"]["managedFields"].as_array().map_or(&[][..], Vec::as_slice);
    entries
        .iter()
        .map(|entry| (text(entry, "manager"), text(entry, "operation"), entry["fieldsV1"].to_string()))
        .collect()
}

fn entry(manager: &str, operation: &str, fields: &Value) -> (String, String, String) {
    (manager.to_owned(), operation.to_owned(), fields.to_string())
}

#[test]
fn a_create_is_owned_without_what_every_object_has() {
    let object =
        config_maps().update(&Value::Null, config_map(&json!({"k": "v"})), "kubectl-create", time(0));
    assert_eq!(
        object["metadata"]["managedFields"],
        json!([{
            "manager": "kubectl-create", "operation": "Update", "apiVersion": "v1",
            "time": "2027-01-15T08:00:00Z", "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {".": {}, "f:k": {}}},
        }])
    );
}

#[test]
fn an_update_takes_what_it_changes() {
    let manager = config_maps();
    let live = stored(manager.update(&Value::Null, config_map(&json!({"a": "1", "b": "1"})), "one", time(0)));
    let mut new = live.clone();
    new["data"]["a"] = json!("2");
    let new = manager.update(&live, new, "two", time(5));
    assert_eq!(
        entries(&new),
        [
            entry("one", "Update", &json!({"f:data": {".": {}, "f:b": {}}})),
            entry("two", "Update", &json!({"f:data": {"f:a": {}}})),
        ]
    );
    // Writing the same again is not a change, and moves no time.
    assert_eq!(manager.update(&new, new.clone(), "one", time(9)), new);
}

#[test]
fn an_empty_list_ends_the_tracking_until_the_next_apply() {
    let manager = config_maps();
    let live = stored(manager.update(&Value::Null, config_map(&json!({"a": "1"})), "one", time(0)));
    for reset in [json!([]), json!([{}])] {
        let mut new = live.clone();
        new["metadata"]["managedFields"] = reset;
        let new = manager.update(&live, new, "one", time(1));
        assert!(new["metadata"].get("managedFields").is_none());
        let mut changed = new.clone();
        changed["data"]["a"] = json!("2");
        let changed = manager.update(&new, changed, "two", time(2));
        assert!(entries(&changed).is_empty());
        let applied =
            manager.apply(Some(&changed), &config_map(&json!({"b": "1"})), "three", false, time(3)).unwrap();
        assert_eq!(
            entries(&applied),
            [
                entry("three", "Apply", &json!({"f:data": {"f:b": {}}})),
                entry("before-first-apply", "Update", &json!({"f:data": {".": {}, "f:a": {}}})),
            ]
        );
    }
}

#[test]
fn managed_fields_survive_clients_that_drop_or_break_them() {
    let manager = config_maps();
    let live = stored(manager.update(&Value::Null, config_map(&json!({"a": "1"})), "one", time(0)));
    for broken in [Value::Null, json!([{"manager": "x", "operation": "Nothing"}])] {
        let mut new = live.clone();
        new["metadata"]["managedFields"] = broken;
        assert_eq!(manager.update(&live, new, "one", time(1)), live);
    }
}

#[test]
fn an_apply_creates_and_prunes() {
    let manager = config_maps();
    let config = config_map(&json!({"a": "1", "b": "1"}));
    let created = manager.apply(None, &config, "one", false, time(0)).unwrap();
    assert_eq!(created["data"], config["data"]);
    let live = stored(created);
    let applied = manager.apply(Some(&live), &config_map(&json!({"a": "1"})), "one", false, time(1)).unwrap();
    assert_eq!(applied["data"], json!({"a": "1"}));
    assert_eq!(entries(&applied), [entry("one", "Apply", &json!({"f:data": {"f:a": {}}}))]);
}

#[test]
fn an_apply_that_changes_nothing_keeps_the_time() {
    let manager = config_maps();
    let config = config_map(&json!({"a": "1"}));
    let live = stored(manager.apply(None, &config, "one", false, time(0)).unwrap());
    assert_eq!(manager.apply(Some(&live), &config, "one", false, time(60)).unwrap(), live);
}

#[test]
fn conflicts_name_managers_and_fields() {
    let manager = config_maps();
    let live = manager.update(&Value::Null, config_map(&json!({"a": "1", "b": "1"})), "one", time(0));
    let live = stored(live);
    let config = config_map(&json!({"a": "2", "b": "2"}));
    let error = manager.apply(Some(&live), &config, "two", false, time(1)).unwrap_err();
    let status = Status::from(error);
    assert_eq!(status.code, 409);
    assert_eq!(
        status.message,
        "Apply failed with 2 conflicts: conflicts with \"one\" using v1:\n- .data.a\n- .data.b"
    );
    let causes = status.details.unwrap().causes;
    assert_eq!(causes[0].message, "conflict with \"one\" using v1");
    assert_eq!(causes[0].field, ".data.a");

    let one = config_map(&json!({"a": "2"}));
    let error = manager.apply(Some(&live), &one, "two", false, time(1)).unwrap_err();
    assert_eq!(error.to_string(), "Apply failed with 1 conflict: conflict with \"one\" using v1: .data.a");

    let forced = manager.apply(Some(&live), &config, "two", true, time(1)).unwrap();
    assert_eq!(forced["data"], config["data"]);
    assert_eq!(
        entries(&forced),
        [
            entry("two", "Apply", &json!({"f:data": {"f:a": {}, "f:b": {}}})),
            entry("one", "Update", &json!({"f:data": {}})),
        ]
    );
}

#[test]
fn kubectl_takes_over_from_its_client_side_apply() {
    let manager = config_maps();
    let mut object = config_map(&json!({"a": "1"}));
    object["metadata"]["annotations"] = json!({
        "kubectl.kubernetes.io/last-applied-configuration": config_map(&json!({"a": "1"})).to_string(),
    });
    let live = stored(manager.update(&Value::Null, object, "kubectl-client-side-apply", time(0)));
    let config = config_map(&json!({"a": "2"}));
    assert!(manager.apply(Some(&live), &config, "other", false, time(1)).is_err());
    let applied = manager.apply(Some(&live), &config, "kubectl", false, time(1)).unwrap();
    assert_eq!(applied["data"]["a"], "2");
    assert_eq!(
        applied["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"],
        format!("{config}\n")
    );
    // What somebody has changed since is a conflict for kubectl too.
    let mut changed = live.clone();
    changed["data"]["a"] = json!("3");
    let changed = manager.update(&live, changed, "editor", time(2));
    assert!(manager.apply(Some(&changed), &config, "kubectl", false, time(3)).is_err());
}

#[test]
fn the_wrong_object_is_refused() {
    let manager = config_maps();
    let mut other = config_map(&json!({}));
    other["kind"] = json!("X");
    let error = manager.apply(None, &other, "one", false, time(0)).unwrap_err();
    assert_eq!(error.to_string(), "invalid object type: /v1, Kind=X");

    let unknown = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "nope": 1});
    let error = manager.apply(None, &unknown, "one", false, time(0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .nope: field not declared in schema"
    );
    assert_eq!(Status::from(error).code, 500);

    let mut managed = config_map(&json!({}));
    managed["metadata"]["managedFields"] = json!([]);
    let error = manager.apply(None, &managed, "one", false, time(0)).unwrap_err();
    assert_eq!(error.to_string(), "metadata.managedFields must be nil");
}

#[test]
fn endpoints_own_their_part_of_the_object() {
    let main = manager_of("apps", "v1", "Deployment", "", &FieldManager::reset_status());
    let status = manager_of("apps", "v1", "Deployment", "status", &FieldManager::reset_all_but_status());
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
        "spec": {"replicas": 1}, "status": {"replicas": 9}});
    let live = stored(main.update(&Value::Null, object, "one", time(0)));
    assert_eq!(entries(&live), [entry("one", "Update", &json!({"f:spec": {"f:replicas": {}}}))]);
    let mut new = live.clone();
    new["status"]["replicas"] = json!(1);
    new["spec"]["replicas"] = json!(5);
    let new = status.update(&live, new, "controller", time(1));
    assert_eq!(entries(&new)[1], entry("controller", "Update", &json!({"f:status": {"f:replicas": {}}})));
    assert_eq!(new["metadata"]["managedFields"][1]["subresource"], "status");
}

#[test]
fn the_oldest_of_many_managers_become_one() {
    let manager = config_maps();
    let mut live = stored(manager.update(&Value::Null, config_map(&json!({"k0": "v"})), "m0", time(0)));
    for i in 1..=12 {
        let mut new = live.clone();
        new["data"][format!("k{i}")] = json!("v");
        live = manager.update(&live, new, &format!("m{i}"), time(i));
    }
    let entries = entries(&live);
    assert_eq!(entries.len(), 10);
    let ancient = json!({"f:data": {".": {}, "f:k0": {}, "f:k1": {}, "f:k2": {}, "f:k3": {}}});
    assert!(entries.contains(&entry("ancient-changes", "Update", &ancient)), "{entries:#?}");
}

#[test]
fn times_move_only_with_other_changes() {
    let manager = config_maps();
    let old = stored(manager.update(&Value::Null, config_map(&json!({"a": "1"})), "one", time(0)));
    let mut only_time = old.clone();
    only_time["metadata"]["managedFields"][0]["time"] = json!("2027-01-15T09:00:00Z");
    assert_eq!(keep_times_if_unchanged(&old, only_time.clone()), old);
    only_time["data"]["a"] = json!("2");
    assert_eq!(keep_times_if_unchanged(&old, only_time.clone()), only_time);
}

#[test]
fn objects_that_do_not_fit_their_type_are_written_as_they_are() {
    let manager = config_maps();
    let live = stored(manager.update(&Value::Null, config_map(&json!({"a": "1"})), "one", time(0)));
    let mut broken = live.clone();
    broken["data"] = json!(["not", "a", "map"]);
    let written = manager.update(&live, broken.clone(), "two", time(1));
    assert_eq!(written["data"], broken["data"]);
    assert_eq!(written["metadata"]["managedFields"], live["metadata"]["managedFields"]);
    assert_eq!(manager.update(&live, Value::Null, "two", time(1)), Value::Null);
}

/// What kube-apiserver 1.37 records for the same requests, defaults included.
#[test]
fn a_deployment_is_owned_as_on_a_real_server() {
    let manager = manager_of("apps", "v1", "Deployment", "", &FieldManager::reset_status());
    let object = json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d1", "labels": {"a": "b"}},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"a": "b"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"restartPolicy": "Always", "securityContext": {},
                "containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}}}});
    let created = manager.update(&Value::Null, object, "m1", time(0));
    let ports = json!({".": {}, r#"k:{"containerPort":80,"protocol":"TCP"}"#: {".": {}, "f:containerPort": {}, "f:protocol": {}}});
    let template = json!({"f:metadata": {"f:labels": {".": {}, "f:a": {}}}, "f:spec": {
        "f:containers": {r#"k:{"name":"c"}"#: {".": {}, "f:image": {}, "f:name": {}, "f:ports": ports, "f:resources": {}}},
        "f:restartPolicy": {}, "f:securityContext": {}}});
    let strategy =
        json!({"f:rollingUpdate": {".": {}, "f:maxSurge": {}, "f:maxUnavailable": {}}, "f:type": {}});
    assert_eq!(
        created["metadata"]["managedFields"][0]["fieldsV1"],
        json!({
            "f:metadata": {"f:labels": {".": {}, "f:a": {}}},
            "f:spec": {"f:replicas": {}, "f:selector": {}, "f:strategy": strategy, "f:template": template},
        })
    );
    assert_eq!(created["status"], json!({}));
}

#[test]
fn an_applied_built_in_object_is_in_canonical_form() {
    let manager = manager_of("", "v1", "Pod", "", &Set::new());
    let config = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i", "command": []}]}});
    let applied = manager.apply(None, &config, "one", false, time(0)).unwrap();
    assert_eq!(applied["spec"]["containers"], json!([{"name": "c", "image": "i", "resources": {}}]));
    // Empty values that Go does not keep stay owned, and applying them again changes nothing.
    let live = stored(applied);
    assert_eq!(manager.apply(Some(&live), &config, "one", false, time(9)).unwrap()["spec"], live["spec"]);
}

#[test]
fn custom_resources_are_tracked_until_an_empty_entry() {
    let kind = GroupVersionKind::new("example.com", "v1", "Widget");
    let ty = crate::apply::schema::openapi::object_type(&json!({"type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}));
    let versions = Versions::one("example.com/v1", ty.unwrap());
    let manager = FieldManager::new(kind, "", versions, &FieldManager::reset_status());
    let object = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 1}});
    let live = stored(manager.update(&Value::Null, object, "one", time(0)));
    assert_eq!(entries(&live), [entry("one", "Update", &json!({"f:spec": {".": {}, "f:size": {}}}))]);
    let mut new = live.clone();
    new["metadata"]["managedFields"] = json!([]);
    assert_eq!(manager.update(&live, new.clone(), "one", time(1)), live);
    new["metadata"]["managedFields"] = json!([{}]);
    assert!(entries(&manager.update(&live, new, "one", time(1))).is_empty());
}
