//! The objects that every cluster has from the start.

use serde_json::{Value, json};

use crate::{authz, server::ApiServer};

/// Creates them. They are valid, so nothing is refused.
pub(crate) fn create(server: &ApiServer) {
    for object in objects() {
        if let Err(status) = server.create(object) {
            tracing::error!(%status, "cannot create an object that every cluster has");
        }
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
    objects
}
