//! The kind Memcached.

use kubewright::prelude::*;

/// MemcachedSpec defines the desired state of Memcached.
///
/// +kubebuilder:resource:shortName=mc
/// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
/// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
/// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
#[derive(CustomResource, Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "cache.example.com",
    version = "v1alpha1",
    kind = "Memcached",
    doc = "Memcached runs a number of memcached servers.",
    namespaced,
    status = "MemcachedStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedSpec {
    /// Size is the number of memcached instances.
    ///
    /// +kubebuilder:validation:Minimum=1
    /// +kubebuilder:validation:Maximum=3
    pub size: i32,

    /// ContainerPort is the port on which each instance listens.
    ///
    /// +kubebuilder:validation:Minimum=1
    /// +kubebuilder:validation:Maximum=65535
    #[serde(default = "default_container_port")]
    pub container_port: i32,
}

/// MemcachedStatus defines the observed state of Memcached.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedStatus {
    /// Conditions tell what state the object is in: each type of condition once.
    ///
    /// +listType=map
    /// +listMapKey=type
    /// +optional
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,

    /// Nodes are the names of the pods that run memcached.
    #[serde(default)]
    pub nodes: Vec<String>,
}

fn default_container_port() -> i32 {
    11211
}
