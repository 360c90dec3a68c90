//! What webhooks are asked.

use serde_json::{Value, json};

use crate::cluster::{Cluster, MAPS, WIDGETS, WIDGETS_V2, map, webhook, widget};

#[tokio::test(start_paused = true)]
async fn a_question_says_all_about_the_request() {
    let cluster = Cluster::new();
    cluster.configure("Mutating", "m", vec![webhook("m", "/m", &json!({}))]).await;
    cluster.configure("Validating", "v", vec![webhook("v", "/v", &json!({"timeoutSeconds": 3}))]).await;
    let path = format!("{MAPS}?fieldManager=fm&fieldValidation=Strict");
    let created = cluster.send("POST", &path, map("a")).await;
    assert_eq!(created.code, 201, "{created:?}");
    let [mutating, validating] = <[_; 2]>::try_from(cluster.asked()).expect("both were asked");
    assert_eq!(
        (mutating.0.as_str(), validating.0.as_str()),
        ("https://hooks/m?timeout=10s", "https://hooks/v?timeout=3s")
    );
    let kind = json!({"group": "", "version": "v1", "kind": "ConfigMap"});
    let resource = json!({"group": "", "version": "v1", "resource": "configmaps"});
    let managed = created.body["metadata"]["managedFields"].clone();
    assert_eq!(managed[0]["manager"], "fm");
    let mut expected = json!({
        "kind": "AdmissionReview",
        "apiVersion": "admission.k8s.io/v1",
        "request": {
            "uid": mutating.1["request"]["uid"],
            "kind": kind,
            "resource": resource,
            "requestKind": kind,
            "requestResource": resource,
            "name": "a",
            "namespace": "t",
            "operation": "CREATE",
            "userInfo": {"username": "system:admin", "groups": ["system:masters", "system:authenticated"]},
            "object": {
                "kind": "ConfigMap",
                "apiVersion": "v1",
                "metadata": {"name": "a", "namespace": "t", "managedFields": managed},
                "data": {"a": "1"},
            },
            "oldObject": null,
            "dryRun": false,
            "options": {
                "kind": "CreateOptions",
                "apiVersion": "meta.k8s.io/v1",
                "fieldManager": "fm",
                "fieldValidation": "Strict",
            },
        },
    });
    assert_eq!(mutating.1, expected);
    // Who validates sees the object as it will be stored.
    expected["request"]["uid"] = validating.1["request"]["uid"].clone();
    for field in ["uid", "creationTimestamp"] {
        expected["request"]["object"]["metadata"][field] = created.body["metadata"][field].clone();
    }
    assert_eq!(validating.1, expected);
    assert_ne!(mutating.1["request"]["uid"], validating.1["request"]["uid"]);
}

/// What a question says, in short.
fn summary(review: &Value) -> String {
    let request = &review["request"];
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let shape = |object: &Value| match object {
        Value::Null => "null".to_owned(),
        object => text(&object["kind"]),
    };
    format!(
        "{} {} {} {} {} -> {}, {}",
        text(&request["operation"]),
        text(&request["resource"]["resource"]),
        text(&request["subResource"]),
        text(&request["name"]),
        text(&request["options"]["kind"]),
        shape(&request["oldObject"]),
        shape(&request["object"]),
    )
}

