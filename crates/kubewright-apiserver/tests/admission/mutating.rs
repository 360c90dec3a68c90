//! What webhooks change.

use std::sync::atomic::{AtomicBool, Ordering};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::FutureExt;
use serde_json::{Value, json};

use crate::cluster::{
    Answered, Cluster, MAPS, WIDGETS, WIDGETS_V2, map, patch, response, rule, webhook, widget,
};

/// Sends a request whose object a webhook changes.
async fn changed_by(cluster: &Cluster, operations: Value, method: &str, path: &str, body: Value) -> Answered {
    cluster.answer("/m", move |review| patch(review, &operations));
    cluster.configure("Mutating", "m", vec![webhook("m", "/m", &json!({}))]).await;
    cluster.send(method, path, body).await
}

#[tokio::test(start_paused = true)]
async fn a_changed_object_is_what_is_stored() {
    let cluster = Cluster::new();
    let operations =
        json!([{"op": "add", "path": "/data/x", "value": "y"}, {"op": "add", "path": "/nope", "value": 1}]);
    let created = changed_by(&cluster, operations, "POST", MAPS, map("a")).await;
    assert_eq!((created.code, &created.body["data"]), (201, &json!({"a": "1", "x": "y"})));
    // What a webhook adds is nobody's.
    let owned = &created.body["metadata"]["managedFields"][0]["fieldsV1"]["f:data"];
    assert_eq!(owned, &json!({".": {}, "f:a": {}}));

    // Unknown fields go, defaults come back.
    let operations = json!([
        {"op": "add", "path": "/spec/nope", "value": 1},
        {"op": "remove", "path": "/spec/color"},
        {"op": "add", "path": "/status", "value": {"a": 1}},
        {"op": "replace", "path": "/apiVersion", "value": "example.com/v2"},
    ]);
    let created = changed_by(&cluster, operations, "POST", WIDGETS, widget("a", &json!({"size": 1}))).await;
    assert_eq!((created.code, &created.body["spec"]), (201, &json!({"color": "red", "size": 1})));
    assert_eq!(
        (&created.body["status"], &created.body["apiVersion"]),
        (&Value::Null, &json!("example.com/v1"))
    );

    let named = json!([{"op": "replace", "path": "/metadata/name", "value": "renamed"}]);
    let created = changed_by(&cluster, named, "POST", MAPS, map("b")).await;
    assert_eq!((created.code, &created.body["metadata"]["name"]), (201, &json!("renamed")));
    let uid = json!([{"op": "add", "path": "/metadata/uid", "value": "my-uid"}]);
    let created = changed_by(&cluster, uid, "POST", MAPS, map("c")).await;
    assert_ne!(created.body["metadata"]["uid"], "my-uid");

    // A status keeps to the status, whatever a webhook does.
    let operations = json!([
        {"op": "add", "path": "/spec/size", "value": 7}, {"op": "add", "path": "/status/x", "value": 1},
    ]);
    let path = format!("{WIDGETS}/a/status");
    let status = changed_by(&cluster, operations, "PATCH", &path, json!({"status": {"a": 1}})).await;
    assert_eq!((&status.body["spec"]["size"], &status.body["status"]), (&json!(1), &json!({"a": 1, "x": 1})));
    let scale = json!([{"op": "add", "path": "/spec/replicas", "value": 5}]);
    let path = format!("{WIDGETS}/a/scale");
    let scaled = changed_by(&cluster, scale, "PATCH", &path, json!({"spec": {"replicas": 1}})).await;
    // The widget had no replicas yet, so there is nothing to scale.
    assert_eq!(scaled.body["spec"]["replicas"], json!(5), "{scaled:?}");
}

