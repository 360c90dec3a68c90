//! Which requests webhooks are asked about.

use serde_json::{Value, json};

use crate::cluster::{Cluster, MAPS, WIDGETS, map, rule, webhook, widget};

async fn asked(cluster: &Cluster, own: Value, method: &str, path: &str, body: Value) -> usize {
    cluster.configure("Validating", "v", vec![webhook("v", "/v", &own)]).await;
    cluster.asked();
    let answered = cluster.send(method, path, body).await;
    assert!(answered.code < 300, "{answered:?}");
    cluster.asked().len()
}

#[tokio::test(start_paused = true)]
async fn rules_name_resources_and_operations() {
    let cluster = Cluster::new();
    cluster.send("POST", WIDGETS, widget("w", &json!({}))).await;
    let mut number = 0;
    for (rules, main, status) in [
        (rule("*", "*", "*"), 1, 0),
        (rule("*", "*", "*/*"), 1, 1),
        (rule("example.com", "v1", "widgets"), 1, 0),
        (rule("example.com", "v1", "widgets/*"), 1, 1),
        (rule("example.com", "v1", "widgets/status"), 0, 1),
        (rule("example.com", "*", "*/status"), 0, 1),
        (rule("", "v1", "widgets"), 0, 0),
        (rule("example.com", "v9", "widgets"), 0, 0),
    ] {
        number += 1;
        let own = json!({"rules": [rules]});
        let spec = json!({"spec": {"size": number}});
        assert_eq!(asked(&cluster, own.clone(), "PATCH", &format!("{WIDGETS}/w"), spec).await, main, "{own}");
        let change = json!({"status": {"size": number}});
        assert_eq!(
            asked(&cluster, own.clone(), "PATCH", &format!("{WIDGETS}/w/status"), change).await,
            status,
            "{own}"
        );
    }
    let mut deletes = rule("*", "*", "*");
    deletes["operations"] = json!(["DELETE"]);
    let own = json!({"rules": [deletes]});
    assert_eq!(asked(&cluster, own.clone(), "POST", MAPS, map("a")).await, 0);
    assert_eq!(asked(&cluster, own, "DELETE", &format!("{MAPS}/a"), Value::Null).await, 1);
}

#[tokio::test(start_paused = true)]
async fn scopes_and_namespaces() {
    let cluster = Cluster::new();
    let scoped = |scope: &str| {
        let mut rule = rule("*", "*", "*");
        rule["scope"] = json!(scope);
        json!({"rules": [rule], "namespaceSelector": {}})
    };
    let namespace = |name: &str, labels: Value| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}});
    let namespaces = "/api/v1/namespaces";
    assert_eq!(asked(&cluster, scoped("Namespaced"), "POST", MAPS, map("a")).await, 1);
    assert_eq!(asked(&cluster, scoped("Cluster"), "POST", MAPS, map("b")).await, 0);
    let body = namespace("n1", json!({}));
    assert_eq!(asked(&cluster, scoped("Namespaced"), "POST", namespaces, body).await, 0);
    let body = namespace("n2", json!({}));
    assert_eq!(asked(&cluster, scoped("Cluster"), "POST", namespaces, body).await, 1);
    // A namespace is selected by its own labels, and what is in none is always selected.
    let body = namespace("n3", json!({"hook": "yes"}));
    assert_eq!(asked(&cluster, json!({}), "POST", namespaces, body).await, 1);
    let body = namespace("n4", json!({}));
    assert_eq!(asked(&cluster, json!({}), "POST", namespaces, body).await, 0);
    assert_eq!(asked(&cluster, json!({}), "DELETE", &format!("{namespaces}/n3"), Value::Null).await, 1);
    let role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "r"}});
    let roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
    assert_eq!(asked(&cluster, json!({}), "POST", roles, role).await, 1);
    assert_eq!(asked(&cluster, json!({}), "POST", "/api/v1/namespaces/n4/configmaps", map("a")).await, 0);
}

#[tokio::test(start_paused = true)]
async fn objects_are_selected_as_they_are_or_as_they_were() {
    let cluster = Cluster::new();
    let own = json!({"objectSelector": {"matchLabels": {"sel": "1"}}});
    assert_eq!(asked(&cluster, own.clone(), "POST", MAPS, map("a")).await, 0);
    let path = format!("{MAPS}/a");
    let label = |value: Value| json!({"metadata": {"labels": {"sel": value}}});
    assert_eq!(asked(&cluster, own.clone(), "PATCH", &path, label(json!("1"))).await, 1);
    assert_eq!(asked(&cluster, own.clone(), "PATCH", &path, label(Value::Null)).await, 1);
    assert_eq!(asked(&cluster, own, "PATCH", &path, json!({"data": {"b": "1"}})).await, 0);
}

#[tokio::test(start_paused = true)]
async fn reviews_are_of_the_first_version_that_is_known() {
    let cluster = Cluster::new();
    for (index, (versions, expected)) in [
        (json!(["v1beta1"]), "admission.k8s.io/v1beta1"),
        (json!(["v2", "v1"]), "admission.k8s.io/v1"),
        (json!(["v1beta1", "v1"]), "admission.k8s.io/v1beta1"),
    ]
    .into_iter()
    .enumerate()
    {
        let own = json!({"admissionReviewVersions": versions});
        cluster.configure("Validating", "v", vec![webhook("v", "/v", &own)]).await;
        let created = cluster.send("POST", MAPS, map(&format!("m{index}"))).await;
        assert_eq!((created.code, &cluster.asked()[0].1["apiVersion"]), (201, &json!(expected)));
    }
}