#[tokio::test(start_paused = true)]
async fn every_write_is_asked_about() {
    let cluster = Cluster::new();
    cluster.configure("Mutating", "m", vec![webhook("m", "/m", &json!({}))]).await;
    cluster.configure("Validating", "v", vec![webhook("v", "/v", &json!({}))]).await;
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    });
    let pods = "/api/v1/namespaces/t/pods";
    let generated = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "g-", "labels": {"g": "1"}}});
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n"},
    });
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}});
    let ephemeral = json!({"spec": {"ephemeralContainers": [{"name": "e", "image": "i"}]}});
    let token = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "sa"}});
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}});
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"nonResourceAttributes": {"path": "/", "verb": "get"}},
    });
    let steps: Vec<(&str, String, Value, &str)> = vec![
        ("POST", MAPS.into(), map("a"), "CREATE configmaps - a CreateOptions -> null, ConfigMap"),
        ("PUT", format!("{MAPS}/a"), map("a"), "UPDATE configmaps - a UpdateOptions -> ConfigMap, ConfigMap"),
        (
            "PATCH",
            format!("{MAPS}/a"),
            json!({"data": {"b": "2"}}),
            "UPDATE configmaps - a UpdateOptions -> ConfigMap, ConfigMap",
        ),
        (
            "PATCH apply",
            format!("{MAPS}/n?fieldManager=m"),
            map("n"),
            "CREATE configmaps - n CreateOptions -> null, ConfigMap",
        ),
        (
            "PATCH apply",
            format!("{MAPS}/n?fieldManager=m"),
            map("n"),
            "UPDATE configmaps - n UpdateOptions -> ConfigMap, ConfigMap",
        ),
        (
            "PUT",
            "/apis/coordination.k8s.io/v1/namespaces/t/leases/l".into(),
            lease,
            "CREATE leases - l CreateOptions -> null, Lease",
        ),
        (
            "DELETE",
            format!("{MAPS}/a"),
            Value::Null,
            "DELETE configmaps - a DeleteOptions -> ConfigMap, null",
        ),
        ("POST", MAPS.into(), generated, "CREATE configmaps - - CreateOptions -> null, ConfigMap"),
        (
            "DELETE",
            format!("{MAPS}?labelSelector=g"),
            Value::Null,
            "DELETE configmaps - - DeleteOptions -> ConfigMap, null",
        ),
        (
            "POST",
            WIDGETS_V2.into(),
            json!({"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"replicas": 1}}),
            "CREATE widgets - w CreateOptions -> null, Widget",
        ),
        (
            "PATCH",
            format!("{WIDGETS}/w/status"),
            json!({"status": {"ok": true}}),
            "UPDATE widgets status w UpdateOptions -> Widget, Widget",
        ),
        (
            "PATCH",
            format!("{WIDGETS}/w/scale"),
            json!({"spec": {"replicas": 2}}),
            "UPDATE widgets scale w UpdateOptions -> Scale, Scale",
        ),
        ("POST", pods.into(), pod, "CREATE pods - p CreateOptions -> null, Pod"),
        (
            "POST",
            format!("{pods}/p/binding"),
            binding,
            "CREATE pods binding p CreateOptions -> null, Binding",
        ),
        (
            "PATCH strategic",
            format!("{pods}/p/ephemeralcontainers"),
            ephemeral,
            "UPDATE pods ephemeralcontainers p UpdateOptions -> Pod, Pod",
        ),
        // The delete of the pod that follows is not asked about again.
        (
            "POST",
            format!("{pods}/p/eviction"),
            eviction,
            "CREATE pods eviction p CreateOptions -> null, Eviction",
        ),
        (
            "POST",
            "/api/v1/namespaces/t/serviceaccounts".into(),
            account,
            "CREATE serviceaccounts - sa CreateOptions -> null, ServiceAccount",
        ),
        (
            "POST",
            "/api/v1/namespaces/t/serviceaccounts/sa/token".into(),
            token,
            "CREATE serviceaccounts token sa CreateOptions -> null, TokenRequest",
        ),
        // Questions about rights are no writes.
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".into(), review, ""),
    ];
    for (method, path, body, expected) in steps {
        let answered = cluster.send(method, &path, body).await;
        assert!(answered.code < 300, "{method} {path}: {answered:?}");
        let asked: Vec<String> = cluster.asked().iter().map(|(_, review)| summary(review)).collect();
        let expected: Vec<&str> = if expected.is_empty() { Vec::new() } else { vec![expected; 2] };
        let is_generated = path == MAPS && asked.get(1).is_some_and(|second| second.contains(" g-"));
        if is_generated {
            // Who validates knows the name.
            assert_eq!(asked[..1], expected[..1], "{method} {path}");
        } else {
            assert_eq!(asked, expected, "{method} {path}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_before_is_not_asked_about() {
    let cluster = Cluster::new();
    cluster.configure("Mutating", "m", vec![webhook("m", "/m", &json!({}))]).await;
    cluster
        .configure(
            "Validating",
            "v",
            vec![webhook(
                "v",
                "/v",
                &json!({"rules": [crate::cluster::rule("*", "*", "*/*")], "namespaceSelector": null}),
            )],
        )
        .await;
    cluster.asked();
    let missing = cluster.send("DELETE", &format!("{MAPS}/nope"), Value::Null).await;
    assert_eq!((missing.code, cluster.asked_paths()), (404, vec![]));
    // Only who may change the object is asked about what turns out to be invalid, or of an old version.
    let invalid = cluster.send("POST", WIDGETS, widget("w", &json!({"size": 30}))).await;
    assert_eq!((invalid.code, cluster.asked_paths()), (422, vec!["/m".to_owned()]));
    cluster.send("POST", MAPS, map("a")).await;
    cluster.asked();
    let mut old = map("a");
    old["metadata"]["resourceVersion"] = json!("1");
    let conflict = cluster.send("PUT", &format!("{MAPS}/a"), old).await;
    assert_eq!((conflict.code, cluster.asked_paths()), (409, vec!["/m".to_owned()]));
    // Configurations are not shown to those whom they configure.
    cluster.configure("Validating", "other", vec![]).await;
    assert_eq!(cluster.asked_paths(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn who_validates_sees_what_the_server_hands_out() {
    let cluster = Cluster::new();
    cluster.configure("Validating", "v", vec![webhook("v", "/v", &json!({}))]).await;
    let service = |name: &str| json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"port": 80}]}});
    let services = "/api/v1/namespaces/t/services";
    let (one, other) = tokio::join!(
        cluster.send("POST", services, service("one")),
        cluster.send("POST", services, service("other"))
    );
    let address = |object: &Value| object["spec"]["clusterIP"].clone();
    assert_eq!((one.code, other.code), (201, 201));
    assert_ne!(address(&one.body), address(&other.body));
    let shown: Vec<Value> =
        cluster.asked().iter().map(|(_, review)| address(&review["request"]["object"])).collect();
    assert!(shown.contains(&address(&one.body)) && shown.contains(&address(&other.body)), "{shown:?}");
}
