//! The volumes of a pod: that each has one source, which is as it must be.

use kubewright_quota::Quantity;

use std::collections::BTreeSet;

use kubewright_schema::names;

use super::{Scope, containers::validate_pull_policy, environment, projected, storage};
use crate::validation::{Field, core::volume_claim, file_path};

const FILE_MODES: std::ops::RangeInclusive<i64> = 0..=0o777;
const FILE_MODE_DETAIL: &str = "must be a number between 0 and 0777 (octal), both inclusive";

/// The fields of a pod that files of a volume may tell of.
const FIELD_PATHS: [&str; 5] =
    ["metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"];

/// The volumes in which nothing is wrong, by their names.
#[derive(Debug, Default)]
pub(crate) struct Volumes<'a> {
    fine: Vec<(&'a str, Field<'a>)>,
}

impl<'a> Volumes<'a> {
    pub(super) fn get(&self, name: &str) -> Option<Field<'a>> {
        self.fine.iter().find(|(own, _)| *own == name).map(|(_, volume)| *volume)
    }
}

/// A type of volume: the field that holds it, and what must hold for it.
type Source = (&'static str, fn(Field<'_>));

/// The types in the order in which they are looked at.
const SOURCES: [Source; 30] = [
    ("emptyDir", validate_empty_dir),
    ("hostPath", validate_host_path),
    ("gitRepo", storage::validate_git_repo),
    ("gcePersistentDisk", storage::validate_gce_persistent_disk),
    ("awsElasticBlockStore", storage::validate_aws_elastic_block_store),
    ("secret", validate_secret),
    ("nfs", storage::validate_nfs),
    ("iscsi", storage::validate_iscsi),
    ("glusterfs", storage::validate_glusterfs),
    ("flocker", storage::validate_flocker),
    ("persistentVolumeClaim", validate_claim),
    ("rbd", storage::validate_rbd),
    ("cinder", storage::validate_cinder),
    ("cephfs", storage::validate_cephfs),
    ("quobyte", storage::validate_quobyte),
    ("downwardAPI", validate_downward_api),
    ("fc", storage::validate_fibre_channel),
    ("flexVolume", storage::validate_flex_volume),
    ("configMap", validate_config_map),
    ("azureFile", storage::validate_azure_file),
    ("vsphereVolume", storage::validate_vsphere),
    ("photonPersistentDisk", storage::validate_photon),
    ("portworxVolume", storage::validate_portworx),
    ("azureDisk", storage::validate_azure_disk),
    ("storageos", storage::validate_storage_os),
    ("projected", projected::validate),
    ("scaleIO", storage::validate_scale_io),
    ("csi", storage::validate_csi),
    ("ephemeral", validate_ephemeral),
    ("image", validate_image),
];

/// Checks the volumes. Gives those in which nothing is wrong.
pub(super) fn validate<'a>(volumes: Field<'a>, scope: &Scope<'_>) -> Volumes<'a> {
    let pod_name = scope.pod_name();
    let ephemeral: BTreeSet<String> = match pod_name {
        None => BTreeSet::new(),
        Some(pod) => {
            let made = volumes.items().filter(|volume| volume.child("ephemeral").is_set());
            made.map(|volume| format!("{pod}-{}", volume.child("name").text())).collect()
        }
    };
    let mut fine = Volumes::default();
    for volume in volumes.items() {
        let before = volume.report().len();
        validate_source(volume, pod_name);
        let name = volume.child("name");
        if name.require() {
            name.check(names::dns1123_label);
        }
        if fine.get(name.text()).is_some() {
            name.duplicate(name.text());
        }
        if volume.report().len() == before {
            fine.fine.push((name.text(), volume));
        }
        let claim = volume.child("persistentVolumeClaim").child("claimName");
        if ephemeral.contains(claim.text()) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            claim.invalid(claim.text(), detail);
        }
    }
    fine
}

