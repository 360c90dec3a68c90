use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_manifests::crd::{CrdBuilder, CrdOptions};
use schemars::JsonSchema;

use crate::comparison::{Written, assert_golden, assert_golden_with};

// The fields for the parts that every object has have comments that must not be seen.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct Foo {
    /// Not to be seen.
    api_version: String,
    /// Not to be seen.
    metadata: ObjectMeta,
    /// To be seen.
    spec: Option<FooSpec>,
    /// To be seen.
    status: Option<FooStatus>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct FooSpec {
    /// Has a default
    /// and an example.
    ///
    /// +kubebuilder:default=fooDefaultString
    /// +kubebuilder:example=fooExampleString
    defaulted_string: String,
}

#[derive(JsonSchema)]
struct FooStatus {}

#[derive(JsonSchema)]
struct Zoo {
    /// To be seen.
    spec: Option<ZooSpec>,
    /// To be seen.
    status: Option<FooStatus>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct ZooSpec {
    /// Has a default
    /// and an example.
    ///
    /// +kubebuilder:default=zooDefaultString
    /// +kubebuilder:example=zooExampleString
    defaulted_string: String,
}

const FOLDER: &str = "controller-tools/pkg/crd/testdata/gen";

#[test]
fn foos() {
    let builder = CrdBuilder::of_root::<Foo>("bar.example.com", "foo", "Foo");
    assert_golden(&format!("{FOLDER}/bar.example.com_foos.yaml"), builder, Written::ByMachine);
}

#[test]
fn zoos() {
    let builder = CrdBuilder::of_root::<Zoo>("bar.example.com", "zoo", "Zoo");
    assert_golden(&format!("{FOLDER}/zoo/bar.example.com_zoos.yaml"), builder, Written::ByMachine);
}

#[test]
fn foos_with_short_descriptions() {
    let builder = CrdBuilder::of_root::<Foo>("bar.example.com", "foo", "Foo");
    let mut options = CrdOptions::controller_gen();
    options.schema.max_description_length = Some(50);
    let path = format!("{FOLDER}/bar.example.com_foos_maxdesclen.yaml");
    assert_golden_with(&path, builder, options, Written::ByMachine);
}
