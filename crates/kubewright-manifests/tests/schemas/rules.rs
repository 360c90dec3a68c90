//! CEL rules and their order.

use schemars::JsonSchema;

use crate::assert_recorded;

/// +kubebuilder:validation:XValidation:rule="!has(self.min) || !has(self.max) || self.min <= self.max",message="min is above max",fieldPath=".min",reason=FieldValueForbidden
/// +kubebuilder:validation:AtMostOneOf=a;b;c
/// +kubebuilder:validation:XValidation:rule=`!has(self.min) || self.min < 1000`,messageExpression="'min is ' + string(self.min)"
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Range {
    /// +optional
    min: Option<i32>,
    /// +optional
    max: Option<i32>,
    /// +optional
    a: Option<String>,
    /// +optional
    b: Option<String>,
    /// +optional
    c: Option<String>,
}

/// +kubebuilder:validation:ExactlyOneOf=a;b
/// +kubebuilder:validation:AtLeastOneOf=c
/// +kubebuilder:validation:AtMostOneOf=c;d
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Union {
    /// +optional
    a: Option<String>,
    /// +optional
    b: Option<String>,
    /// +optional
    c: Option<String>,
    /// +optional
    d: Option<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RulesSpec {
    /// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="immutable",reason="FieldValueInvalid"
    /// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self != ''",optionalOldSelf=true
    /// +kubebuilder:validation:XValidation:rule="self.startsWith(\"a\\\\\")",message="no a"
    /// +kubebuilder:validation:MaxLength=100
    name: String,
    range: Range,
    /// +optional
    union: Option<Union>,
    /// +kubebuilder:validation:XValidation:rule="self.all(x, x.size() < 10)",message="each is short"
    /// +kubebuilder:validation:MaxItems=10
    /// +kubebuilder:validation:items:XValidation:rule="self != 'x'"
    /// +kubebuilder:validation:items:MaxLength=100
    list: Vec<String>,
}

/// The rule of the field comes first.
///
/// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() < 20",message="the name is long"
#[derive(JsonSchema)]
struct Root {
    /// +kubebuilder:validation:XValidation:rule="self.name != 'no'"
    spec: RulesSpec,
}

#[test]
fn rules() {
    assert_recorded::<Root>("rules", "ruleds");
}
