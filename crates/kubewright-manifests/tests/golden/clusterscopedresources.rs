use schemars::JsonSchema;

use crate::comparison::Golden;

/// A kind outside of namespaces.
///
/// +kubebuilder:subresource:status
/// +kubebuilder:resource:scope=Cluster
#[derive(JsonSchema)]
struct ClusterScopedResource {
    spec: Option<ClusterScopedResourceSpec>,
}

/// What is wanted.
#[derive(JsonSchema)]
struct ClusterScopedResourceSpec {}

#[test]
fn clusterscopedresources() {
    Golden::of::<ClusterScopedResource>(
        "controller-tools/pkg/applyconfiguration/testdata/cronjob/api/v1/testdata.kubebuilder.io_clusterscopedresources.yaml",
        ("testdata.kubebuilder.io", "v1", "ClusterScopedResource"),
        &["sigs.k8s.io/controller-tools/pkg/applyconfiguration/testdata/cronjob/api/v1"],
    )
    .assert();
}
