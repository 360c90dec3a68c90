//! Types with limits, and fields that limit them again.

use std::collections::BTreeMap;

use schemars::JsonSchema;

use crate::assert_recorded;

/// Limited is a text.
/// +kubebuilder:validation:MinLength=2
/// +kubebuilder:validation:MaxLength=20
/// +kubebuilder:validation:Pattern=`^a`
#[derive(JsonSchema)]
struct Limited(String);

/// +kubebuilder:validation:Minimum=1
/// +kubebuilder:validation:Maximum=10
/// +kubebuilder:validation:MultipleOf=2
#[derive(JsonSchema)]
struct Number(i32);

/// +kubebuilder:validation:Enum=A;B;C
#[derive(JsonSchema)]
struct Choice(String);

/// +kubebuilder:validation:MinItems=1
/// +kubebuilder:validation:MaxItems=9
/// +listType=set
#[derive(JsonSchema)]
struct Names(Vec<Limited>);

/// +kubebuilder:validation:MinProperties=1
/// +kubebuilder:validation:MaxProperties=5
/// +mapType=granular
#[derive(JsonSchema)]
struct Table(BTreeMap<String, Limited>);

/// +kubebuilder:validation:XValidation:rule="self != 'first'",message="first"
/// +kubebuilder:validation:XValidation:rule="self != 'second'",message="second"
#[derive(JsonSchema)]
struct Ruled(String);

/// Alias of a limited text.
#[derive(JsonSchema)]
struct Alias(Limited);

/// +kubebuilder:validation:MaxLength=15
#[derive(JsonSchema)]
struct Narrower(Limited);

/// +kubebuilder:validation:XValidation:rule="self.size() < 100"
#[derive(JsonSchema)]
struct NarrowerNames(Names);

/// +kubebuilder:title=Titled
/// +kubebuilder:externalDocs:url="https://example.com/type",description="of the type"
/// +kubebuilder:validation:Format=label
#[derive(JsonSchema)]
struct Titled(String);

/// Inner is a struct.
/// +structType=atomic
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Inner {
    text: Limited,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FlatteningSpec {
    plain: Limited,
    /// Longer than the type's.
    /// +kubebuilder:validation:MinLength=3
    longer: Limited,
    /// +kubebuilder:validation:MinLength=2
    equal: Limited,
    /// +kubebuilder:validation:MaxLength=20
    equal_max: Limited,
    /// +kubebuilder:validation:Pattern=`^a`
    equal_pattern: Limited,
    /// +kubebuilder:validation:Pattern=`b$`
    other_pattern: Limited,
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=30
    /// +kubebuilder:validation:Pattern=`c`
    all: Limited,
    /// +kubebuilder:validation:Format=hostname
    format: Limited,
    /// +kubebuilder:validation:Minimum=2
    /// +kubebuilder:validation:Maximum=8
    tighter: Number,
    /// +kubebuilder:validation:Minimum=-1
    /// +kubebuilder:validation:Maximum=80
    looser: Number,
    /// +kubebuilder:validation:Minimum=1
    /// +kubebuilder:validation:ExclusiveMinimum=true
    exclusive: Number,
    /// +kubebuilder:validation:MultipleOf=3
    multiple: Number,
    /// +kubebuilder:validation:Enum=B;C;D
    chosen: Choice,
    /// +kubebuilder:validation:MinItems=2
    /// +kubebuilder:validation:MaxItems=8
    names: Names,
    /// +kubebuilder:validation:items:MinLength=5
    items_of_type: Vec<Limited>,
    /// +listType=atomic
    atomic: Names,
    /// +kubebuilder:validation:MinProperties=2
    /// +kubebuilder:validation:MaxProperties=5
    table: Table,
    /// +mapType=atomic
    atomic_table: Table,
    /// +kubebuilder:validation:XValidation:rule="self != 'third'",message="third"
    ruled: Ruled,
    alias: Alias,
    narrower: Narrower,
    /// +kubebuilder:validation:MaxLength=10
    narrower_still: Narrower,
    narrower_names: NarrowerNames,
    titled: Titled,
    /// +kubebuilder:title="Titled by the field"
    /// +kubebuilder:externalDocs:url="https://example.com/field"
    /// +kubebuilder:validation:Format=other-label
    titled_over: Titled,
    /// +structType=granular
    inner: Inner,
    /// +nullable
    inner_bounded: Inner,
    /// +kubebuilder:default={text: "abc"}
    inner_default: Inner,
}

#[test]
fn types_and_fields_are_joined() {
    assert_recorded::<FlatteningSpec>("flattening", "flatteneds");
}