#[tokio::test(start_paused = true)]
async fn changes_that_cannot_be_made_are_refused() {
    let cluster = Cluster::new();
    let internal = |why: &str| (500, format!("Internal error occurred: {why}"));
    let cases: Vec<(Value, (u16, String))> = vec![
        (
            json!([{"op": "add", "path": "/x/y", "value": 1}]),
            internal("add operation does not apply: doc is missing path: \"/x/y\": missing value"),
        ),
        (
            json!([{"op": "remove", "path": "/data/zz"}]),
            internal(
                "error in remove for path: '/data/zz': Unable to remove nonexistent key: zz: missing value",
            ),
        ),
        (
            json!([{"op": "test", "path": "/data/a", "value": "2"}]),
            internal("testing value /data/a failed: test failed"),
        ),
        (json!([{"op": "foo", "path": "/data/zz"}]), internal("Unexpected kind: foo")),
        (json!([{"path": "/data/a"}]), internal("Unexpected kind: unknown")),
        (
            json!({"op": "add"}),
            internal(
                "failed calling webhook \"m.example.com\": received undecodable patch in webhook response: json: cannot \
                 unmarshal object into Go value of type jsonpatch.Patch",
            ),
        ),
        (
            json!([{"op": "add", "path": "/data/x", "value": 1}]),
            internal("json: cannot unmarshal number into Go struct field ConfigMap.data of type string"),
        ),
        (
            json!([{"op": "replace", "path": "/metadata/namespace", "value": "default"}]),
            (
                400,
                "the namespace of the provided object does not match the namespace sent on the request"
                    .to_owned(),
            ),
        ),
        (
            json!([{"op": "remove", "path": "/metadata/name"}]),
            (
                422,
                "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"
                    .to_owned(),
            ),
        ),
        (
            json!([{"op": "add", "path": "/metadata/resourceVersion", "value": "1"}]),
            (500, "resourceVersion should not be set on objects to be created".to_owned()),
        ),
    ];
    for (operations, (code, message)) in cases {
        let shown = operations.to_string();
        let refused = changed_by(&cluster, operations, "POST", MAPS, map("a")).await;
        assert_eq!(refused.refusal(), (code, message.as_str()), "{shown}");
    }
    let invalid = json!([{"op": "replace", "path": "/spec/size", "value": 99}]);
    let refused = changed_by(&cluster, invalid, "POST", WIDGETS, widget("w", &json!({"size": 1}))).await;
    assert_eq!(
        refused.refusal(),
        (
            422,
            "Widget.example.com \"w\" is invalid: spec.size: Invalid value: 99: spec.size in body should be less than \
             or equal to 10"
        )
    );
    let kind = json!([{"op": "replace", "path": "/kind", "value": "Foo"}]);
    let refused = changed_by(&cluster, kind, "POST", WIDGETS, widget("w", &json!({}))).await;
    assert_eq!(
        refused.refusal(),
        (422, "Foo.example.com \"w\" is invalid: kind: Invalid value: \"Foo\": must be Widget")
    );
}

#[tokio::test(start_paused = true)]
async fn a_patch_comes_with_its_type() {
    let cluster = Cluster::new();
    let encoded = |text: &str| STANDARD.encode(text);
    for (fields, why) in [
        (
            json!({"patch": encoded("[]")}),
            "received invalid webhook response: webhook returned response.patch but not response.patchType",
        ),
        (
            json!({"patchType": "JSONPatch"}),
            "received invalid webhook response: webhook returned response.patchType but not response.patch",
        ),
        (
            json!({"patch": encoded("[{\"op\":\"add\",\"path\":\"/data/x\",\"value\":\"1\"}]"), "patchType": "Foo"}),
            "unsupported patch type \"Foo\"",
        ),
        (
            json!({"patch": encoded("[]"), "patchType": ""}),
            "received invalid webhook response: webhook returned invalid response.patchType of \"\"",
        ),
        (
            json!({"patch": encoded("hello"), "patchType": "JSONPatch"}),
            "received undecodable patch in webhook response: invalid character 'h' looking for beginning of value",
        ),
        (
            json!({"patch": "%%%", "patchType": "JSONPatch"}),
            "failed to call webhook: illegal base64 data at input byte 0",
        ),
    ] {
        let shown = fields.to_string();
        cluster.answer("/m", move |review| response(review, &fields));
        cluster.configure("Mutating", "m", vec![webhook("m", "/m", &json!({}))]).await;
        let refused = cluster.send("POST", MAPS, map("a")).await;
        let expected = format!("Internal error occurred: failed calling webhook \"m.example.com\": {why}");
        assert_eq!(refused.refusal(), (500, expected.as_str()), "{shown}");
    }
}

