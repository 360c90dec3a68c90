use schemars::JsonSchema;

use crate::comparison::Golden;

/// A kind with links.
#[derive(JsonSchema)]
struct ExternalDoc {
    spec: Option<ExternalDocSpec>,
}

/// What is wanted.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct ExternalDocSpec {
    /// A link and what it is.
    ///
    /// +kubebuilder:externalDocs:url="https://example.com/docs",description="a description"
    field_with_external_doc: Option<String>,
    /// A link alone.
    ///
    /// +kubebuilder:externalDocs:url="https://example.com/docs"
    #[schemars(rename = "fieldWithExternalDocURLOnly")]
    field_with_url_only: Option<String>,
    /// The link of the type.
    type_with_external_doc: Option<TypeWithExternalDoc>,
}

/// +kubebuilder:externalDocs:url="https://example.com/type-docs",description="a description"
#[derive(JsonSchema)]
struct TypeWithExternalDoc(String);

#[test]
fn externaldocs() {
    Golden::of::<ExternalDoc>(
        "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_externaldocs.yaml",
        ("testdata.kubebuilder.io", "v1", "ExternalDoc"),
        &["sigs.k8s.io/controller-tools/pkg/crd/testdata/external_docs"],
    )
    .assert();
}
