use kubewright_manifests::crd::CrdBuilder;
use schemars::JsonSchema;

use crate::comparison::{Written, assert_golden};

/// A kind outside of namespaces.
///
/// +kubebuilder:resource:scope=Cluster
/// +kubebuilder:subresource:status
#[derive(JsonSchema)]
struct ClusterScopedResource {
    spec: Option<ClusterScopedResourceSpec>,
}

/// What is wanted.
#[derive(JsonSchema)]
struct ClusterScopedResourceSpec {}

#[test]
fn clusterscopedresources() {
    assert_golden(
        "controller-tools/pkg/applyconfiguration/testdata/cronjob/api/v1/testdata.kubebuilder.io_clusterscopedresources.yaml",
        CrdBuilder::of_root::<ClusterScopedResource>(
            "testdata.kubebuilder.io",
            "v1",
            "ClusterScopedResource",
        ),
        Written::ByMachine,
    );
}
