//! Services: their addresses and ports are handed out by the server.

use std::{collections::BTreeSet, net::Ipv4Addr};

use kubewright_schema::{ErrorList, FieldError, FieldPath};
use serde_json::{Value, json};

use super::{items, text};
use crate::{registry::metadata, store::Listing};

/// The addresses of services: 10.96.0.0/12. The first ones are left for those who want a certain address.
const FIRST_ADDRESS: u32 = u32::from_be_bytes([10, 96, 0, 10]);
const LAST_ADDRESS: u32 = u32::from_be_bytes([10, 111, 255, 254]);

/// The ports of nodes.
const FIRST_NODE_PORT: i64 = 30000;
const LAST_NODE_PORT: i64 = 32767;

pub(super) fn validate(service: &Value) -> ErrorList {
    let spec = &service["spec"];
    let path = FieldPath::new("spec");
    let mut errors = ErrorList::new();
    let is_external = text(spec, "type") == "ExternalName";
    let ports = items(&spec["ports"]);
    if ports.is_empty() && !is_external && text(spec, "clusterIP") != "None" {
        errors.push(FieldError::required(&path.child("ports"), ""));
    }
    if is_external && text(spec, "externalName").is_empty() {
        errors.push(FieldError::required(&path.child("externalName"), ""));
    }
    let mut names = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = path.child("ports").index(index);
        for field in ["port", "targetPort"] {
            if let Some(number) = port[field].as_i64().filter(|number| !(1..=65535).contains(number)) {
                let detail = "must be between 1 and 65535, inclusive";
                errors.push(FieldError::invalid(&path.child(field), number, detail));
            }
        }
        let name = text(port, "name");
        if name.is_empty() && ports.len() > 1 {
            errors.push(FieldError::required(&path.child("name"), ""));
        } else if !name.is_empty() && !names.insert(name) {
            errors.push(FieldError::duplicate(&path.child("name"), name));
        }
    }
    let kind = text(spec, "type");
    if !matches!(kind, "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName") {
        let supported = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
        errors.push(FieldError::not_supported(&path.child("type"), kind, &supported));
    }
    errors
}

pub(super) fn validate_update(service: &Value, old: &Value) -> ErrorList {
    let mut errors = ErrorList::new();
    let is_external = |service: &Value| text(&service["spec"], "type") == "ExternalName";
    let ips = &service["spec"]["clusterIPs"];
    let old_ips = &old["spec"]["clusterIPs"];
    if !is_external(service) && !is_external(old) && !old_ips.is_null() && ips[0] != old_ips[0] {
        let path = FieldPath::new("spec").child("clusterIPs").index(0);
        errors.push(FieldError::invalid(&path, ips.clone(), "may not change once set"));
    }
    errors.extend(validate(service));
    errors
}

/// Takes over what was handed out before and a client that replaces the service does not know.
pub(super) fn keep_allocated(service: &mut Value, old: &Value) {
    let kind = |service: &Value| text(&service["spec"], "type").to_owned();
    if kind(service) == "ExternalName" || kind(old) == "ExternalName" {
        return;
    }
    let old_ports = items(&old["spec"]["ports"]).to_vec();
    let spec = metadata::child(metadata::as_map(service), "spec");
    let has_ip = spec.get("clusterIP").and_then(Value::as_str).is_some_and(|ip| !ip.is_empty());
    let has_ips = spec.get("clusterIPs").and_then(Value::as_array).is_some_and(|ips| !ips.is_empty());
    if has_ip && !has_ips {
        let ip = spec.get("clusterIP").cloned().unwrap_or_default();
        spec.insert("clusterIPs".to_owned(), json!([ip]));
    }
    for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"] {
        let is_empty = match spec.get(field) {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(values)) => values.is_empty(),
            Some(_) => false,
        };
        if is_empty && let Some(value) = old["spec"].get(field) {
            spec.insert(field.to_owned(), value.clone());
        }
    }
    let wants_node_ports =
        matches!(spec.get("type").and_then(Value::as_str), Some("NodePort" | "LoadBalancer"));
    for port in spec.get_mut("ports").and_then(Value::as_array_mut).into_iter().flatten() {
        let same =
            old_ports.iter().find(|old| old["port"] == port["port"] && old["protocol"] == port["protocol"]);
        if wants_node_ports
            && port["nodePort"].as_i64().unwrap_or_default() == 0
            && let Some(node_port) = same.and_then(|old| old["nodePort"].as_i64()).filter(|port| *port > 0)
        {
            metadata::as_map(port).insert("nodePort".to_owned(), Value::from(node_port));
        }
    }
}

