use kubewright_manifests::crd::CrdBuilder;
use schemars::JsonSchema;

use crate::comparison::{Written, assert_golden};

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

/// +kubebuilder:subresource:status
/// +kubebuilder:storageversion
/// +kubebuilder:resource:singular=versionedresource
#[derive(JsonSchema)]
#[schemars(rename = "VersionedResource")]
struct V1beta2 {
    spec: VersionedResourceSpec,
}

#[test]
fn versionedresources() {
    assert_golden(
        "controller-tools/pkg/crd/testdata/multiple_versions/testdata.kubebuilder.io_versionedresources.yaml",
        CrdBuilder::of_root::<V1beta2>("testdata.kubebuilder.io", "v1beta2", "VersionedResource")
            .root_version::<V1beta1>("v1beta1"),
        Written::ByMachine,
    );
}
