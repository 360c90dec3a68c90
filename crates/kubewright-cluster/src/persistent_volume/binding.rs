use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::core::v1::{
        HostPathVolumeSource, ObjectReference, PersistentVolume, PersistentVolumeClaim,
        PersistentVolumeClaimStatus, PersistentVolumeSpec, PersistentVolumeStatus,
    },
    apimachinery::pkg::api::resource::Quantity,
};
use kube::ResourceExt;

use super::DEFAULT_CLASS;

const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
const PROVISIONER: &str = "kubewright.dev/simulated";

/// What to do about a claim.
#[derive(Debug, PartialEq)]
pub(super) enum Decision {
    /// It has a volume, and says so.
    Keep,
    /// It waits for a volume that a user makes.
    Wait,
    /// Claim this volume for it, which exists.
    Claim(Box<PersistentVolume>),
    /// Create this volume, which is claimed for it.
    Provision(Box<PersistentVolume>),
    /// Name its volume in it.
    Bind(Box<PersistentVolumeClaim>),
    /// Say in its status that it is bound.
    Report(Box<PersistentVolumeClaim>),
}

/// Decides the next step for a claim, given all volumes.
pub(super) fn decide(claim: &PersistentVolumeClaim, volumes: &[Arc<PersistentVolume>]) -> Decision {
    let named =
        claim.spec.as_ref().and_then(|spec| spec.volume_name.as_deref()).filter(|name| !name.is_empty());
    let owned = volumes.iter().find(|volume| is_claimed_by(volume, claim));
    match (named, owned) {
        (Some(name), Some(volume)) if volume.name_any() == name => report(claim, volume),
        (Some(name), _) => match volumes.iter().find(|volume| volume.name_any() == name) {
            Some(volume) if is_free(volume) => Decision::Claim(Box::new(claimed(volume, claim))),
            _ => Decision::Wait,
        },
        (None, Some(volume)) => Decision::Bind(Box::new(bound(claim, volume))),
        (None, None) => match best(claim, volumes) {
            Some(volume) => Decision::Claim(Box::new(claimed(volume, claim))),
            // The empty class asks for a volume that was made by hand.
            None if class(claim).is_empty() => Decision::Wait,
            None => Decision::Provision(Box::new(provisioned(claim))),
        },
    }
}

/// What becomes of a volume: bound while its claim exists, then deleted, or released where a user wants to
/// keep it. `None` if it is as it should be.
pub(super) fn phase(
    volume: &PersistentVolume,
    claim: Option<&PersistentVolumeClaim>,
) -> Option<&'static str> {
    let phase = match (claim_reference(volume), claim) {
        (None, _) => "Available",
        (Some(_), Some(claim)) if is_claimed_by(volume, claim) => "Bound",
        (Some(reference), _) if reference.uid.is_none() => "Available",
        (Some(_), _) => "Released",
    };
    let current = volume.status.as_ref().and_then(|status| status.phase.as_deref());
    (current != Some(phase)).then_some(phase)
}

/// Whether the volume goes with its claim.
pub(super) fn is_deleted_with_claim(volume: &PersistentVolume) -> bool {
    volume.spec.as_ref().and_then(|spec| spec.persistent_volume_reclaim_policy.as_deref()) == Some("Delete")
}

/// The claim that a volume is for.
pub(super) fn claim_reference(volume: &PersistentVolume) -> Option<&ObjectReference> {
    volume.spec.as_ref()?.claim_ref.as_ref()
}

fn is_free(volume: &PersistentVolume) -> bool {
    claim_reference(volume).is_none() && volume.metadata.deletion_timestamp.is_none()
}

