use schemars::JsonSchema;

use crate::comparison::Golden;

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
    Golden::of::<Enum>(
        "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_enums.yaml",
        ("testdata.kubebuilder.io", "v1", "Enum"),
        &["sigs.k8s.io/controller-tools/pkg/crd/testdata/enum"],
    )
    .edited_by_hand()
    .assert();
}
