//! Environment variables and where their values come from.

use kubewright_quota::Quantity;

use kubewright_schema::names;

use crate::validation::{Field, file_path};

/// The fields of a pod that a variable may take its value from.
const FIELD_PATHS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// The resources of a container that its pod may tell it of.
const RESOURCES: [&str; 6] = [
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

const BYTE_DIVISORS: [&str; 13] =
    ["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// Checks the variables of a container.
pub(super) fn validate(variables: Field<'_>) {
    for variable in variables.items() {
        let name = variable.child("name");
        if name.require() {
            name.check(names::environment_variable_name);
        }
        let source = variable.child("valueFrom");
        if source.is_set() {
            validate_source(source, variable.child("value"));
        }
    }
}

fn validate_source(source: Field<'_>, value: Field<'_>) {
    let mut sources = 0;
    let mut check = |name, rule: &dyn Fn(Field<'_>)| {
        let reference = source.child(name);
        if reference.is_set() {
            sources += 1;
            rule(reference);
        }
    };
    check("fieldRef", &|reference| validate_field_reference(reference, &FIELD_PATHS));
    check("resourceFieldRef", &|reference| validate_resource_reference(reference, false));
    check("configMapKeyRef", &validate_key_reference);
    check("secretKeyRef", &validate_key_reference);
    check("fileKeyRef", &validate_file_reference);
    if sources == 0 {
        let detail = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or \
                      `fileKeyRef`";
        source.invalid("", detail);
    } else if !value.is_empty() {
        source.invalid("", "may not be specified when `value` is not empty");
    } else if sources > 1 {
        source.invalid("", "may not have more than one field specified at a time");
    }
}

/// Checks a reference to a field of the pod: one of `paths`, or an entry of its labels or annotations.
pub(super) fn validate_field_reference(reference: Field<'_>, paths: &[&str]) {
    let (version, path) = (reference.child("apiVersion"), reference.child("fieldPath"));
    if !version.require() || !path.require() {
        return;
    }
    let text = path.text();
    let refuse = |why: String| path.invalid(text, format!("error converting fieldPath: {why}"));
    if version.text() != "v1" {
        return refuse(format!("unsupported pod version: {}", version.text()));
    }
    if let Some((map, key)) = split_subscript(text) {
        match map {
            "metadata.annotations" => {
                for reason in names::label_key(&key.to_lowercase()) {
                    reference.invalid(key.to_lowercase(), reason);
                }
            }
            "metadata.labels" => {
                for reason in names::label_key(key) {
                    reference.invalid(key, reason);
                }
            }
            _ => refuse(format!("field label does not support subscript: {text}")),
        }
        return;
    }
    let text = match text {
        "metadata.annotations"
        | "metadata.labels"
        | "metadata.name"
        | "metadata.namespace"
        | "metadata.uid"
        | "spec.nodeName"
        | "spec.restartPolicy"
        | "spec.serviceAccountName"
        | "spec.schedulerName"
        | "status.phase"
        | "status.hostIP"
        | "status.hostIPs"
        | "status.podIP"
        | "status.podIPs" => text,
        "spec.host" => "spec.nodeName",
        _ => return refuse(format!("field label not supported: {text}")),
    };
    if !paths.contains(&text) {
        path.not_supported(text, paths);
    }
}

/// The map and the key of `metadata.labels['key']`.
fn split_subscript(path: &str) -> Option<(&str, &str)> {
    let (map, key) = path.strip_suffix("']")?.split_once("['")?;
    (!map.is_empty()).then_some((map, key))
}

/// Checks a reference to a resource of a container. That of a volume says of which one.
pub(super) fn validate_resource_reference(reference: Field<'_>, is_volume: bool) {
    let name = reference.child("resource");
    let resource = name.text();
    let is_huge_pages =
        resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-");
    if is_volume && reference.child("containerName").is_empty() {
        reference.child("containerName").required("");
    } else if name.require() && !RESOURCES.contains(&resource) && !is_huge_pages {
        name.not_supported(resource, &RESOURCES);
    }
    let divisor = reference.child("divisor");
    if Quantity::of(divisor.value()).is_zero() {
        return;
    }
    let measured = match resource.split_once('.').map_or("", |(_, measured)| measured) {
        "cpu" => {
            if !["1m", "1"].contains(&divisor.text()) {
                let detail = "only divisor's values 1m and 1 are supported with the cpu resource";
                divisor.invalid(resource, detail);
            }
            return;
        }
        "memory" => "memory",
        "ephemeral-storage" => "local ephemeral storage",
        _ if is_huge_pages => "hugepages",
        _ => return,
    };
    if !BYTE_DIVISORS.contains(&divisor.text()) {
        let values = BYTE_DIVISORS.join(", ");
        let detail = format!("only divisor's values {values} are supported with the {measured} resource");
        divisor.invalid(resource, detail);
    }
}

fn validate_key_reference(reference: Field<'_>) {
    reference.child("name").check(names::dns1123_subdomain);
    let key = reference.child("key");
    if key.require() {
        key.check(names::config_map_key);
    }
}

fn validate_file_reference(reference: Field<'_>) {
    let key = reference.child("key");
    if key.require() {
        key.check(names::environment_variable_name);
    }
    let volume = reference.child("volumeName");
    if volume.require() {
        volume.check(names::dns1123_label);
    }
    let path = reference.child("path");
    if path.require() {
        file_path::validate_no_backsteps(path);
    }
}

/// Checks the maps that become variables as a whole. How many sources an entry has is reported at the list.
pub(super) fn validate_sources(entries: Field<'_>) {
    for entry in entries.items() {
        let prefix = entry.child("prefix");
        if !prefix.is_empty() {
            prefix.check(names::environment_variable_name);
        }
        let sources = [entry.child("configMapRef"), entry.child("secretRef")];
        let mut count = 0;
        for source in sources.into_iter().filter(|source| source.is_set()) {
            count += 1;
            let name = source.child("name");
            if name.require() {
                for reason in names::NameRule::DnsSubdomain.check(name.text(), true) {
                    name.invalid(name.text(), reason);
                }
            }
        }
        match count {
            0 => entries.invalid("", "must specify one of: `configMapRef` or `secretRef`"),
            1 => {}
            _ => entries.invalid("", "may not have more than one field specified at a time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscripts_are_split_off() {
        assert_eq!(split_subscript("metadata.labels['a/b']"), Some(("metadata.labels", "a/b")));
        assert_eq!(split_subscript("metadata.labels"), None);
        assert_eq!(split_subscript("['a']"), None);
    }
}
