//! Annotations of pods that mean something to the server.

use serde_json::Value;

use super::{security, spec::visit_containers, tolerations};
use crate::validation::{Field, file_path};

pub(crate) const MIRROR: &str = "kubernetes.io/config.mirror";
pub(super) const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
pub(super) const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
pub(super) const APP_ARMOR: &str = "container.apparmor.security.beta.kubernetes.io/";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const LOCALHOST: &str = "localhost/";

/// Checks the annotations of a pod or of a template.
pub(super) fn validate(annotations: Field<'_>, spec: Field<'_>) {
    let Some(map) = annotations.map() else { return };
    if map.contains_key(MIRROR) && spec.child("nodeName").is_empty() {
        let place = annotations.entry(MIRROR);
        place.invalid(place.text(), "must set spec.nodeName if mirror pod annotation is set");
    }
    validate_tolerations(annotations);
    if let Some(cost) = map.get(DELETION_COST).and_then(Value::as_str)
        && !is_deletion_cost(cost)
    {
        annotations.entry(DELETION_COST).invalid(cost, "must be a 32bit integer");
    }
    if map.contains_key(SECCOMP_POD) {
        validate_seccomp(annotations.at(SECCOMP_POD).with(&annotations.value()[SECCOMP_POD]));
    }
    for (key, profile) in map {
        if key.starts_with(SECCOMP_CONTAINER) {
            validate_seccomp(annotations.at_owned(key).with(profile));
        }
    }
    for (key, profile) in map {
        let Some(container) = key.strip_prefix(APP_ARMOR) else { continue };
        let place = annotations.at_key(key);
        let mut is_there = false;
        visit_containers(spec, |own| is_there |= own.child("name").text() == container);
        if !is_there {
            place.invalid(container, "container not found");
        }
        let profile = profile.as_str().unwrap_or_default();
        if !matches!(profile, "" | "runtime/default" | "unconfined") && !profile.starts_with(LOCALHOST) {
            place.invalid(profile, format!("invalid AppArmor profile name: {profile:?}"));
        }
    }
}

/// Whether it is a number as Kubernetes writes it: no sign or zero too much.
fn is_deletion_cost(text: &str) -> bool {
    let has_extra = |text: &str| text.starts_with('+') || (text.len() > 1 && text.starts_with('0'));
    !has_extra(text) && text.parse::<i32>().is_ok()
}

/// Tolerations used to be an annotation.
fn validate_tolerations(annotations: Field<'_>) {
    let text = annotations.value().get(TOLERATIONS).and_then(Value::as_str).unwrap_or_default();
    if text.is_empty() {
        return;
    }
    match serde_json::from_str::<Value>(text) {
        Ok(list) if list.is_array() || list.is_null() => {
            tolerations::validate(annotations.at(TOLERATIONS).with(&list));
        }
        Ok(_) => {
            let detail = "json: cannot unmarshal object into Go value of type []v1.Toleration";
            annotations.invalid(TOLERATIONS, detail);
        }
        Err(error) => annotations.invalid(TOLERATIONS, error.to_string()),
    }
}

fn validate_seccomp(profile: Field<'_>) {
    let text = profile.text();
    if matches!(text, "runtime/default" | "docker/default" | "unconfined") {
        return;
    }
    match text.strip_prefix(LOCALHOST) {
        Some(file) => file_path::validate_descending(profile.with(&Value::from(file))),
        None => profile.invalid(text, "must be a valid seccomp profile"),
    }
}

/// Checks that profiles which are given twice, by an annotation and a field, are the same.
pub(super) fn validate_profiles(annotations: Field<'_>, spec: Field<'_>) {
    if annotations.is_empty() {
        return;
    }
    let annotation = |key: &str| annotations.value().get(key).and_then(Value::as_str);
    if let Some(text) = annotation(SECCOMP_POD) {
        let profile = spec.child("securityContext").child("seccompProfile");
        validate_same(text, profile, "seccomp", &["runtime/default", "docker/default"]);
    }
    visit_containers(spec, |container| {
        let profile = container.child("securityContext").child("seccompProfile");
        if let Some(text) = annotation(&format!("{SECCOMP_CONTAINER}{}", container.child("name").text())) {
            validate_same(text, profile, "seccomp", &["runtime/default", "docker/default"]);
        }
    });
    if spec.child("os").child("name").text() == "windows" {
        return;
    }
    let of_pod = spec.child("securityContext").child("appArmorProfile");
    visit_containers(spec, |container| {
        let place = container.child("securityContext").child("appArmorProfile");
        let profile = if place.is_set() { place } else { place.with(of_pod.value()) };
        if let Some(text) = annotation(&format!("{APP_ARMOR}{}", container.child("name").text())) {
            validate_same(text, profile, "apparmor", &["runtime/default"]);
        }
    });
}

/// Checks that a profile, if there is one, is what the annotation says.
fn validate_same(annotation: &str, profile: Field<'_>, what: &str, defaults: &[&str]) {
    let (kind, file) = (profile.child("type"), profile.child("localhostProfile"));
    let is_same_kind = match kind.text() {
        "Unconfined" => annotation == "unconfined",
        "RuntimeDefault" => defaults.contains(&annotation),
        "Localhost" => annotation.starts_with(LOCALHOST),
        _ => return,
    };
    if !is_same_kind {
        kind.forbidden(format!("{what} type in annotation and field must match"));
    } else if kind.text() == "Localhost"
        && !(file.is_set() && annotation.strip_prefix(LOCALHOST) == Some(file.text()))
    {
        file.forbidden(format!("{what} profile in annotation and field must match"));
    }
}

/// Checks a change of annotations: some stay as they were when the pod was made.
pub(super) fn validate_update(new: Field<'_>, old: Field<'_>) {
    let empty = serde_json::Map::new();
    let (new_map, old_map) = (new.map().unwrap_or(&empty), old.map().unwrap_or(&empty));
    let fixed = |key: &str| match key {
        MIRROR => Some("mirror pod annotation"),
        _ if key.starts_with(APP_ARMOR) => Some("AppArmor annotations"),
        _ => None,
    };
    for (key, value) in old_map {
        if let Some(what) = fixed(key)
            && new_map.get(key) != Some(value)
        {
            new.at_key(key).forbidden(format!("may not remove or update {what}"));
        }
    }
    for key in new_map.keys().filter(|key| !old_map.contains_key(*key)) {
        if let Some(what) = fixed(key) {
            new.at_key(key).forbidden(format!("may not add {what}"));
        }
    }
}

/// The profile of AppArmor that an annotation stands for, if it is a valid one.
pub(crate) fn app_armor_profile(annotation: &str) -> Option<Value> {
    let profile = match annotation {
        "unconfined" => serde_json::json!({ "type": "Unconfined" }),
        "runtime/default" => serde_json::json!({ "type": "RuntimeDefault" }),
        other => {
            let name = other.strip_prefix(LOCALHOST).filter(|name| !name.is_empty())?;
            serde_json::json!({ "type": "Localhost", "localhostProfile": name })
        }
    };
    let report = crate::validation::Report::default();
    security::validate_app_armor_profile(Field::root(&profile, &report));
    (report.len() == 0).then_some(profile)
}
