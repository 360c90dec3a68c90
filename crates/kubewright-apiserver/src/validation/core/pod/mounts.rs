//! Where the volumes of a pod are in a container: as files or as devices.

use std::collections::BTreeSet;

use super::volumes::Volumes;
use crate::validation::{Field, file_path};

pub(super) fn validate_mounts(container: Field<'_>, volumes: &Volumes<'_>) {
    let (mounts, devices) = (container.child("volumeMounts"), container.child("volumeDevices"));
    let mut paths = BTreeSet::new();
    for mount in mounts.items() {
        let (name, path) = (mount.child("name"), mount.child("mountPath"));
        name.require();
        if volumes.get(name.text()).is_none() {
            name.not_found(name.text());
        }
        path.require();
        if !paths.insert(path.text()) {
            path.invalid(path.text(), "must be unique");
        }
        if has(devices, "name", name.text()) {
            name.invalid(name.text(), "must not already exist in volumeDevices");
        }
        if has_last(devices, "devicePath", path.text()) {
            path.invalid(path.text(), "must not already exist as a path in volumeDevices");
        }
        validate_sub_path(mounts, mount);
        validate_propagation(mounts, mount, container);
        validate_recursive_read_only(mounts, mount);
    }
}

// The faults of what follows are reported at the list, without the place of the mount in it.

fn validate_sub_path(mounts: Field<'_>, mount: Field<'_>) {
    let (path, expression) = (mount.child("subPath"), mount.child("subPathExpr"));
    if !path.is_empty() {
        file_path::validate_descending(mounts.at("subPath").with(path.value()));
    }
    if expression.is_empty() {
        return;
    }
    if !path.is_empty() {
        expression.invalid(expression.text(), "subPathExpr and subPath are mutually exclusive");
    }
    file_path::validate_descending(mounts.at("subPathExpr").with(expression.value()));
}

fn validate_propagation(mounts: Field<'_>, mount: Field<'_>, container: Field<'_>) {
    let propagation = mount.child("mountPropagation");
    if !propagation.is_set() {
        return;
    }
    let place = mounts.at("mountPropagation").with(propagation.value());
    place.one_of(&["Bidirectional", "HostToContainer", "None"]);
    let is_privileged = container.child("securityContext").child("privileged").is_true();
    if propagation.text() == "Bidirectional" && !is_privileged {
        place.forbidden("Bidirectional mount propagation is available only to privileged containers");
    }
}

fn validate_recursive_read_only(mounts: Field<'_>, mount: Field<'_>) {
    let mode = mount.child("recursiveReadOnly");
    if !mode.is_set() {
        return;
    }
    let place = mounts.at("recursiveReadOnly").with(mode.value());
    match mode.text() {
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.child("readOnly").is_true() {
                place.forbidden("may only be specified when readOnly is true");
            }
            if !matches!(mount.child("mountPropagation").text(), "" | "None") {
                place.forbidden("may only be specified when mountPropagation is None or not specified");
            }
        }
        other => place.not_supported(other, &["Disabled", "Enabled", "IfPossible"]),
    }
}

pub(super) fn validate_devices(container: Field<'_>, volumes: &Volumes<'_>) {
    let (mounts, devices) = (container.child("volumeMounts"), container.child("volumeDevices"));
    let (mut paths, mut names) = (BTreeSet::new(), BTreeSet::new());
    for device in devices.items() {
        let (name, path) = (device.child("name"), device.child("devicePath"));
        name.require();
        if names.contains(name.text()) {
            name.invalid(name.text(), "must be unique");
        }
        match volumes.get(name.text()) {
            None => name.not_found(name.text()),
            Some(volume) => {
                if !volume.child("persistentVolumeClaim").is_set() && !volume.child("ephemeral").is_set() {
                    let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                    name.invalid(name.text(), detail);
                }
            }
        }
        path.require();
        if paths.contains(path.text()) {
            path.invalid(path.text(), "must be unique");
        }
        if file_path::has_backsteps(path.text()) {
            path.invalid(path.text(), "can not contain backsteps ('..')");
        } else {
            paths.insert(path.text());
        }
        if has(mounts, "name", name.text()) {
            name.invalid(name.text(), "must not already exist in volumeMounts");
        }
        if has_last(mounts, "mountPath", path.text()) {
            path.invalid(path.text(), "must not already exist as a path in volumeMounts");
        }
        if !name.is_empty() {
            names.insert(name.text());
        }
    }
}

/// Whether an item of a list has a text in a field.
fn has(list: Field<'_>, field: &'static str, text: &str) -> bool {
    list.list().iter().any(|item| item[field].as_str().unwrap_or_default() == text)
}

/// Whether an item of a list, which no later one of its name overrides, has a text in a field.
fn has_last(list: Field<'_>, field: &'static str, text: &str) -> bool {
    let items = list.list();
    items.iter().enumerate().any(|(index, item)| {
        item[field].as_str().unwrap_or_default() == text
            && !items.iter().skip(index + 1).any(|later| later["name"] == item["name"])
    })
}
