//! Kubernetes' declarative validation.

use std::collections::BTreeMap;

use k8s_openapi::{
    ByteString,
    apimachinery::pkg::{apis::meta::v1::Time, util::intstr::IntOrString},
};
use schemars::JsonSchema;

use crate::assert_recorded;

/// +k8s:enum
#[derive(JsonSchema)]
enum Phase {
    B,
    A,
    /// It needs quotes.
    #[serde(rename = "a \"quoted\" one")]
    Odd,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Nested {
    key: String,
    /// +k8s:optional
    value: String,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DeclarativeSpec {
    /// +k8s:required
    text: Option<String>,
    /// +k8s:required
    /// +kubebuilder:validation:MinLength=3
    long_text: Option<String>,
    /// +kubebuilder:validation:MinLength=0
    /// +k8s:required
    maybe_empty: Option<String>,
    /// +k8s:required
    pointer: Option<String>,
    /// +k8s:required
    number: Option<i32>,
    /// +k8s:required
    flag: Option<bool>,
    /// +k8s:required
    list: Option<Vec<String>>,
    /// +k8s:required
    /// +kubebuilder:validation:MinItems=2
    pair: Option<Vec<String>>,
    /// +k8s:required
    map: Option<BTreeMap<String, String>>,
    /// +k8s:required
    #[schemars(schema_with = "kubewright_manifests::schema::byte_string")]
    bytes: Option<ByteString>,
    /// +k8s:required
    r#struct: Option<Nested>,
    /// +k8s:required
    struct_pointer: Option<Nested>,
    /// +k8s:required
    time: Option<Time>,
    /// +k8s:required
    either: Option<IntOrString>,
    /// +k8s:required
    phase: Option<Phase>,
    /// +k8s:optional
    left: String,
    /// +k8s:required
    /// +optional
    both: String,
    /// +k8s:minimum=1
    /// +k8s:maximum=10 # no more
    bounded: i32,
    /// +k8s:maxItems=5
    /// +k8s:listType=set
    set: Vec<String>,
    /// +k8s:listType=map
    /// +k8s:listMapKey=key
    /// +listMapKey=key
    keyed: Vec<Nested>,
    /// +k8s:immutable
    fixed: String,
    /// +k8s:immutable
    /// +optional
    fixed_once_set: Option<String>,
}

#[test]
fn declarative_validation() {
    assert_recorded::<DeclarativeSpec>("declarative", "declareds");
}
