use schemars::JsonSchema;

use crate::comparison::Golden;

/// A kind.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct Metadata {
    /// A list.
    ///
    /// +optional
    release_series: Vec<ReleaseSeries>,
}

/// An item.
#[derive(JsonSchema)]
struct ReleaseSeries {
    /// A number.
    ///
    /// +optional
    major: Option<i32>,
    /// A number.
    ///
    /// +optional
    minor: Option<i32>,
    /// A text.
    ///
    /// In paragraphs.
    ///
    /// +optional
    contract: Option<String>,
}

#[test]
fn metadata() {
    Golden::of::<Metadata>(
        "extra/cluster-api/clusterctl.cluster.x-k8s.io_metadata.yaml",
        ("clusterctl.cluster.x-k8s.io", "v1alpha3", "Metadata"),
        &["sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"],
    )
    .assert();
}
