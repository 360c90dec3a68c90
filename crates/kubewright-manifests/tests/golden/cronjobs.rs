//! The kind on which nearly every marker stands, in three versions.

use kubewright_manifests::crd::{CrdBuilder, CrdOptions};
use serde_json::Value;

use crate::comparison::{assert_document, assert_document_without_texts, documents};

pub(crate) mod v1;
pub(crate) mod v1beta1;
pub(crate) mod v1beta2;

const GROUP: &str = "testdata.kubebuilder.io";

fn cronjobs() -> CrdBuilder {
    CrdBuilder::of_root::<v1::CronJob>(GROUP, "v1", "CronJob")
        .root_version::<v1beta1::CronJob>("v1beta1")
        .root_version::<v1beta2::CronJob>("v1beta2")
}

fn options() -> CrdOptions {
    let mut options = CrdOptions::controller_gen();
    options.schema.allow_dangerous_types = true;
    options
}

/// The goldens were written by a version before v0.23, in which `k8s:required` did not forbid the empty string.
fn as_before(ours: &mut Value) {
    let field = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/explicitlyRequiredK8s";
    let field = ours.pointer_mut(field).and_then(Value::as_object_mut).expect("the field");
    assert_eq!(field.remove("minLength"), Some(1.into()));
}

/// Without the field that holds the types of Kubernetes, whose documentation is not the same in each of its versions.
#[test]
fn cronjobs_without_job_template() {
    let path = "derived/controller-tools/testdata.kubebuilder.io_cronjobs.no-jobTemplate.yaml";
    let Some((mut ours, golden, text)) = documents(path, cronjobs(), options()) else { return };
    as_before(&mut ours);
    let spec = &mut ours["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
    if let Some(required) = spec["required"].as_array_mut() {
        required.retain(|name| name != "jobTemplate");
    }
    if let Some(properties) = spec["properties"].as_object_mut() {
        properties.remove("jobTemplate");
    }
    assert_document(ours, &golden, &text);
}

#[test]
fn cronjobs_in_full() {
    let path = "controller-tools/pkg/crd/testdata/testdata.kubebuilder.io_cronjobs.yaml";
    let Some((mut ours, golden, _)) = documents(path, cronjobs(), options()) else { return };
    as_before(&mut ours);
    drop_later_fields(&mut ours, &golden);
    assert_document_without_texts(ours, golden);
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
