use std::collections::BTreeMap;

use schemars::JsonSchema;

use crate::comparison::Golden;

#[derive(JsonSchema)]
struct ImmutableType {
    spec: ImmutableSpec,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct ImmutableSpec {
    /// +k8s:immutable
    required_string: String,
    /// +k8s:immutable
    /// +optional
    optional_string: Option<String>,
    /// +k8s:immutable
    /// +optional
    optional_literal_string: Option<String>,
    /// +k8s:immutable
    required_struct: NestedStruct,
    /// +k8s:immutable
    /// +optional
    optional_struct: Option<NestedStruct>,
    /// +k8s:immutable
    /// +optional
    optional_omit_zero_struct: Option<NestedStruct>,
    /// +k8s:immutable
    required_slice: Vec<String>,
    /// +k8s:immutable
    /// +optional
    optional_slice: Option<Vec<String>>,
    /// +k8s:immutable
    required_map: BTreeMap<String, String>,
    /// +k8s:immutable
    /// +optional
    optional_map: Option<BTreeMap<String, String>>,
    mutable_string: String,
}

#[derive(JsonSchema)]
struct NestedStruct {
    key: String,
    value: String,
}

#[test]
fn immutabletypes() {
    Golden::of::<ImmutableType>(
        "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_immutabletypes.yaml",
        ("testdata.kubebuilder.io", "v1", "ImmutableType"),
        &["sigs.k8s.io/controller-tools/pkg/crd/testdata/immutable"],
    )
    .assert();
}
