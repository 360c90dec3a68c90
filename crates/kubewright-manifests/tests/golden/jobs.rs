use schemars::JsonSchema;

use crate::{comparison::Golden, cronjobs::v1beta1::CronJobSpec};

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
    Golden::of::<Job>(
        "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_jobs.yaml",
        ("testdata.kubebuilder.io", "v1beta1", "Job"),
        &[
            "sigs.k8s.io/controller-tools/pkg/crd/testdata/job",
            "sigs.k8s.io/controller-tools/pkg/crd/testdata/unserved",
        ],
    )
    // It is above the spec by mistake and has no effect there. Ours may stand on the spec.
    .left_out(&[
        ("JobSpec", "+kubebuilder:subresource:status"),
        ("JobSpec", "+kubebuilder:resource:singular=job"),
    ])
    .assert();
}
