//! The kind on which nearly every marker stands, in three versions.

use kubewright_manifests::crd::CrdOptions;
use serde_json::Value;

use crate::{comparison::Golden, texts::go::LeftOut};

mod applied;
mod own_texts;
mod types;
pub(crate) mod v1;
pub(crate) mod v1beta1;
pub(crate) mod v1beta2;

const IN_FULL: &str = "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_cronjobs.yaml";
const GROUP: &str = "testdata.kubebuilder.io";

/// Markers that controller-gen does not have, and ignores.
const UNKNOWN: LeftOut = &[
    ("CronJobSpec.embeddedResource", "+kubebuilder:validation:nullable"),
    ("CronJobSpec.unprunedJSON", "+kubebuilder:validation:nullable"),
    ("CronJobSpec.unprunedEmbeddedResource", "+kubebuilder:validation:nullable"),
    ("CronJobSpec.justNestedObject", "+kubebuilder:validation:optional"),
];

fn options() -> CrdOptions {
    let mut options = CrdOptions::controller_gen();
    options.schema.allow_dangerous_types = true;
    options
}

fn cronjobs(path: &'static str) -> Golden {
    Golden::of::<v1::CronJob>(
        path,
        (GROUP, "v1", "CronJob"),
        &["sigs.k8s.io/controller-tools/pkg/crd/testdata"],
    )
    .version::<v1beta1::CronJob>("v1beta1", &["sigs.k8s.io/controller-tools/pkg/crd/testdata/unserved"])
    .version::<v1beta2::CronJob>("v1beta2", &["sigs.k8s.io/controller-tools/pkg/crd/testdata/deprecated"])
    .options(options())
    .left_out(UNKNOWN)
}

/// The goldens were written by a version before v0.23, in which `k8s:required` did not forbid the empty string.
fn as_before(ours: &mut Value) {
    let field = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/explicitlyRequiredK8s";
    let field = ours.pointer_mut(field).and_then(Value::as_object_mut).expect("the field");
    assert_eq!(field.remove("minLength"), Some(1.into()));
}

/// Without the field that holds most of Kubernetes' types.
#[test]
fn cronjobs_without_job_template() {
    cronjobs("derived/controller-tools/testdata.kubebuilder.io_cronjobs.no-jobTemplate.yaml")
        .adjust(|ours, _| {
            as_before(ours);
            let spec = &mut ours["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
            if let Some(required) = spec["required"].as_array_mut() {
                required.retain(|name| name != "jobTemplate");
            }
            if let Some(properties) = spec["properties"].as_object_mut() {
                properties.remove("jobTemplate");
            }
        })
        .assert();
}

#[test]
fn cronjobs_in_full() {
    cronjobs(IN_FULL)
        .adjust(|ours, golden| {
            as_before(ours);
            drop_later_fields(ours, golden);
        })
        .assert();
}

#[test]
fn cronjobs_for_apply_configurations() {
    Golden::of::<applied::CronJob>(
        "controller-tools/pkg/applyconfiguration/testdata/cronjob/api/v1/testdata.kubebuilder.io_cronjobs.yaml",
        (GROUP, "v1", "CronJob"),
        &[
            "sigs.k8s.io/controller-tools/pkg/applyconfiguration/testdata/cronjob/api/v1",
            "sigs.k8s.io/controller-tools/pkg/applyconfiguration/testdata/cronjob/external",
        ],
    )
    .variant("-applied")
    .options(options())
    .left_out(UNKNOWN)
    .adjust(drop_later_fields)
    .assert();
}

/// Fields that Kubernetes' types got after the version of which the golden was made.
const LATER: [&str; 7] =
    ["bindMountOptions", "defaultUser", "evictionResponders", "mode", "protocol", "scheduling", "user"];

fn drop_later_fields(ours: &mut Value, golden: &Value) {
    match (ours, golden) {
        (Value::Object(ours), Value::Object(golden)) => {
            ours.retain(|name, _| golden.contains_key(name) || !LATER.contains(&name.as_str()));
            for (name, value) in ours {
                drop_later_fields(value, golden.get(name).unwrap_or(&Value::Null));
            }
        }
        (Value::Array(ours), Value::Array(golden)) => {
            for (value, golden) in ours.iter_mut().zip(golden) {
                drop_later_fields(value, golden);
            }
        }
        _ => {}
    }
}
