use kubewright_manifests::crd::CrdBuilder;
use schemars::JsonSchema;

use crate::comparison::{Written, assert_golden};

/// A kind without a group.
#[derive(JsonSchema)]
struct CronJob {}

#[test]
fn cronjobs_without_a_group() {
    assert_golden(
        "controller-tools/pkg/crd/testdata/testdata._cronjobs.yaml",
        CrdBuilder::of_root::<CronJob>("", "nogroup", "CronJob"),
        Written::ByMachine,
    );
}
