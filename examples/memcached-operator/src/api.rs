//! The API group `cache.example.com`, version `v1alpha1`.

use kubewright::prelude::*;

/// MemcachedSpec defines the desired state of Memcached.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "cache.example.com",
    version = "v1alpha1",
    kind = "Memcached",
    doc = "Memcached runs a number of memcached servers.",
    namespaced,
    shortname = "mc",
    status = "MemcachedStatus",
    printcolumn(name = "Size", type_ = "integer", json_path = ".spec.size"),
    printcolumn(
        name = "Available",
        type_ = "string",
        json_path = r#".status.conditions[?(@.type=="Available")].status"#
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp")
)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedSpec {
    /// Size is the number of memcached instances.
    #[schemars(range(min = 1, max = 3))]
    pub size: i32,

    /// ContainerPort is the port on which each instance listens.
    #[serde(default = "default_container_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub container_port: i32,
}

/// MemcachedStatus defines the observed state of Memcached.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedStatus {
    /// Conditions tell whether the instances are available, being changed, or in trouble.
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["type"]))]
    pub conditions: Vec<Condition>,

    /// Nodes are the names of the pods that run memcached.
    #[serde(default)]
    pub nodes: Vec<String>,
}

fn default_container_port() -> i32 {
    11211
}
