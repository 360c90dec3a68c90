use schemars::JsonSchema;

use crate::comparison::Golden;

#[derive(JsonSchema)]
struct TestQuota {
    test: Option<String>,
}

#[test]
fn testquotas() {
    Golden::of::<TestQuota>(
        "controller-tools/pkg/crd/testdata/plural/plural.example.com_testquotas.yaml",
        ("plural.example.com", "v1", "TestQuota"),
        &["sigs.k8s.io/controller-tools/pkg/crd/testdata/plural"],
    )
    .assert();
}