#[tokio::test(start_paused = true)]
async fn updates_are_changed_within_what_any_update_may_change() {
    let cluster = Cluster::new();
    cluster.send("POST", MAPS, map("base")).await;
    let path = format!("{MAPS}/base");
    let replace = |field: &str, value: &str| json!([{"op": "replace", "path": format!("/metadata/{field}"), "value": value}]);
    for (field, message) in [
        ("name", "ConfigMap \"1\" is invalid: metadata.name: Invalid value: \"1\": field is immutable"),
        ("uid", "ConfigMap \"base\" is invalid: metadata.uid: Invalid value: \"1\": field is immutable"),
        (
            "resourceVersion",
            "Operation cannot be fulfilled on configmaps \"base\": the object has been modified; please apply your \
             changes to the latest version and try again",
        ),
    ] {
        let refused =
            changed_by(&cluster, replace(field, "1"), "PATCH", &path, json!({"data": {"z": "1"}})).await;
        assert_eq!(refused.message(), message, "{field}");
    }
    let operations = json!([{"op": "add", "path": "/data/up", "value": "1"}]);
    let updated = changed_by(&cluster, operations.clone(), "PATCH", &path, json!({"data": {"z": "1"}})).await;
    assert_eq!(updated.body["data"], json!({"a": "1", "up": "1", "z": "1"}));
    let owned = &updated.body["metadata"]["managedFields"][0]["fieldsV1"]["f:data"];
    assert_eq!(owned, &json!({".": {}, "f:a": {}, "f:z": {}}));
    let deleted = changed_by(&cluster, operations, "DELETE", &path, Value::Null).await;
    assert_eq!(
        deleted.refusal(),
        (
            500,
            "Internal error occurred: admission webhook \"m.example.com\" attempted to modify the object, which is not \
             supported for this operation"
        )
    );
}

#[tokio::test(start_paused = true)]
async fn managed_fields_that_nobody_can_read_are_taken_back() {
    let cluster = Cluster::new();
    let operations = json!([{"op": "replace", "path": "/metadata/managedFields", "value": [{"manager": "x", "operation": "Foo"}]}]);
    let created = changed_by(&cluster, operations, "POST", MAPS, map("a")).await;
    assert_eq!(
        created.warnings,
        [
            "299 - \".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated \
             mutating admission controller; please fix your requests: operation must be `Apply` or `Update`\""
        ]
    );
    assert_eq!(created.body["metadata"]["managedFields"][0]["manager"], "rec");
}

#[tokio::test(start_paused = true)]
async fn webhooks_are_asked_in_order_and_again_if_they_want_that() {
    let cluster = Cluster::new();
    cluster.answer("/b", |review| patch(review, &json!([{"op": "add", "path": "/data/b", "value": "1"}])));
    let again = json!({"reinvocationPolicy": "IfNeeded"});
    cluster
        .configure("Mutating", "zzz", vec![webhook("b", "/b", &json!({})), webhook("d", "/d", &again)])
        .await;
    cluster
        .configure("Mutating", "zz", vec![webhook("a", "/a", &again), webhook("c", "/c", &json!({}))])
        .await;
    assert_eq!(cluster.send("POST", MAPS, map("one")).await.code, 201);
    assert_eq!(cluster.asked_paths(), ["/a", "/c", "/b", "/d", "/a"]);
    cluster.answer("/a", |review| patch(review, &json!([{"op": "add", "path": "/data/a", "value": "x"}])));
    let created = cluster.send("POST", MAPS, map("two")).await;
    assert_eq!(created.body["data"], json!({"a": "x", "b": "1"}));
    assert_eq!(cluster.asked_paths(), ["/a", "/c", "/b", "/d", "/a"]);
    cluster.answer("/b", crate::cluster::allow);
    cluster.answer("/a", crate::cluster::allow);
    cluster.send("POST", MAPS, map("three")).await;
    assert_eq!(cluster.asked_paths(), ["/a", "/c", "/b", "/d"], "nobody has changed anything");
}

