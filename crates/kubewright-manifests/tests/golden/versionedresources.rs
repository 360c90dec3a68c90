use schemars::JsonSchema;

use crate::comparison::Golden;

/// Shared by the versions.
mod structs {
    use schemars::JsonSchema;

    #[derive(JsonSchema)]
    pub(super) struct OuterStruct {
        /// +structType=atomic
        pub(super) r#struct: Option<InnerStruct>,
    }

    #[derive(JsonSchema)]
    pub(super) struct InnerStruct {
        pub(super) foo: Option<String>,
    }
}

#[derive(JsonSchema)]
struct VersionedResourceSpec {
    r#struct: Option<structs::OuterStruct>,
}

/// +kubebuilder:subresource:status
/// +kubebuilder:resource:singular=versionedresource
#[derive(JsonSchema)]
#[schemars(rename = "VersionedResource")]
struct V1beta1 {
    spec: VersionedResourceSpec,
}

/// +kubebuilder:storageversion
/// +kubebuilder:subresource:status
/// +kubebuilder:resource:singular=versionedresource
#[derive(JsonSchema)]
#[schemars(rename = "VersionedResource")]
struct V1beta2 {
    spec: VersionedResourceSpec,
}

#[test]
fn versionedresources() {
    Golden::of::<V1beta2>(
        "controller-tools/pkg/crd/testdata/multiple_versions/testdata.kubebuilder.io_versionedresources.yaml",
        ("testdata.kubebuilder.io", "v1beta2", "VersionedResource"),
        &[
            "sigs.k8s.io/controller-tools/pkg/crd/testdata/multiple_versions/v1beta2",
            "sigs.k8s.io/controller-tools/pkg/crd/testdata/multiple_versions",
        ],
    )
    .version::<V1beta1>(
        "v1beta1",
        &[
            "sigs.k8s.io/controller-tools/pkg/crd/testdata/multiple_versions/v1beta1",
            "sigs.k8s.io/controller-tools/pkg/crd/testdata/multiple_versions",
        ],
    )
    .assert();
}
