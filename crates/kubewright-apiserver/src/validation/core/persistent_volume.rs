//! Persistent volumes, and volumes of their form that are named where they are attached.

use kubewright_quota::Quantity;
use kubewright_schema::names;
use serde_json::Value;

use super::{
    super::{Field, diff, shape},
    node_label,
    persistent_volume_claim::check_amount,
    pod::{affinity::validate_node_selector, storage, volumes::validate_host_path},
    volume_claim::validate_access_modes,
};

const MODES: [&str; 2] = ["Block", "Filesystem"];
/// Labels of nodes by the names of their youth, and by those of today.
const RENAMED_LABELS: [(&str, &str); 5] = [
    ("beta.kubernetes.io/arch", "kubernetes.io/arch"),
    ("beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"),
    ("beta.kubernetes.io/os", "kubernetes.io/os"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
];
const ONE_SOURCE: &str = "may not specify more than 1 volume type";

/// A kind of volume: the field that has it, where faults in it are reported, and what checks it.
type Source = (&'static str, &'static str, fn(Field<'_>));

/// All kinds, in the order in which they are looked for.
const SOURCES: [Source; 22] = [
    ("hostPath", "hostPath", validate_host_path),
    ("gcePersistentDisk", "persistentDisk", storage::validate_gce_persistent_disk),
    ("awsElasticBlockStore", "awsElasticBlockStore", storage::validate_aws_elastic_block_store),
    ("glusterfs", "glusterfs", validate_glusterfs),
    ("flocker", "flocker", storage::validate_flocker),
    ("nfs", "nfs", storage::validate_nfs),
    ("rbd", "rbd", storage::validate_rbd),
    ("quobyte", "quobyte", storage::validate_quobyte),
    ("cephfs", "cephfs", storage::validate_cephfs),
    ("iscsi", "iscsi", validate_iscsi),
    ("cinder", "cinder", validate_cinder),
    ("fc", "fc", storage::validate_fibre_channel),
    ("flexVolume", "flexVolume", storage::validate_flex_volume),
    ("azureFile", "azureFile", validate_azure_file),
    ("vsphereVolume", "vsphereVolume", storage::validate_vsphere),
    ("photonPersistentDisk", "photonPersistentDisk", storage::validate_photon),
    ("portworxVolume", "portworxVolume", storage::validate_portworx),
    ("azureDisk", "azureDisk", storage::validate_azure_disk),
    ("scaleIO", "scaleIO", storage::validate_scale_io),
    ("local", "local", validate_local),
    ("storageos", "storageos", validate_storage_os),
    ("csi", "csi", validate_csi),
];

pub(super) fn create(volume: Field<'_>) {
    let spec = volume.child("spec");
    validate(spec);
    // The plugins for volumes look at this once more.
    if is_recycled_root(spec) {
        recycled_root(spec);
    }
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    create(new);
    let (spec, old_spec) = (new.child("spec"), old.child("spec"));
    let source = |spec: Field<'_>| Value::Object(source_of(spec));
    let (mut fixed, old_source) = (source(spec), source(old_spec));
    let expand = "controllerExpandSecretRef";
    if old_spec.child("csi").is_set() && !old_spec.child("csi").child(expand).is_set() {
        // What is needed to make the volume larger may be added.
        if let Some(csi) = fixed.get_mut("csi").and_then(Value::as_object_mut) {
            csi.remove(expand);
        }
    }
    if fixed != old_source {
        let shown = |source: &Value| shape::show_lines("core.PersistentVolumeSource", source);
        let changes = diff::unified(&shown(&old_source), &shown(&fixed));
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{changes}");
        spec.at("persistentvolumesource").forbidden(detail);
    }
    let mode = spec.child("volumeMode");
    if mode.value() != old_spec.child("volumeMode").value() {
        new.at("volumeMode").invalid(mode.value().clone(), "field is immutable");
    }
    let (affinity, old_affinity) = (spec.child("nodeAffinity"), old_spec.child("nodeAffinity"));
    if old_affinity.is_set() && *affinity.value() != renamed(old_affinity.value(), affinity.value()) {
        let place = new.at("nodeAffinity").with(affinity.value());
        place.invalid_as(
            "*core.VolumeNodeAffinity",
            "field is immutable, except for updating from beta label to GA",
        );
    }
    let class = spec.child("volumeAttributesClassName");
    if old_spec.child("volumeAttributesClassName").is_set() && !class.is_set() {
        class.forbidden("update from non-nil value to nil is forbidden");
    }
}

/// What a volume said of nodes, with the labels that it now calls by their names of today called so.
fn renamed(old: &Value, new: &Value) -> Value {
    let list = |value: &Value, field: &str| value[field].as_array().cloned().unwrap_or_default();
    let mut renamed = old.clone();
    let terms = renamed.pointer_mut("/required/nodeSelectorTerms").and_then(Value::as_array_mut);
    for (term, new) in terms.into_iter().flatten().zip(list(&new["required"], "nodeSelectorTerms")) {
        let expressions = term.get_mut("matchExpressions").and_then(Value::as_array_mut);
        for (expression, new) in expressions.into_iter().flatten().zip(list(&new, "matchExpressions")) {
            if RENAMED_LABELS.iter().any(|(old, now)| expression["key"] == *old && new["key"] == *now) {
                expression["key"] = new["key"].clone();
            }
        }
    }
    renamed
}

/// Checks a volume that is named where it is attached.
pub(in crate::validation) fn validate_inline(spec: Field<'_>) {
    let inline = "may not be specified in the context of inline volumes";
    for field in ["claimRef", "capacity"] {
        if spec.child(field).is_set() {
            spec.child(field).forbidden(inline);
        }
    }
    if !spec.child("csi").is_set() {
        spec.child("csi").required("has to be specified in the context of inline volumes");
    }
    check_access_modes(spec);
    let reclaim = spec.child("persistentVolumeReclaimPolicy");
    if !matches!(reclaim.text(), "" | "Retain") {
        reclaim.forbidden("may only be Retain in the context of inline volumes");
    }
    if spec.child("nodeAffinity").is_set() {
        spec.child("nodeAffinity").forbidden(inline);
    }
    check_sources(spec);
    if !spec.child("storageClassName").is_empty() {
        spec.child("storageClassName").forbidden(inline);
    }
    let mode = spec.child("volumeMode");
    if mode.is_set() && mode.text() != "Filesystem" {
        mode.forbidden("may not specify volumeMode other than Filesystem in the context of inline volumes");
    }
}

pub(super) fn warnings(volume: Field<'_>) -> Vec<String> {
    const ANNOTATIONS: [(&str, &str); 2] = [
        (
            "volume.beta.kubernetes.io/storage-class",
            "deprecated since v1.8; use \"storageClassName\" attribute instead",
        ),
        (
            "volume.beta.kubernetes.io/mount-options",
            "deprecated since v1.31; use \"mountOptions\" attribute instead",
        ),
    ];
    const PLUGINS: [(&str, &str, &str); 6] = [
        ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
        ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
        ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
        ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
        ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
        ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
    ];
    let (annotations, spec) = (volume.child("metadata").child("annotations"), volume.child("spec"));
    let mut warnings = Vec::new();
    for (key, text) in ANNOTATIONS {
        if annotations.entry(key).is_set() {
            warnings.push(format!("metadata.annotations[{key}]: {text}"));
        }
    }
    let reclaim = spec.child("persistentVolumeReclaimPolicy");
    if reclaim.text() == "Recycle" {
        warnings.push(format!(
            "{}: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic \
             provisioning.",
            reclaim.path()
        ));
    }
    for term in spec.child("nodeAffinity").child("required").child("nodeSelectorTerms").items() {
        warnings.extend(node_label::expression_warnings(term.child("matchExpressions")));
    }
    for (field, name, text) in PLUGINS {
        if spec.child(field).is_set() {
            warnings.push(format!("spec.{name}: {text}"));
        }
    }
    warnings
}

/// The kinds of volumes that a spec has, of which one is right.
fn source_of(spec: Field<'_>) -> serde_json::Map<String, Value> {
    let fields = SOURCES.iter().filter(|(field, ..)| spec.child(field).is_set());
    fields.map(|(field, ..)| ((*field).to_owned(), spec.child(field).value().clone())).collect()
}

fn validate(spec: Field<'_>) {
    check_access_modes(spec);
    let capacity = spec.child("capacity");
    if capacity.is_empty() {
        capacity.required("");
    }
    if capacity.len() != 1 || !capacity.map().is_some_and(|amounts| amounts.contains_key("storage")) {
        capacity.not_supported(capacity.value().clone(), &["storage"]);
    }
    for (_, amount) in capacity.entries() {
        check_amount(amount);
        if !Quantity::of(amount.value()).is_positive() {
            amount.invalid(amount.text(), "must be greater than zero");
        }
    }
    let reclaim = spec.child("persistentVolumeReclaimPolicy");
    if !reclaim.is_empty() {
        reclaim.one_of(&["Delete", "Recycle", "Retain"]);
    }
    let affinity = spec.child("nodeAffinity");
    if affinity.is_set() {
        let required = affinity.child("required");
        if required.is_set() {
            validate_node_selector(required);
        } else {
            required.required("must specify required node constraints");
        }
    }
    check_sources(spec);
    if is_recycled_root(spec) {
        recycled_root(spec);
    }
    let (class, mode) = (spec.child("storageClassName"), spec.child("volumeMode"));
    if !class.is_empty() {
        class.check(names::dns1123_subdomain);
    }
    if mode.is_set() {
        mode.one_of(&MODES);
    }
    let attributes = spec.child("volumeAttributesClassName");
    if attributes.is_set() {
        if attributes.require_or("an empty string is disallowed") {
            attributes.check(names::dns1123_subdomain);
        }
        if !spec.child("csi").is_set() {
            spec.child("csi").required("has to be specified when using volumeAttributesClassName");
        }
    }
}

fn check_access_modes(spec: Field<'_>) {
    let modes = spec.child("accessModes");
    if modes.is_empty() {
        modes.required("");
    }
    validate_access_modes(modes);
}

fn check_sources(spec: Field<'_>) {
    let mut has_source = false;
    for (field, place, check) in SOURCES {
        let source = spec.child(field);
        if !source.is_set() {
            continue;
        }
        if has_source && field != "flexVolume" {
            // Kubernetes has another name for it here.
            let place = if field == "cephfs" { "cephFS" } else { field };
            spec.at(place).forbidden(ONE_SOURCE);
            continue;
        }
        has_source = true;
        check(spec.at(place).with(source.value()));
        if field == "local" && !spec.child("nodeAffinity").is_set() {
            spec.child("nodeAffinity").required("Local volume requires node affinity");
        }
    }
    if !has_source {
        spec.required("must specify a volume type");
    }
}

/// Whether everything on a node would be deleted when the volume is given back.
fn is_recycled_root(spec: Field<'_>) -> bool {
    let path = spec.child("hostPath").child("path").text();
    let is_root = path.starts_with('/')
        && path
            .split('/')
            .try_fold(0_i32, |depth, part| match part {
                "" | "." => Some(depth),
                ".." => Some((depth - 1).max(0)),
                _ => Some(depth + 1),
            })
            .is_some_and(|depth| depth == 0);
    is_root && spec.child("persistentVolumeReclaimPolicy").text() == "Recycle"
}

fn recycled_root(spec: Field<'_>) {
    let detail = "may not be 'recycle' for a hostPath mount of '/'";
    spec.child("persistentVolumeReclaimPolicy").forbidden(detail);
}

fn validate_glusterfs(source: Field<'_>) {
    storage::validate_glusterfs(source);
    let namespace = source.child("endpointsNamespace");
    if namespace.is_set() && namespace.is_empty() {
        let detail = "if the endpointnamespace is set, it must be a valid namespace name";
        namespace.invalid("", detail);
    } else if namespace.is_set() {
        namespace.check(names::dns1123_label);
    }
}

fn validate_iscsi(source: Field<'_>) {
    storage::validate_iscsi_with(source, "must be valid format");
}

fn validate_cinder(source: Field<'_>) {
    source.child("volumeID").require();
    check_secret(source.child("secretRef"));
}

fn validate_azure_file(source: Field<'_>) {
    storage::validate_azure_file(source);
    let namespace = source.child("secretNamespace");
    if namespace.is_set() && namespace.is_empty() {
        namespace.required("");
    }
}

fn validate_local(source: Field<'_>) {
    let path = source.child("path");
    if path.require() {
        super::super::file_path::validate_no_backsteps(path);
    }
}

fn validate_storage_os(source: Field<'_>) {
    storage::validate_storage_os(source);
    let secret = source.child("secretRef");
    if secret.is_set() {
        secret.child("namespace").require();
    }
}

fn validate_csi(source: Field<'_>) {
    storage::validate_csi_driver_name(source.child("driver"));
    source.child("volumeHandle").require();
    for field in [
        "controllerPublishSecretRef",
        "controllerExpandSecretRef",
        "nodePublishSecretRef",
        "nodeExpandSecretRef",
    ] {
        let secret = source.child(field);
        if secret.is_set() {
            if secret.child("name").require() {
                secret.child("name").check(names::dns1123_subdomain);
            }
            if secret.child("namespace").require() {
                secret.child("namespace").check(names::dns1123_label);
            }
        }
    }
}

/// Checks that a reference to a Secret, if there is one, is complete.
fn check_secret(secret: Field<'_>) {
    if secret.is_set() {
        secret.child("name").require();
        secret.child("namespace").require();
    }
}
