//! The objects that every cluster has from the start.

use std::{net::IpAddr, sync::LazyLock};

use serde_json::{Value, json};

use crate::{authz, registry::Registry};

/// Puts those into the store that are not there.
pub(crate) fn create(registry: &Registry) {
    static OBJECTS: LazyLock<Vec<Value>> = LazyLock::new(objects);
    let ranges = &registry.service_ranges;
    for object in OBJECTS.iter() {
        let mut object = object.clone();
        if object["kind"] == "ServiceCIDR" {
            object["spec"]["cidrs"] = ranges.texts().collect();
        }
        registry.seed(object);
    }
    registry.seed(service(ranges.first_address()));
}

/// The service of the API server itself.
fn service(address: IpAddr) -> Value {
    let family = if address.is_ipv4() { "IPv4" } else { "IPv6" };
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": { "component": "apiserver", "provider": "kubernetes" },
        },
        "spec": {
            "type": "ClusterIP",
            "clusterIP": address.to_string(),
            "clusterIPs": [address.to_string()],
            "internalTrafficPolicy": "Cluster",
            "ipFamilies": [family],
            "ipFamilyPolicy": "SingleStack",
            "ports": [{ "name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443 }],
            "sessionAffinity": "None",
        },
        "status": { "loadBalancer": {} },
    })
}

/// The other ones, in their canonical form.
pub(crate) fn objects() -> Vec<Value> {
    let mut objects: Vec<Value> = ["default", "kube-system", "kube-public", "kube-node-lease"]
        .map(|name| json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } }))
        .into();
    objects.extend(authz::bootstrap_objects());
    let others: Vec<Value> = serde_json::from_str(include_str!("../data/bootstrap.json"))
        .expect("the table of objects that every cluster has is part of the crate");
    objects.extend(others);
    objects
}
