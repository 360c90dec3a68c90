use schemars::JsonSchema;

use crate::comparison::Golden;

/// A kind without a group.
#[derive(JsonSchema)]
struct CronJob {}

#[test]
fn cronjobs_without_a_group() {
    Golden::of::<CronJob>(
        "controller-tools/pkg/crd/testdata/testdata._cronjobs.yaml",
        ("", "nogroup", "CronJob"),
        &["sigs.k8s.io/controller-tools/pkg/crd/testdata/nogroup"],
    )
    .assert();
}
