use std::cmp::Reverse;

use serde_json::Value;

use super::{Cells, Object, non_empty, row};

pub(super) fn cells(kind: &str) -> Option<Cells> {
    Some(match kind {
        "CSIDriver" => csi_driver,
        "CSINode" => |object| row![object.name(), object.len("/spec/drivers"), object.age()],
        "PersistentVolume" => persistent_volume,
        "PersistentVolumeClaim" => persistent_volume_claim,
        "StorageClass" => storage_class,
        "StorageVersionMigration" => storage_version_migration,
        "VolumeAttachment" => volume_attachment,
        "VolumeAttributesClass" => |object| row![object.name(), object.text("/driverName"), object.age()],
        _ => return None,
    })
}

/// The class that a claim without one gets: the newest that says so.
pub(in crate::table) fn default_storage_class<'a>(classes: &[&'a Value]) -> Option<&'a Value> {
    const MARKS: [&str; 2] =
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];
    let text = |class: &'a Value, path| class.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let marked = |class: &&&'a Value| {
        let annotations = class.pointer("/metadata/annotations");
        let mark = |mark: &str| annotations.and_then(|all| all.get(mark)).is_some_and(|it| it == "true");
        MARKS.into_iter().any(mark)
    };
    let newest_first = |class: &&'a Value| {
        (Reverse(text(class, "/metadata/creationTimestamp")), text(class, "/metadata/name"))
    };
    classes.iter().filter(marked).copied().min_by_key(newest_first)
}

fn csi_driver(object: Object<'_>) -> Vec<Value> {
    let tokens = object.get("/spec/tokenRequests").map_or_else(
        || "<unset>".into(),
        |tokens| tokens.list("").map(|token| token.text("/audience")).collect::<Vec<_>>().join(","),
    );
    row![
        object.name(),
        object.bool_or("/spec/attachRequired", true),
        object.bool("/spec/podInfoOnMount"),
        object.bool("/spec/storageCapacity"),
        tokens,
        object.bool("/spec/requiresRepublish"),
        non_empty(object.texts("/spec/volumeLifecycleModes").join(","), "<none>"),
        object.age(),
    ]
}

fn persistent_volume(object: Object<'_>) -> Vec<Value> {
    let claim = object
        .get("/spec/claimRef")
        .map_or_else(String::new, |claim| format!("{}/{}", claim.text("/namespace"), claim.text("/name")));
    row![
        object.name(),
        object.quantity("/spec/capacity/storage"),
        access_modes(object, "/spec/accessModes"),
        object.text("/spec/persistentVolumeReclaimPolicy"),
        phase(object),
        claim,
        class(object),
        or_unset(object, "/spec/volumeAttributesClassName"),
        object.text("/status/reason"),
        object.age(),
        or_unset(object, "/spec/volumeMode"),
    ]
}

fn persistent_volume_claim(object: Object<'_>) -> Vec<Value> {
    let volume = object.text("/spec/volumeName");
    let (capacity, modes) = match volume {
        "" => (String::new(), String::new()),
        _ => (object.quantity("/status/capacity/storage"), access_modes(object, "/status/accessModes")),
    };
    row![
        object.name(),
        phase(object),
        volume,
        capacity,
        modes,
        class(object),
        or_unset(object, "/spec/volumeAttributesClassName"),
        object.age(),
        or_unset(object, "/spec/volumeMode"),
    ]
}

fn phase(object: Object<'_>) -> &str {
    if object.deleting() { "Terminating" } else { object.text("/status/phase") }
}

/// The storage class, by the annotation that was there before the field.
fn class(object: Object<'_>) -> &str {
    object.text_or(
        "/metadata/annotations/volume.beta.kubernetes.io~1storage-class",
        object.text("/spec/storageClassName"),
    )
}

fn access_modes(object: Object<'_>, path: &str) -> String {
    const SHORT: [(&str, &str); 4] = [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ];
    let modes = object.texts(path);
    let short = SHORT.into_iter().filter(|(long, _)| modes.contains(long)).map(|(_, short)| short);
    short.collect::<Vec<_>>().join(",")
}

fn or_unset(object: Object<'_>, path: &str) -> String {
    object.get(path).map_or_else(|| "<unset>".into(), Object::to_text)
}

fn storage_class(object: Object<'_>) -> Vec<Value> {
    row![
        object.name(),
        object.text("/provisioner"),
        object.text_or("/reclaimPolicy", "Delete"),
        object.text_or("/volumeBindingMode", "Immediate"),
        object.bool("/allowVolumeExpansion"),
        object.age(),
    ]
}

fn storage_version_migration(object: Object<'_>) -> Vec<Value> {
    let resource = match object.text("/spec/resource/group") {
        "" => object.text("/spec/resource/resource").to_owned(),
        group => format!("{}.{group}", object.text("/spec/resource/resource")),
    };
    let states = object.list("/status/conditions").filter(|condition| condition.text("/status") == "True");
    let mut states = states.map(|condition| condition.text("/type"));
    let state = states.rfind(|kind| ["Running", "Failed", "Succeeded"].contains(kind));
    row![object.name(), resource, state.unwrap_or("Unknown")]
}

fn volume_attachment(object: Object<'_>) -> Vec<Value> {
    row![
        object.name(),
        object.text("/spec/attacher"),
        object.text("/spec/source/persistentVolumeName"),
        object.text("/spec/nodeName"),
        object.bool("/status/attached"),
        object.age(),
    ]
}