fn validate_source(volume: Field<'_>, pod_name: Option<&str>) {
    let name = volume.child("name");
    let mut is_first = true;
    for (field, rule) in SOURCES {
        // Most types are not there, so the field is made only for the one that is.
        if volume.value().get(field).is_none() {
            continue;
        }
        let source = volume.child(field);
        let has_another = !std::mem::take(&mut is_first);
        if has_another {
            let place = match field {
                "cephfs" => "cephFS",
                "downwardAPI" => "downwarAPI",
                other => other,
            };
            volume.at(place).forbidden("may not specify more than 1 volume type");
        } else if field == "gcePersistentDisk" {
            rule(volume.at("persistentDisk").with(source.value()));
        } else {
            rule(source);
        }
        if field == "iscsi" && source.child("initiatorName").is_set() {
            let portal = source.child("targetPortal").text();
            if name.text().len() + 1 + portal.len() > 64 {
                let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if \
                              iscsi.initiatorName is specified.";
                name.invalid(name.text(), detail);
            }
        }
        if let ("ephemeral", false, Some(pod)) = (field, has_another || name.is_empty(), pod_name) {
            let claim = format!("{pod}-{}", name.text());
            for reason in names::dns1123_subdomain(&claim) {
                name.invalid(name.text(), format!("PVC name {claim:?}: {reason}"));
            }
        }
    }
    if is_first {
        volume.required("must specify a volume type");
    }
}

fn validate_empty_dir(source: Field<'_>) {
    let limit = source.child("sizeLimit");
    if Quantity::of(limit.value()).is_negative() {
        limit.forbidden("SizeLimit field must be a valid resource quantity");
    }
}

pub(in crate::validation) fn validate_host_path(source: Field<'_>) {
    let (path, kind) = (source.child("path"), source.child("type"));
    if !path.require() {
        return;
    }
    file_path::validate_no_backsteps(path);
    if kind.is_set() {
        kind.one_of(&[
            "",
            "BlockDevice",
            "CharDevice",
            "Directory",
            "DirectoryOrCreate",
            "File",
            "FileOrCreate",
            "Socket",
        ]);
    }
}

fn validate_secret(source: Field<'_>) {
    source.child("secretName").require();
    validate_mode(source.child("defaultMode"));
    source.child("items").items().for_each(validate_key_to_path);
}

fn validate_config_map(source: Field<'_>) {
    source.child("name").require();
    validate_mode(source.child("defaultMode"));
    source.child("items").items().for_each(validate_key_to_path);
}

/// Checks the file that a key of a Secret or ConfigMap becomes.
pub(super) fn validate_key_to_path(item: Field<'_>) {
    item.child("key").require();
    item.child("path").require();
    file_path::validate_not_reserved(item.child("path"));
    validate_mode(item.child("mode"));
}

/// Checks the permissions of a file.
pub(super) fn validate_mode(mode: Field<'_>) {
    if let Some(number) = mode.int().filter(|number| !FILE_MODES.contains(number)) {
        mode.invalid(number, FILE_MODE_DETAIL);
    }
}

fn validate_claim(source: Field<'_>) {
    source.child("claimName").require();
}

fn validate_downward_api(source: Field<'_>) {
    validate_mode(source.child("defaultMode"));
    for file in source.child("items").items() {
        // The faults of a file are reported at the volume.
        validate_downward_api_file(source.with(file.value()));
    }
}

/// Checks a file that tells of the pod.
pub(super) fn validate_downward_api_file(file: Field<'_>) {
    file.child("path").require();
    file_path::validate_not_reserved(file.child("path"));
    let (field, resource) = (file.child("fieldRef"), file.child("resourceFieldRef"));
    if field.is_set() {
        environment::validate_field_reference(field, &FIELD_PATHS);
        if resource.is_set() {
            file.invalid("resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
        }
    } else if resource.is_set() {
        environment::validate_resource_reference(resource, true);
    } else {
        file.required("one of fieldRef and resourceFieldRef is required");
    }
    validate_mode(file.child("mode"));
}

fn validate_ephemeral(source: Field<'_>) {
    let template = source.child("volumeClaimTemplate");
    if template.is_set() {
        volume_claim::validate_template(template);
    } else {
        template.required("");
    }
}

fn validate_image(source: Field<'_>) {
    source.child("reference").require();
    validate_pull_policy(source.child("pullPolicy"));
}
