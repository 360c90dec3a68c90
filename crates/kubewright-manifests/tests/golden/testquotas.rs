use kubewright_manifests::crd::CrdBuilder;
use schemars::JsonSchema;

use crate::comparison::{Written, assert_golden};

#[derive(JsonSchema)]
struct TestQuota {
    test: Option<String>,
}

#[test]
fn testquotas() {
    assert_golden(
        "controller-tools/pkg/crd/testdata/plural/plural.example.com_testquotas.yaml",
        CrdBuilder::of_root::<TestQuota>("plural.example.com", "v1", "TestQuota"),
        Written::ByMachine,
    );
}
