//! The objects that every cluster has from the start.

use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::{authz, registry::Registry};

/// Puts them into the store.
pub(crate) fn create(registry: &Registry) {
    static OBJECTS: LazyLock<Vec<Value>> = LazyLock::new(objects);
    for object in OBJECTS.iter() {
        registry.seed(object.clone());
    }
}

fn objects() -> Vec<Value> {
    let mut objects: Vec<Value> = ["default", "kube-system", "kube-public", "kube-node-lease"]
        .map(|name| json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }))
        .into();
    objects.push(json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": { "component": "apiserver", "provider": "kubernetes" },
        },
        "spec": {
            "type": "ClusterIP",
            "clusterIP": "10.96.0.1",
            "clusterIPs": ["10.96.0.1"],
            "internalTrafficPolicy": "Cluster",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "ports": [{ "name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443 }],
            "sessionAffinity": "None",
        },
    }));
    objects.extend(authz::bootstrap_objects());
    let others: Vec<Value> = serde_json::from_str(include_str!("../data/bootstrap.json"))
        .expect("the table of objects that every cluster has is part of the crate");
    objects.extend(others);
    objects
}
