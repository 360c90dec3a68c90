use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::fields::{
    Fields, absent, always, default, default_non_empty, default_text, is_empty, items, object, object_mut,
    text,
};

pub(super) fn set(kind: &str, fields: &mut Fields) {
    match kind {
        "Container" | "EphemeralContainer" => {
            let policy = pull_policy(text(fields, "image"));
            default_text(fields, "imagePullPolicy", policy);
        }
        "LimitRangeItem" => limit_range_item(fields),
        "Namespace" => namespace(fields),
        "NodeStatus" => {
            if let Some(capacity) = fields.get("capacity").filter(|it| !it.is_null()).cloned() {
                default(fields, "allocatable", capacity);
            }
        }
        "PersistentVolume" => {
            if let Some(spec) = always(fields, "spec") {
                default_text(spec, "persistentVolumeReclaimPolicy", "Retain");
                default(spec, "volumeMode", "Filesystem");
            }
        }
        "Pod" => pod(fields),
        "PodSpec" => pod_spec(fields),
        "PodStatus" => pod_status(fields),
        "ReplicationController" => replication_controller(fields),
        "Secret" => secret(fields),
        "Service" => service(fields),
        "Volume" => volume(fields),
        _ => {}
    }
}

/// An image that may change under its name is pulled every time.
fn pull_policy(image: &str) -> &'static str {
    if tag(image) == Some("latest") { "Always" } else { "IfNotPresent" }
}

/// The tag of an image: `latest` where neither tag nor digest is given, nothing where the name is malformed.
fn tag(image: &str) -> Option<&str> {
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    let last = name.rfind('/').map_or(0, |slash| slash + 1);
    let (repository, tag) = match name.get(last..)?.split_once(':') {
        Some((segment, tag)) => (name.get(..last + segment.len())?, Some(tag)),
        None => (name, None),
    };
    let path =
        repository.split_once('/').filter(|(host, _)| is_host(host)).map_or(repository, |(_, path)| path);
    let well_formed = !path.is_empty()
        && path.split('/').all(|part| {
            part.starts_with(is_alphanumeric)
                && part.ends_with(is_alphanumeric)
                && part.chars().all(|c| is_alphanumeric(c) || matches!(c, '.' | '_' | '-'))
        })
        && tag.is_none_or(|tag| {
            !tag.is_empty()
                && tag.len() <= 128
                && !tag.starts_with(['.', '-'])
                && tag.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
        });
    match (tag, digest) {
        _ if !well_formed => None,
        (None, None) => Some("latest"),
        (tag, _) => tag,
    }
}

