use std::collections::BTreeMap;

use kubewright_manifests::{
    crd::{CrdBuilder, CrdOptions},
    yaml,
};
use schemars::JsonSchema;
use serde_json::Value;

use crate::comparison::{assert_document, documents};

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

/// The rules of the optional fields stand in the order of the fields' names: a compiled type does not know in which order they
/// are declared, which is theirs for controller-gen.
#[test]
fn immutabletypes() {
    let path = "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_immutabletypes.yaml";
    let builder = CrdBuilder::of_root::<ImmutableType>("testdata.kubebuilder.io", "v1", "ImmutableType");
    let Some((ours, mut golden, _)) = documents(path, builder, CrdOptions::controller_gen()) else { return };
    let spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/x-kubernetes-validations";
    let rules = golden.pointer_mut(spec).and_then(Value::as_array_mut).expect("the rules of the spec");
    rules.sort_by_cached_key(|rule| rule["rule"].to_string());
    let text = yaml::stream([&golden]);
    assert_document(ours, &golden, &text);
}