fn is_claimed_by(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> bool {
    claim_reference(volume).is_some_and(|reference| {
        reference.namespace == claim.metadata.namespace
            && reference.name == claim.metadata.name
            && reference.uid.as_ref().is_none_or(|uid| Some(uid) == claim.metadata.uid.as_ref())
    })
}

fn class(claim: &PersistentVolumeClaim) -> &str {
    claim.spec.as_ref().and_then(|spec| spec.storage_class_name.as_deref()).unwrap_or(DEFAULT_CLASS)
}

fn requested(claim: &PersistentVolumeClaim) -> Option<&Quantity> {
    claim.spec.as_ref()?.resources.as_ref()?.requests.as_ref()?.get("storage")
}

fn size(quantity: Option<&Quantity>) -> kubewright_quota::Quantity {
    let size = quantity.and_then(|Quantity(text)| kubewright_quota::Quantity::parse(text).ok());
    size.unwrap_or(kubewright_quota::Quantity::ZERO)
}

fn capacity(volume: &PersistentVolume) -> Option<&Quantity> {
    volume.spec.as_ref()?.capacity.as_ref()?.get("storage")
}

/// The smallest free volume that fits; of equal ones the first by name.
fn best<'a>(
    claim: &PersistentVolumeClaim,
    volumes: &'a [Arc<PersistentVolume>],
) -> Option<&'a Arc<PersistentVolume>> {
    let wanted = claim.spec.clone().unwrap_or_default();
    let fits = |volume: &&Arc<PersistentVolume>| {
        let Some(spec) = &volume.spec else { return false };
        let offers = |mode: &String| spec.access_modes.iter().flatten().any(|own| own == mode);
        is_free(volume)
            && spec.storage_class_name.as_deref().unwrap_or_default() == class(claim)
            && wanted.access_modes.iter().flatten().all(offers)
            && size(capacity(volume)) >= size(requested(claim))
    };
    volumes.iter().filter(fits).min_by_key(|volume| (size(capacity(volume)), volume.name_any()))
}

fn reference(claim: &PersistentVolumeClaim) -> ObjectReference {
    ObjectReference {
        api_version: Some("v1".into()),
        kind: Some("PersistentVolumeClaim".into()),
        namespace: claim.metadata.namespace.clone(),
        name: claim.metadata.name.clone(),
        uid: claim.metadata.uid.clone(),
        ..ObjectReference::default()
    }
}

