use schemars::JsonSchema;

use crate::comparison::Golden;

/// A kind.
#[derive(JsonSchema)]
struct Oneof {
    spec: OneofSpec,
}

/// What is wanted.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct OneofSpec {
    first_type_with_oneof: Option<TypeWithOneofs>,
    second_type_with_oneof: Option<TypeWithMultipleOneofs>,
    first_type_with_exact_oneof: Option<TypeWithExactOneofs>,
    second_type_with_exact_oneof: Option<TypeWithMultipleExactOneofs>,
    type_with_multiple_at_least_one_of: Option<TypeWithMultipleAtLeastOneofs>,
    type_with_all_one_of: Option<TypeWithAllOneofs>,
    type_with_omit_zero: Option<TypeWithOmitZero>,
    type_with_omit_zero_exact: Option<TypeWithOmitZeroExact>,
    type_with_omit_zero_at_least_one_of: Option<TypeWithOmitZeroAtLeastOneOf>,
    first_custom_type_alias: Option<CustomTypeAlias>,
    /// The rule of the type is not there twice.
    second_custom_type_alias: Option<CustomTypeAlias>,
}

/// +kubebuilder:validation:XValidation:message="only one",rule="!(has(self.foo) && has(self.bar))"
/// +kubebuilder:validation:AtMostOneOf=foo;bar
#[derive(JsonSchema)]
struct TypeWithOneofs {
    foo: Option<String>,
    bar: Option<String>,
}

/// +kubebuilder:validation:AtMostOneOf=a;b
/// +kubebuilder:validation:AtMostOneOf=c;d
#[derive(JsonSchema)]
struct TypeWithMultipleOneofs {
    a: Option<String>,
    b: Option<String>,
    c: Option<String>,
    d: Option<String>,
}

/// +kubebuilder:validation:ExactlyOneOf=foo;bar
#[derive(JsonSchema)]
struct TypeWithExactOneofs {
    foo: Option<String>,
    bar: Option<String>,
}

/// +kubebuilder:validation:ExactlyOneOf=a;b
/// +kubebuilder:validation:ExactlyOneOf=c;d
#[derive(JsonSchema)]
struct TypeWithMultipleExactOneofs {
    a: Option<String>,
    b: Option<String>,
    c: Option<String>,
    d: Option<String>,
}

/// +kubebuilder:validation:AtLeastOneOf=a;b
/// +kubebuilder:validation:AtLeastOneOf=c;d
#[derive(JsonSchema)]
struct TypeWithMultipleAtLeastOneofs {
    a: Option<String>,
    b: Option<String>,
    c: Option<String>,
    d: Option<String>,
}

/// +kubebuilder:validation:AtMostOneOf=a;b
/// +kubebuilder:validation:ExactlyOneOf=c;d
/// +kubebuilder:validation:AtLeastOneOf=e;f
#[derive(JsonSchema)]
struct TypeWithAllOneofs {
    a: Option<String>,
    b: Option<String>,
    c: Option<String>,
    d: Option<String>,
    e: Option<String>,
    f: Option<String>,
}

/// +kubebuilder:validation:AtMostOneOf=foo;bar
#[derive(JsonSchema)]
struct TypeWithOmitZero {
    foo: Option<String>,
    bar: Option<String>,
}

/// +kubebuilder:validation:ExactlyOneOf=a;b
#[derive(JsonSchema)]
struct TypeWithOmitZeroExact {
    a: Option<String>,
    b: Option<String>,
}

/// +kubebuilder:validation:AtLeastOneOf=c;d
#[derive(JsonSchema)]
struct TypeWithOmitZeroAtLeastOneOf {
    c: Option<String>,
    d: Option<String>,
}

/// A number with bounds.
///
/// +kubebuilder:validation:XValidation:rule="self >= 100 && self <= 1000",message="out of bounds"
#[derive(JsonSchema)]
struct CustomTypeAlias(i32);

#[test]
fn oneofs() {
    Golden::of::<Oneof>(
        "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_oneofs.yaml",
        ("testdata.kubebuilder.io", "v1beta1", "Oneof"),
        &["sigs.k8s.io/controller-tools/pkg/crd/testdata/oneof"],
    )
    // It is above the spec by mistake and has no effect there. Ours may stand on the spec.
    .left_out(&[
        ("OneofSpec", "+kubebuilder:subresource:status"),
        ("OneofSpec", "+kubebuilder:resource:singular=oneof"),
    ])
    .assert();
}