/// Hands out the addresses and ports that a service needs and does not have.
///
/// # Errors
/// If a wanted address or port is taken, or none is left.
pub(super) fn allocate(service: &mut Value, others: &Listing) -> Result<(), FieldError> {
    let kind = text(&service["spec"], "type").to_owned();
    if kind == "ExternalName" {
        return Ok(());
    }
    let own = metadata::uid(service).to_owned();
    let others = || {
        others
            .range("", "")
            .map(|(_, other)| other.value())
            .filter(|other| metadata::uid(other) != own)
            .map(|other| &other["spec"])
    };
    let path = FieldPath::new("spec");
    let spec = metadata::child(metadata::as_map(service), "spec");
    let wanted = spec.get("clusterIP").and_then(Value::as_str).unwrap_or_default().to_owned();
    let address = match wanted.as_str() {
        "None" => wanted,
        "" => {
            let taken: BTreeSet<&str> = others().map(|spec| text(spec, "clusterIP")).collect();
            let mut addresses = (FIRST_ADDRESS..=LAST_ADDRESS).map(|ip| Ipv4Addr::from(ip).to_string());
            addresses.find(|ip| !taken.contains(ip.as_str())).ok_or_else(|| {
                FieldError::internal(
                    &path.child("clusterIP"),
                    "failed to allocate a serviceIP: range is full",
                )
            })?
        }
        _ => {
            if others().any(|spec| text(spec, "clusterIP") == wanted) {
                let detail = format!("failed to allocate IP {wanted}: provided IP is already allocated");
                let value = json!([wanted]);
                return Err(FieldError::invalid(&path.child("clusterIPs"), value, detail));
            }
            wanted
        }
    };
    spec.insert("clusterIPs".to_owned(), json!([address]));
    spec.insert("clusterIP".to_owned(), Value::from(address));
    spec.entry("ipFamilies").or_insert_with(|| json!(["IPv4"]));
    spec.entry("ipFamilyPolicy").or_insert_with(|| json!("SingleStack"));

    if !matches!(kind.as_str(), "NodePort" | "LoadBalancer")
        || spec.get("allocateLoadBalancerNodePorts") == Some(&json!(false))
    {
        return Ok(());
    }
    let node_ports = |spec: &Value| -> Vec<i64> {
        items(&spec["ports"]).iter().filter_map(|port| port["nodePort"].as_i64()).collect()
    };
    let mut taken: BTreeSet<i64> = others().flat_map(node_ports).collect();
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for (index, port) in ports.into_iter().flatten().enumerate() {
        let wanted = port["nodePort"].as_i64().unwrap_or_default();
        let path = path.child("ports").index(index).child("nodePort");
        let number = if wanted > 0 {
            if !(FIRST_NODE_PORT..=LAST_NODE_PORT).contains(&wanted) {
                let detail = format!(
                    "provided port is not in the valid range. The range of valid ports is \
                     {FIRST_NODE_PORT}-{LAST_NODE_PORT}"
                );
                return Err(FieldError::invalid(&path, wanted, detail));
            }
            if taken.contains(&wanted) {
                return Err(FieldError::invalid(&path, wanted, "provided port is already allocated"));
            }
            wanted
        } else {
            (FIRST_NODE_PORT..=LAST_NODE_PORT)
                .find(|number| !taken.contains(number))
                .ok_or_else(|| FieldError::internal(&path, "failed to allocate a nodePort: range is full"))?
        };
        taken.insert(number);
        metadata::as_map(port).insert("nodePort".to_owned(), Value::from(number));
    }
    Ok(())
}
