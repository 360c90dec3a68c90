use kubewright_manifests::crd::CrdBuilder;
use schemars::JsonSchema;

use crate::{
    comparison::{Written, assert_golden},
    cronjobs::v1beta1::CronJobSpec,
};

/// A kind of its own.
#[derive(JsonSchema)]
struct Job {
    spec: JobSpec,
}

/// What is wanted.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
struct JobSpec {
    /// A name.
    ///
    /// +kubebuilder:validation:MinLength=5
    friendly_name: String,
    /// A number.
    ///
    /// +kubebuilder:validation:Minimum=0
    /// +kubebuilder:validation:Maximum=10
    count: i32,
    /// The spec of another kind.
    crong_job: CronJobSpec,
}

#[test]
fn jobs() {
    assert_golden(
        "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_jobs.yaml",
        CrdBuilder::of_root::<Job>("testdata.kubebuilder.io", "v1beta1", "Job"),
        Written::ByMachine,
    );
}
