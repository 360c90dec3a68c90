//! Types of Kubernetes itself.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{
        Affinity, Container, EnvFromSource, EnvVar, LocalObjectReference, ObjectReference,
        PersistentVolumeClaimSpec, PodSecurityContext, ResourceRequirements, SecretKeySelector, ServicePort,
        Toleration, TopologySpreadConstraint, TypedLocalObjectReference,
    },
    apimachinery::pkg::{
        api::resource::Quantity,
        apis::meta::v1::{Condition, LabelSelector},
    },
};
use schemars::JsonSchema;

use crate::assert_recorded;

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CoreSpec {
    /// +optional
    selector: Option<LabelSelector>,
    /// +listType=map
    /// +listMapKey=type
    conditions: Option<Vec<Condition>>,
    /// +optional
    resources: Option<ResourceRequirements>,
    /// +optional
    affinity: Option<Affinity>,
    tolerations: Option<Vec<Toleration>>,
    env: Option<Vec<EnvVar>>,
    env_from: Option<Vec<EnvFromSource>>,
    ports: Option<Vec<ServicePort>>,
    container: Option<Container>,
    secret_ref: Option<SecretKeySelector>,
    object_ref: Option<ObjectReference>,
    local_ref: Option<LocalObjectReference>,
    typed_ref: Option<TypedLocalObjectReference>,
    pull_policy: Option<String>,
    service_type: Option<String>,
    security_context: Option<PodSecurityContext>,
    spread: Option<Vec<TopologySpreadConstraint>>,
    claim: Option<PersistentVolumeClaimSpec>,
    list: Option<BTreeMap<String, Quantity>>,
}

#[test]
fn embedded_types_are_merged_as_kubernetes_merges_them() {
    assert_recorded::<CoreSpec>("core-types", "cores");
}