fn is_alphanumeric(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

/// Whether the first part of an image name is a registry and not a part of the path.
fn is_host(part: &str) -> bool {
    part == "localhost" || part.contains(['.', ':']) || part.contains(|c: char| c.is_ascii_uppercase())
}

fn limit_range_item(item: &mut Fields) {
    if text(item, "type") != "Container" {
        return;
    }
    let of = |item: &Fields, name: &str| object(item, name).cloned().unwrap_or_default();
    let (mut limits, mut requests) = (of(item, "default"), of(item, "defaultRequest"));
    fill(&mut limits, &of(item, "max"));
    fill(&mut requests, &limits);
    fill(&mut requests, &of(item, "min"));
    item.insert("default".into(), limits.into());
    item.insert("defaultRequest".into(), requests.into());
}

/// Adds the entries that are missing.
fn fill(entries: &mut Fields, from: &Fields) {
    for (name, value) in from {
        entries.entry(name.as_str()).or_insert_with(|| value.clone());
    }
}

fn namespace(namespace: &mut Fields) {
    let Some(metadata) = always(namespace, "metadata") else { return };
    let name = text(metadata, "name").to_owned();
    if !name.is_empty()
        && let Some(labels) = always(metadata, "labels")
    {
        labels.insert("kubernetes.io/metadata.name".into(), name.into());
    }
}

fn pod(pod: &mut Fields) {
    let Some(spec) = always(pod, "spec") else { return };
    if spec.get("terminationGracePeriodSeconds").and_then(Value::as_i64).is_some_and(|seconds| seconds < 0) {
        spec.insert("terminationGracePeriodSeconds".into(), 1.into());
    }
    default(spec, "enableServiceLinks", true);
    let host_network = spec.get("hostNetwork").and_then(Value::as_bool).unwrap_or_default();
    for list in ["containers", "initContainers"] {
        for container in items(spec, list) {
            if let Some(resources) = object_mut(container, "resources")
                && let Some(limits) = object(resources, "limits").cloned()
                && let Some(requests) = always(resources, "requests")
            {
                fill(requests, &limits);
            }
            if host_network {
                items(container, "ports").for_each(host_port);
            }
        }
    }
}

/// On the host's network a port of a container is a port of the host.
fn host_port(port: &mut Fields) {
    if port.get("hostPort").and_then(Value::as_i64).unwrap_or_default() == 0
        && let Some(number) = port.get("containerPort").cloned()
    {
        port.insert("hostPort".into(), number);
    }
}

fn pod_spec(spec: &mut Fields) {
    // Two names of one field; the newer one wins.
    let account = match text(spec, "serviceAccountName") {
        "" => text(spec, "serviceAccount").to_owned(),
        name => name.to_owned(),
    };
    if !account.is_empty() {
        for name in ["serviceAccountName", "serviceAccount"] {
            spec.insert(name.into(), account.as_str().into());
        }
    }
    default(spec, "securityContext", Map::new());
}

/// Keeps the single address and the first of the list the same; the single one wins.
fn pod_status(status: &mut Fields) {
    let single = text(status, "podIP").to_owned();
    let first = items(status, "podIPs").next().map(|ip| text(ip, "ip").to_owned());
    match (single, first) {
        (single, None) if single.is_empty() => {}
        (single, Some(first)) if single.is_empty() => {
            status.insert("podIP".into(), first.into());
        }
        (single, first) if first.as_ref() != Some(&single) => {
            status.insert("podIPs".into(), json!([{ "ip": single }]));
        }
        _ => {}
    }
}

fn replication_controller(controller: &mut Fields) {
    let Some(spec) = always(controller, "spec") else { return };
    let template = object(spec, "template").and_then(|template| object(template, "metadata"));
    let Some(labels) = template.and_then(|metadata| object(metadata, "labels")).cloned() else { return };
    default_non_empty(spec, "selector", labels.clone());
    if let Some(metadata) = always(controller, "metadata") {
        default_non_empty(metadata, "labels", labels);
    }
}

fn secret(secret: &mut Fields) {
    let Some(Value::Object(strings)) = secret.remove("stringData") else { return };
    if strings.is_empty() {
        return;
    }
    if let Some(data) = always(secret, "data") {
        for (key, value) in strings {
            data.insert(key, STANDARD.encode(value.as_str().unwrap_or_default()).into());
        }
    }
}

fn service(service: &mut Fields) {
    let Some(spec) = always(service, "spec") else { return };
    default_text(spec, "type", "ClusterIP");
    default_text(spec, "sessionAffinity", "None");
    match text(spec, "sessionAffinity") {
        "None" => {
            spec.remove("sessionAffinityConfig");
        }
        "ClientIP" => {
            let client = object(spec, "sessionAffinityConfig").and_then(|config| object(config, "clientIP"));
            if client.is_none_or(|client| absent(client, "timeoutSeconds")) {
                let config = json!({"clientIP": {"timeoutSeconds": 10800}});
                spec.insert("sessionAffinityConfig".into(), config);
            }
        }
        _ => {}
    }
    for port in items(spec, "ports") {
        let target = port.get("targetPort").filter(|target| !target.is_null());
        if target.is_none_or(|target| target == 0 || target == "") {
            let number = port.get("port").cloned().unwrap_or_else(|| 0.into());
            port.insert("targetPort".into(), number);
        }
    }
    let kind = text(spec, "type").to_owned();
    let balanced = kind == "LoadBalancer";
    let external = balanced || kind == "NodePort" || (kind == "ClusterIP" && !is_empty(spec, "externalIPs"));
    if external {
        default_text(spec, "externalTrafficPolicy", "Cluster");
    }
    if balanced || kind == "NodePort" || kind == "ClusterIP" {
        default(spec, "internalTrafficPolicy", "Cluster");
    }
    if balanced {
        default(spec, "allocateLoadBalancerNodePorts", true);
        let status = object_mut(service, "status").and_then(|status| object_mut(status, "loadBalancer"));
        if let Some(balancer) = status {
            for ingress in items(balancer, "ingress").filter(|ingress| !text(ingress, "ip").is_empty()) {
                default(ingress, "ipMode", "VIP");
            }
        }
    }
}

fn volume(volume: &mut Fields) {
    if volume.iter().all(|(name, value)| name == "name" || value.is_null()) {
        volume.insert("emptyDir".into(), json!({}));
    }
    if let Some(image) = object_mut(volume, "image") {
        let policy = pull_policy(text(image, "reference"));
        default_text(image, "pullPolicy", policy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags() {
        for (image, expected) in [
            ("nginx", Some("latest")),
            ("nginx:latest", Some("latest")),
            ("nginx:1.27", Some("1.27")),
            ("localhost:5000/nginx", Some("latest")),
            ("localhost:5000/a/nginx:v1", Some("v1")),
            ("Registry/nginx", Some("latest")),
            ("nginx@sha256:0123", None),
            ("nginx:latest@sha256:0123", Some("latest")),
            ("", None),
            ("Nginx", None),
            ("nginx:", None),
            ("a//b", None),
        ] {
            assert_eq!(tag(image), expected, "{image}");
        }
    }
}
