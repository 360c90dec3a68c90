use schemars::JsonSchema;

use crate::comparison::Golden;

/// A kind.
///
/// +kubebuilder:resource:path=providers,scope=Namespaced,categories=cluster-api
/// +kubebuilder:storageversion
/// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp",description="The age"
/// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".type"
/// +kubebuilder:printcolumn:name="Provider",type="string",JSONPath=".providerName"
/// +kubebuilder:printcolumn:name="Version",type="string",JSONPath=".version"
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct Provider {
    /// A name.
    ///
    /// +optional
    provider_name: Option<String>,
    /// A type.
    ///
    /// +optional
    r#type: Option<String>,
    /// A version.
    ///
    /// +optional
    version: Option<String>,
    /// A namespace.
    ///
    /// In paragraphs.
    ///
    /// +optional
    watched_namespace: Option<String>,
}

#[test]
fn providers() {
    Golden::of::<Provider>(
        "extra/cluster-api/clusterctl.cluster.x-k8s.io_providers.yaml",
        ("clusterctl.cluster.x-k8s.io", "v1alpha3", "Provider"),
        &["sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"],
    )
    .assert();
}
