use schemars::JsonSchema;

use crate::comparison::Golden;

/// A kind.
///
/// +kubebuilder:deprecatedversion:warning="use another"
/// +kubebuilder:resource:scope=Cluster,shortName={wpc}
/// +kubebuilder:printcolumn:name="Value",JSONPath=".value",type=integer,description="The value"
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
    Golden::of::<V1beta1>(
        "extra/kueue/kueue.x-k8s.io_workloadpriorityclasses.yaml",
        ("kueue.x-k8s.io", "v1beta1", "WorkloadPriorityClass"),
        &["sigs.k8s.io/kueue/apis/kueue/v1beta1"],
    )
    .version::<V1beta2>("v1beta2", &["sigs.k8s.io/kueue/apis/kueue/v1beta2"])
    .assert();
}
