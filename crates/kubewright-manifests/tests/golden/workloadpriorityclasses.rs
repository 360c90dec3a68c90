use kubewright_manifests::crd::CrdBuilder;
use schemars::JsonSchema;

use crate::comparison::{Written, assert_golden};

/// A kind.
///
/// +kubebuilder:resource:scope=Cluster,shortName={wpc}
/// +kubebuilder:printcolumn:name="Value",JSONPath=".value",type=integer,description="The value"
/// +kubebuilder:deprecatedversion:warning="use another"
#[derive(JsonSchema)]
#[schemars(rename = "WorkloadPriorityClass")]
struct V1beta1 {
    /// A number.
    value: i32,
    /// A text.
    ///
    /// +optional
    description: Option<String>,
}

/// A kind.
///
/// +kubebuilder:storageversion
/// +kubebuilder:resource:scope=Cluster,shortName={wpc}
/// +kubebuilder:printcolumn:name="Value",JSONPath=".value",type=integer,description="The value"
#[derive(JsonSchema)]
#[schemars(rename = "WorkloadPriorityClass")]
struct V1beta2 {
    /// A number.
    ///
    /// +required
    value: i32,
    /// A text.
    ///
    /// +optional
    /// +kubebuilder:validation:MaxLength=2048
    description: Option<String>,
}

#[test]
fn workloadpriorityclasses() {
    let mut builder = CrdBuilder::of_root::<V1beta1>("kueue.x-k8s.io", "v1beta1", "WorkloadPriorityClass");
    builder = builder.root_version::<V1beta2>("v1beta2");
    let path = "extra/kueue/kueue.x-k8s.io_workloadpriorityclasses.yaml";
    assert_golden(path, builder, Written::ByMachine);
}
