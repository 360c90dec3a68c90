//! Bounds of numbers, texts, lists and objects.

use std::collections::BTreeMap;

use kubewright_manifests::{
    Style,
    schema::{Options, compile},
    yaml,
};
use schemars::JsonSchema;

use crate::assert_recorded;

/// +kubebuilder:validation:Minimum=3
/// +kubebuilder:validation:ExclusiveMinimum=true
#[derive(JsonSchema)]
struct Above(i32);

/// +kubebuilder:validation:MaxLength=63
/// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
#[derive(JsonSchema)]
struct Label(String);

/// +kubebuilder:validation:MinItems=1
/// +kubebuilder:validation:items:MaxLength=7
#[derive(JsonSchema)]
struct Labels(Vec<Label>);

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BoundsSpec {
    /// +kubebuilder:validation:Minimum=0
    /// +kubebuilder:validation:Maximum=100
    /// +kubebuilder:validation:ExclusiveMaximum=true
    percent: i32,
    /// +kubebuilder:validation:Minimum=0
    /// +kubebuilder:validation:ExclusiveMinimum=false
    not_exclusive: i64,
    /// +kubebuilder:validation:Minimum=+5
    /// +kubebuilder:validation:Maximum=1e3
    forms: i32,
    /// +kubebuilder:validation:Minimum=0x10p0
    /// +kubebuilder:validation:Maximum= 17.0
    hex_and_spaces: i32,
    /// +kubebuilder:validation:Minimum=-1.5e-7
    /// +kubebuilder:validation:Maximum=1.25e+21
    /// +kubebuilder:validation:MultipleOf=0.25
    ratio: f64,
    /// +kubebuilder:validation:MultipleOf=7
    weekly: i64,
    above: Above,
    /// +kubebuilder:validation:MinLength=1
    /// +kubebuilder:validation:MaxLength=253
    /// +kubebuilder:validation:Pattern="^[A-Z]:\\\\.*$"
    /// +kubebuilder:validation:Format=uri
    name: String,
    label: Label,
    labels: Labels,
    /// +kubebuilder:validation:MinItems=0
    /// +kubebuilder:validation:MaxItems=3
    /// +kubebuilder:validation:UniqueItems=false
    /// +kubebuilder:validation:items:Minimum=1
    /// +kubebuilder:validation:items:ExclusiveMaximum=true
    /// +kubebuilder:validation:items:Maximum=65536
    /// +kubebuilder:validation:items:MultipleOf=2
    ports: Vec<i32>,
    /// +kubebuilder:validation:items:Enum=a;b;c
    /// +kubebuilder:validation:items:Format=hostname
    /// +kubebuilder:validation:items:XValidation:rule="self != 'd'",message="not d"
    /// +listType=set
    letters: Vec<String>,
    /// +kubebuilder:validation:MinProperties=1
    /// +kubebuilder:validation:MaxProperties=4
    map: BTreeMap<String, String>,
    /// +kubebuilder:validation:Enum=1;2;3
    small: i32,
    /// +kubebuilder:validation:Enum={"true",yes,"1",1.5,a b}
    words: String,
    /// +kubebuilder:validation:Enum=""
    empty: String,
    /// +kubebuilder:validation:Type=string
    /// +kubebuilder:validation:Format=int-or-string
    retyped: i32,
    /// +kubebuilder:validation:XIntOrString
    /// +kubebuilder:validation:Pattern=`^[0-9]+%?$`
    /// +kubebuilder:validation:MaxLength=5
    either: String,
    /// +kubebuilder:validation:Pattern:=`^a:b$`
    colon_equals: String,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UniqueSpec {
    /// +kubebuilder:validation:UniqueItems=true
    names: Vec<String>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ExtremeSpec {
    /// +kubebuilder:validation:Minimum=-9223372036854775808
    /// +kubebuilder:validation:Maximum=9223372036854775807
    extremes: i64,
}

#[test]
fn bounds_of_64_bits() {
    assert_recorded::<ExtremeSpec>("bounds", "extremes");
    let yaml = |style| {
        let mut options = Options::default();
        options.style = style;
        yaml::stream([&compile::<ExtremeSpec>(&options).schema])
    };
    // controller-gen reads bounds as floats.
    let theirs = yaml(Style::ControllerGen);
    assert!(theirs.contains("maximum: 9223372036854776000\n"), "{theirs}");
    assert!(theirs.contains("minimum: -9.223372036854776e+18\n"), "{theirs}");
    let ours = yaml(Style::Kubewright);
    assert!(ours.contains("maximum: 9223372036854775807\n"), "{ours}");
    assert!(ours.contains("minimum: -9223372036854775808\n"), "{ours}");
}

#[test]
fn bounds() {
    assert_recorded::<BoundsSpec>("bounds", "bounds");
}

#[test]
fn unique_items() {
    assert_recorded::<UniqueSpec>("bounds", "uniques");
}
