use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, Pod, PodTemplateSpec, Volume},
};
use kube::ResourceExt;

use crate::ownership;

/// The revision of the template that a pod was made of.
pub(super) const REVISION: &str = "controller-revision-hash";
const POD_NAME: &str = "statefulset.kubernetes.io/pod-name";
const POD_INDEX: &str = "apps.kubernetes.io/pod-index";

/// The place in line of a pod of the set, which its name tells; `None` for a pod of another name.
pub(super) fn ordinal(set: &StatefulSet, pod: &Pod) -> Option<i32> {
    let name = pod.metadata.name.as_deref()?;
    let ordinal = name.strip_prefix(&set.name_any())?.strip_prefix('-')?;
    ordinal.parse().ok().filter(|ordinal| *ordinal >= 0)
}

/// The revision a pod was made of.
pub(super) fn revision(pod: &Pod) -> Option<&str> {
    pod.metadata.labels.as_ref()?.get(REVISION).map(String::as_str)
}

/// The pod at a place in line, of a template.
pub(super) fn new_pod(set: &StatefulSet, ordinal: i32, template: &PodTemplateSpec, revision: &str) -> Pod {
    let name = format!("{}-{ordinal}", set.name_any());
    let meta = template.metadata.clone().unwrap_or_default();
    let mut pod = Pod { spec: template.spec.clone(), ..Pod::default() };
    let mut labels = meta.labels.unwrap_or_default();
    labels.insert(POD_NAME.into(), name.clone());
    labels.insert(POD_INDEX.into(), ordinal.to_string());
    labels.insert(REVISION.into(), revision.into());
    pod.metadata.labels = Some(labels);
    pod.metadata.annotations = meta.annotations;
    pod.metadata.finalizers = meta.finalizers;
    pod.metadata.namespace = set.metadata.namespace.clone();
    pod.metadata.owner_references = Some(vec![ownership::controller_reference(set)]);

    let spec = pod.spec.get_or_insert_default();
    spec.hostname = Some(name.clone());
    spec.subdomain = set.spec.service_name.clone();
    let claims = set.spec.volume_claim_templates.iter().flatten();
    let mut volumes: Vec<Volume> = claims
        .clone()
        .map(|template| Volume {
            name: template.name_any(),
            persistent_volume_claim: Some(PersistentVolumeClaimVolumeSource {
                claim_name: claim_name(set, template, ordinal),
                ..PersistentVolumeClaimVolumeSource::default()
            }),
            ..Volume::default()
        })
        .collect();
    // A claim takes the place of a volume of the same name.
    let is_other = |volume: &Volume| claims.clone().all(|template| template.name_any() != volume.name);
    volumes.extend(spec.volumes.take().into_iter().flatten().filter(is_other));
    spec.volumes = (!volumes.is_empty()).then_some(volumes);
    pod.metadata.name = Some(name);
    pod
}

/// The claims of the pod at a place in line. They have no owner: data outlives the set.
pub(super) fn claims(set: &StatefulSet, ordinal: i32) -> Vec<PersistentVolumeClaim> {
    let claim = |template: &PersistentVolumeClaim| {
        let mut claim = template.clone();
        claim.metadata.name = Some(claim_name(set, template, ordinal));
        claim.metadata.namespace = set.metadata.namespace.clone();
        let labels = claim.metadata.labels.get_or_insert_default();
        labels.extend(set.spec.selector.match_labels.clone().into_iter().flatten());
        claim.status = None;
        claim
    };
    set.spec.volume_claim_templates.iter().flatten().map(claim).collect()
}

fn claim_name(set: &StatefulSet, template: &PersistentVolumeClaim, ordinal: i32) -> String {
    format!("{}-{}-{ordinal}", template.name_any(), set.name_any())
}