fn claimed(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> PersistentVolume {
    let mut volume = volume.clone();
    volume.spec.get_or_insert_default().claim_ref = Some(reference(claim));
    volume.annotations_mut().insert(BOUND_BY_CONTROLLER.into(), "yes".into());
    volume
}

fn provisioned(claim: &PersistentVolumeClaim) -> PersistentVolume {
    let name = format!("pvc-{}", claim.uid().unwrap_or_default());
    let wanted = claim.spec.clone().unwrap_or_default();
    let mut volume = PersistentVolume {
        spec: Some(PersistentVolumeSpec {
            access_modes: wanted.access_modes,
            capacity: requested(claim).map(|size| BTreeMap::from([("storage".into(), size.clone())])),
            claim_ref: Some(reference(claim)),
            host_path: Some(HostPathVolumeSource {
                path: format!("/var/lib/kubewright/{name}"),
                type_: Some("DirectoryOrCreate".into()),
            }),
            persistent_volume_reclaim_policy: Some("Delete".into()),
            storage_class_name: Some(class(claim).into()),
            volume_mode: Some(wanted.volume_mode.unwrap_or_else(|| "Filesystem".into())),
            ..PersistentVolumeSpec::default()
        }),
        ..PersistentVolume::default()
    };
    volume.metadata.name = Some(name);
    volume.annotations_mut().insert(PROVISIONED_BY.into(), PROVISIONER.into());
    volume
}

fn bound(claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> PersistentVolumeClaim {
    let mut claim = claim.clone();
    claim.annotations_mut().insert(BIND_COMPLETED.into(), "yes".into());
    claim.annotations_mut().insert(BOUND_BY_CONTROLLER.into(), "yes".into());
    let spec = claim.spec.get_or_insert_default();
    spec.volume_name = volume.metadata.name.clone();
    spec.storage_class_name.get_or_insert_with(|| DEFAULT_CLASS.into());
    claim
}

fn report(claim: &PersistentVolumeClaim, volume: &PersistentVolume) -> Decision {
    let spec = volume.spec.clone().unwrap_or_default();
    let status = PersistentVolumeClaimStatus {
        phase: Some("Bound".into()),
        access_modes: spec.access_modes,
        capacity: spec.capacity,
        ..claim.status.clone().unwrap_or_default()
    };
    if claim.status.as_ref() == Some(&status) {
        return Decision::Keep;
    }
    Decision::Report(Box::new(PersistentVolumeClaim { status: Some(status), ..claim.clone() }))
}

/// The volume with another phase.
pub(super) fn with_phase(volume: &PersistentVolume, phase: &str) -> PersistentVolume {
    let status = volume.status.clone().unwrap_or_default();
    let status = PersistentVolumeStatus { phase: Some(phase.into()), ..status };
    PersistentVolume { status: Some(status), ..volume.clone() }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{PersistentVolumeClaimSpec, VolumeResourceRequirements};

    use super::*;

    fn claim(class: Option<&str>) -> PersistentVolumeClaim {
        let mut claim = PersistentVolumeClaim {
            spec: Some(PersistentVolumeClaimSpec {
                access_modes: Some(vec!["ReadWriteOnce".into()]),
                storage_class_name: class.map(Into::into),
                resources: Some(VolumeResourceRequirements {
                    requests: Some(BTreeMap::from([("storage".into(), Quantity("5Gi".into()))])),
                    ..VolumeResourceRequirements::default()
                }),
                ..PersistentVolumeClaimSpec::default()
            }),
            ..PersistentVolumeClaim::default()
        };
        claim.metadata.namespace = Some("ns".into());
        claim.metadata.name = Some("data".into());
        claim.metadata.uid = Some("u".into());
        claim
    }

    fn volume(name: &str, size: &str) -> Arc<PersistentVolume> {
        let mut volume = PersistentVolume {
            spec: Some(PersistentVolumeSpec {
                access_modes: Some(vec!["ReadWriteOnce".into()]),
                capacity: Some(BTreeMap::from([("storage".into(), Quantity(size.into()))])),
                storage_class_name: Some("manual".into()),
                ..PersistentVolumeSpec::default()
            }),
            ..PersistentVolume::default()
        };
        volume.metadata.name = Some(name.into());
        Arc::new(volume)
    }

    #[test]
    fn a_claim_is_provisioned_bound_and_reported() {
        let mut claim = claim(None);
        let Decision::Provision(volume) = decide(&claim, &[]) else { panic!("expected a new volume") };
        assert_eq!(volume.name_any(), "pvc-u");
        assert_eq!(phase(&volume, Some(&claim)), Some("Bound"));
        assert!(is_deleted_with_claim(&volume));
        let volumes = [Arc::new(*volume)];
        let Decision::Bind(bound) = decide(&claim, &volumes) else { panic!("expected the name") };
        claim = *bound;
        assert_eq!(claim.spec.as_ref().and_then(|spec| spec.storage_class_name.as_deref()), Some("standard"));
        let Decision::Report(reported) = decide(&claim, &volumes) else { panic!("expected the status") };
        assert_eq!(reported.status.as_ref().and_then(|status| status.phase.as_deref()), Some("Bound"));
        assert_eq!(decide(&reported, &volumes), Decision::Keep);
        assert_eq!(phase(&volumes[0], None), Some("Released"));
    }

    #[test]
    fn the_smallest_fitting_volume_is_taken() {
        let volumes = [volume("a", "100Gi"), volume("b", "10Gi"), volume("c", "1Gi")];
        let Decision::Claim(taken) = decide(&claim(Some("manual")), &volumes) else { panic!("expected one") };
        assert_eq!(taken.name_any(), "b");
        assert_eq!(decide(&claim(Some("")), &volumes), Decision::Wait);
    }
}