#[tokio::test(start_paused = true)]
async fn an_object_is_shown_in_the_version_of_the_rule() {
    let cluster = Cluster::new();
    cluster.answer("/eq", |review| patch(review, &json!([{"op": "add", "path": "/spec/size", "value": 4}])));
    let own = json!({"rules": [rule("example.com", "v1", "widgets")]});
    cluster.configure("Mutating", "m", vec![webhook("eq", "/eq", &own)]).await;
    let object = |name: &str| json!({"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": name}, "spec": {}});
    let created = cluster.send("POST", WIDGETS_V2, object("a")).await;
    assert_eq!(
        (&created.body["apiVersion"], &created.body["spec"]["size"]),
        (&json!("example.com/v2"), &json!(4))
    );
    let asked = &cluster.asked()[0].1["request"];
    assert_eq!(
        [&asked["kind"]["version"], &asked["requestKind"]["version"], &asked["resource"]["version"]],
        ["v1", "v2", "v1"]
    );
    assert_eq!(asked["object"]["apiVersion"], "example.com/v1");
    let own = json!({"rules": [rule("example.com", "v1", "widgets")], "matchPolicy": "Exact"});
    cluster.configure("Mutating", "m", vec![webhook("eq", "/eq", &own)]).await;
    cluster.send("POST", WIDGETS_V2, object("b")).await;
    assert_eq!(cluster.asked_paths(), Vec::<String>::new());
    let own = json!({"rules": [rule("events.k8s.io", "v1", "events")]});
    cluster.configure("Mutating", "m", vec![webhook("eq", "/events", &own)]).await;
    let event = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "type": "Normal", "message": "hi",
        "involvedObject": {"kind": "Pod", "namespace": "t"},
    });
    assert_eq!(cluster.send("POST", "/api/v1/namespaces/t/events", event).await.code, 201);
    let asked = &cluster.asked()[0].1["request"];
    assert_eq!(
        (&asked["object"]["apiVersion"], &asked["object"]["note"]),
        (&json!("events.k8s.io/v1"), &json!("hi"))
    );
}

#[tokio::test(start_paused = true)]
async fn a_patch_outlasts_what_others_write_meanwhile() {
    let cluster = Cluster::new();
    cluster.send("POST", MAPS, map("a")).await;
    let (other, is_first) = (cluster.clone(), AtomicBool::new(true));
    cluster.answer("/m", move |review| {
        // Whoever writes while the webhook is asked is not locked out.
        if is_first.swap(false, Ordering::Relaxed) {
            let path = format!("{MAPS}/a");
            let written = other.send("PATCH", &path, json!({"data": {"other": "1"}})).now_or_never();
            assert_eq!(written.expect("nobody is asked about it").code, 200);
        }
        patch(review, &json!([{"op": "add", "path": "/data/hook", "value": "1"}]))
    });
    cluster
        .configure(
            "Mutating",
            "m",
            vec![webhook("m", "/m", &json!({"objectSelector": {"matchLabels": {"x": "y"}}}))],
        )
        .await;
    let own = json!({"metadata": {"labels": {"x": "y"}}, "data": {"own": "1"}});
    let patched = cluster.send("PATCH", &format!("{MAPS}/a"), own).await;
    assert_eq!(patched.body["data"], json!({"a": "1", "hook": "1", "other": "1", "own": "1"}));
    assert_eq!(cluster.asked_paths(), ["/m", "/m"], "it was asked about the object as it is now");
}
