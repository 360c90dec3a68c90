use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{EnvVar, EnvVarSource, ObjectFieldSelector, Pod},
};
use kube::ResourceExt;

use super::TRACKING;
use crate::ownership;

const INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// The completion index of a pod of an indexed Job.
pub(super) fn index(pod: &Pod) -> Option<i32> {
    pod.metadata.annotations.as_ref()?.get(INDEX)?.parse().ok()
}

/// Whether the pod waits to be counted.
pub(super) fn is_tracked(pod: &Pod) -> bool {
    pod.metadata.finalizers.iter().flatten().any(|finalizer| finalizer == TRACKING)
}

/// A pod of the Job; of an indexed one, for the index.
pub(super) fn new_pod(job: &Job, index: Option<i32>) -> Pod {
    let name = job.name_any();
    let template = job.spec.as_ref().map(|spec| spec.template.clone()).unwrap_or_default();
    let meta = template.metadata.unwrap_or_default();
    let mut pod = Pod { spec: template.spec, ..Pod::default() };
    let uid = job.uid().unwrap_or_default();
    let mut labels = meta.labels.unwrap_or_default();
    for (key, value) in [
        ("batch.kubernetes.io/controller-uid", &uid),
        ("batch.kubernetes.io/job-name", &name),
        ("controller-uid", &uid),
        ("job-name", &name),
    ] {
        labels.insert(key.into(), value.clone());
    }
    let mut annotations = meta.annotations.unwrap_or_default();
    let base = match index {
        None => name,
        Some(index) => {
            labels.insert(INDEX.into(), index.to_string());
            annotations.insert(INDEX.into(), index.to_string());
            let spec = pod.spec.get_or_insert_default();
            spec.hostname = Some(format!("{name}-{index}"));
            for container in spec.init_containers.iter_mut().flatten().chain(&mut spec.containers) {
                container.env.get_or_insert_default().push(index_variable());
            }
            format!("{name}-{index}")
        }
    };
    let mut finalizers = meta.finalizers.unwrap_or_default();
    finalizers.push(TRACKING.into());
    pod.metadata.generate_name = Some(format!("{base}-"));
    pod.metadata.namespace = job.namespace();
    pod.metadata.labels = Some(labels);
    pod.metadata.annotations = (!annotations.is_empty()).then_some(annotations);
    pod.metadata.finalizers = Some(finalizers);
    pod.metadata.owner_references = Some(vec![ownership::controller_reference(job)]);
    pod
}

fn index_variable() -> EnvVar {
    EnvVar {
        name: "JOB_COMPLETION_INDEX".into(),
        value_from: Some(EnvVarSource {
            field_ref: Some(ObjectFieldSelector {
                api_version: Some("v1".into()),
                field_path: format!("metadata.annotations['{INDEX}']"),
            }),
            ..EnvVarSource::default()
        }),
        ..EnvVar::default()
    }
}
