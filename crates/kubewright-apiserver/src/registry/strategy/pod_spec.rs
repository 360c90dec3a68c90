//! What is wrong with the spec of a pod: the mistakes that people make. What only a kubelet would notice is not
//! looked for.

use std::collections::BTreeSet;

use kubewright_schema::{ErrorList, FieldError, FieldPath, names};
use serde_json::Value;

use super::{items, text};

/// Where a pod spec stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// In a pod.
    Pod,
    /// In the template of a controller whose pods run forever.
    Controller,
    /// In the template of a job.
    Job,
}

pub(super) fn validate(spec: &Value, owner: Owner, path: &FieldPath) -> ErrorList {
    let mut errors = ErrorList::new();
    let volumes = validate_volumes(&spec["volumes"], &path.child("volumes"), &mut errors);
    let containers = path.child("containers");
    if items(&spec["containers"]).is_empty() {
        errors.push(FieldError::required(&containers, ""));
    }
    let mut names = BTreeSet::new();
    for (field, list) in [("containers", &spec["containers"]), ("initContainers", &spec["initContainers"])] {
        for (index, container) in items(list).iter().enumerate() {
            let place = path.child(field).index(index);
            validate_container(container, &volumes, &mut names, &place, &mut errors);
        }
    }
    validate_restart_policy(text(spec, "restartPolicy"), owner, &path.child("restartPolicy"), &mut errors);
    if spec["activeDeadlineSeconds"].as_i64().is_some_and(|seconds| seconds < 1) {
        let value = spec["activeDeadlineSeconds"].clone();
        let detail = "must be between 1 and 2147483647, inclusive";
        errors.push(FieldError::invalid(&path.child("activeDeadlineSeconds"), value, detail));
    }
    errors
}

fn validate_restart_policy(policy: &str, owner: Owner, path: &FieldPath, errors: &mut ErrorList) {
    match owner {
        Owner::Pod if !matches!(policy, "Always" | "OnFailure" | "Never") => {
            errors.push(FieldError::not_supported(path, policy, &["Always", "OnFailure", "Never"]));
        }
        Owner::Controller if policy != "Always" => {
            errors.push(FieldError::not_supported(path, policy, &["Always"]));
        }
        Owner::Job if policy == "Always" => {
            errors.push(FieldError::required(path, "valid values: \"OnFailure\", \"Never\""));
        }
        Owner::Job if !matches!(policy, "OnFailure" | "Never") => {
            errors.push(FieldError::not_supported(path, policy, &["OnFailure", "Never"]));
        }
        Owner::Pod | Owner::Controller | Owner::Job => {}
    }
}

/// The names of the volumes.
fn validate_volumes(volumes: &Value, path: &FieldPath, errors: &mut ErrorList) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (index, volume) in items(volumes).iter().enumerate() {
        let (name, path) = (text(volume, "name"), path.index(index));
        validate_name(name, &mut names, &path.child("name"), errors);
        if volume.as_object().is_some_and(|volume| volume.len() < 2) {
            errors.push(FieldError::required(&path, "must specify a volume type"));
        }
    }
    names
}

/// Checks a name that has to be a label, and one of its kind.
fn validate_name(name: &str, names: &mut BTreeSet<String>, path: &FieldPath, errors: &mut ErrorList) {
    if name.is_empty() {
        errors.push(FieldError::required(path, ""));
        return;
    }
    for reason in names::dns1123_label(name) {
        errors.push(FieldError::invalid(path, name, reason));
    }
    if !names.insert(name.to_owned()) {
        errors.push(FieldError::duplicate(path, name));
    }
}

fn validate_container(
    container: &Value,
    volumes: &BTreeSet<String>,
    names: &mut BTreeSet<String>,
    path: &FieldPath,
    errors: &mut ErrorList,
) {
    validate_name(text(container, "name"), names, &path.child("name"), errors);
    let image = text(container, "image");
    if image.is_empty() {
        errors.push(FieldError::required(&path.child("image"), ""));
    } else if image.trim() != image {
        let detail = "must not have leading or trailing whitespace";
        errors.push(FieldError::invalid(&path.child("image"), image, detail));
    }
    for (index, port) in items(&container["ports"]).iter().enumerate() {
        let path = path.child("ports").index(index).child("containerPort");
        match port["containerPort"].as_i64() {
            None | Some(0) => errors.push(FieldError::required(&path, "")),
            Some(1..=65535) => {}
            Some(number) => {
                let detail = "must be between 1 and 65535, inclusive";
                errors.push(FieldError::invalid(&path, number, detail));
            }
        }
    }
    for (index, variable) in items(&container["env"]).iter().enumerate() {
        if text(variable, "name").is_empty() {
            errors.push(FieldError::required(&path.child("env").index(index).child("name"), ""));
        }
    }
    for (index, mount) in items(&container["volumeMounts"]).iter().enumerate() {
        let (name, path) = (text(mount, "name"), path.child("volumeMounts").index(index));
        if name.is_empty() {
            errors.push(FieldError::required(&path.child("name"), ""));
        } else if !volumes.contains(name) {
            errors.push(FieldError::not_found(&path.child("name"), name));
        }
        if text(mount, "mountPath").is_empty() {
            errors.push(FieldError::required(&path.child("mountPath"), ""));
        }
    }
    let policy = text(container, "imagePullPolicy");
    if !matches!(policy, "" | "Always" | "IfNotPresent" | "Never") {
        let supported = ["Always", "IfNotPresent", "Never"];
        errors.push(FieldError::not_supported(&path.child("imagePullPolicy"), policy, &supported));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_usual_mistakes_are_found() {
        let texts = |spec: &Value, owner| {
            let errors = validate(spec, owner, &FieldPath::new("spec"));
            errors.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let good = json!({"restartPolicy": "Always", "containers": [{"name": "c", "image": "i"}]});
        assert_eq!(texts(&good, Owner::Pod), [""; 0]);
        assert_eq!(
            texts(&good, Owner::Job),
            ["spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\""]
        );
        let bad = json!({"restartPolicy": "x", "containers": [
            {"volumeMounts": [{"name": "v", "mountPath": "/"}]},
            {"name": "c", "image": "i"},
            {"name": "c", "image": "i"},
        ]});
        assert_eq!(
            texts(&bad, Owner::Pod),
            [
                "spec.containers[0].name: Required value",
                "spec.containers[0].image: Required value",
                "spec.containers[0].volumeMounts[0].name: Not found: \"v\"",
                "spec.containers[2].name: Duplicate value: \"c\"",
                "spec.restartPolicy: Unsupported value: \"x\": supported values: \"Always\", \"OnFailure\", \"Never\"",
            ]
        );
    }
}
