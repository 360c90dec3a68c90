//! Metadata of embedded objects.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::JsonSchema;

use crate::{assert_our_style_unchanged, assert_recorded_run};
use kubewright_manifests::schema::Options;

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Template {
    metadata: Option<ObjectMeta>,
    text: String,
}

#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EmbeddedSpec {
    template: Template,
    /// +optional
    metadata: Option<ObjectMeta>,
    /// +kubebuilder:pruning:PreserveUnknownFields
    kept: Option<ObjectMeta>,
    list: Option<Vec<ObjectMeta>>,
}

fn options(generate_embedded_object_meta: Option<bool>) -> Options {
    let mut options = Options::default();
    options.max_description_length = Some(0);
    options.generate_embedded_object_meta = generate_embedded_object_meta;
    options
}

#[test]
fn metadata_is_dropped() {
    assert_recorded_run::<EmbeddedSpec>("embedded-metadata", "crd", "embeddings", options(None), &[]);
}

#[test]
fn metadata_is_described() {
    assert_recorded_run::<EmbeddedSpec>(
        "embedded-metadata",
        "described",
        "embeddings",
        options(Some(true)),
        &[],
    );
}

#[test]
fn metadata_in_our_style() {
    for (name, generate) in [("usual", None), ("described", Some(true)), ("dropped", Some(false))] {
        let name = format!("embedded-metadata-{name}");
        assert_our_style_unchanged::<EmbeddedSpec>(&name, "embeddings", options(generate));
    }
}
