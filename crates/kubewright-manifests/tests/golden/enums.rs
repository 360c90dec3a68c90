use kubewright_manifests::crd::CrdBuilder;
use schemars::JsonSchema;

use crate::comparison::{Written, assert_golden};

/// A kind with an enum.
#[derive(JsonSchema)]
struct Enum {
    spec: Option<EnumSpec>,
}

/// What is wanted.
#[derive(JsonSchema)]
struct EnumSpec {
    field: Option<EnumType>,
}

/// +k8s:enum
#[derive(JsonSchema)]
enum EnumType {
    Value2,
    Value1,
}

#[test]
fn enums() {
    assert_golden(
        "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_enums.yaml",
        CrdBuilder::of_root::<Enum>("testdata.kubebuilder.io", "v1", "Enum"),
        Written::ByHand,
    );
}
