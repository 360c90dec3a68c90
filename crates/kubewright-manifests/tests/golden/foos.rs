use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kubewright_manifests::crd::CrdOptions;
use schemars::JsonSchema;

use crate::comparison::Golden;

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
    status: Option<ZooStatus>,
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

#[derive(JsonSchema)]
struct ZooStatus {}

const FOOS: &str = "controller-tools/pkg/crd/testdata/gen/bar.example.com_foos.yaml";
const FOO: (&str, &str, &str) = ("bar.example.com", "foo", "Foo");
const PACKAGE: &[&str] = &["sigs.k8s.io/controller-tools/pkg/crd/testdata/gen"];

#[test]
fn foos() {
    Golden::of::<Foo>(FOOS, FOO, PACKAGE).assert();
}

#[test]
fn zoos() {
    Golden::of::<Zoo>(
        "controller-tools/pkg/crd/testdata/gen/zoo/bar.example.com_zoos.yaml",
        ("bar.example.com", "zoo", "Zoo"),
        &["sigs.k8s.io/controller-tools/pkg/crd/testdata/gen/zoo"],
    )
    .assert();
}

#[test]
fn foos_with_short_descriptions() {
    let mut options = CrdOptions::controller_gen();
    options.schema.max_description_length = Some(50);
    Golden::of::<Foo>(
        "controller-tools/pkg/crd/testdata/gen/bar.example.com_foos_maxdesclen.yaml",
        FOO,
        PACKAGE,
    )
    .texts_of(FOOS)
    .options(options)
    .assert();
}
