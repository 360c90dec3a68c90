//! Services: their addresses and ports are handed out by the server.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv4Addr},
    ops::RangeInclusive,
};

use kubewright_schema::{ErrorList, FieldError, FieldPath};
use serde_json::{Map, Value, json};

use super::{items, text};
use crate::{registry::metadata, store::Listing};

/// The addresses of services: 10.96.0.0/12 without its first and its last one.
const ADDRESSES: RangeInclusive<u32> =
    u32::from_be_bytes([10, 96, 0, 1])..=u32::from_be_bytes([10, 111, 255, 254]);

/// The first address that is handed out; those below are left for who wants a certain address.
const FIRST_ADDRESS: u32 = u32::from_be_bytes([10, 96, 0, 10]);

/// The ports of nodes.
const NODE_PORTS: RangeInclusive<i64> = 30000..=32767;

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
    if !is_external {
        errors.extend(validate_address(spec));
    }
    let kind = text(spec, "type");
    if !matches!(kind, "ClusterIP" | "NodePort" | "LoadBalancer" | "ExternalName") {
        let supported = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
        errors.push(FieldError::not_supported(&path.child("type"), kind, &supported));
    }
    errors
}

/// What is wrong with the address that a service wants.
fn validate_address(spec: &Value) -> Option<FieldError> {
    let first = items(&spec["clusterIPs"]).first().and_then(Value::as_str);
    let wanted = first.unwrap_or_else(|| text(spec, "clusterIP"));
    if matches!(wanted, "" | "None") {
        return None;
    }
    let without_zeros = || {
        let parts = wanted.split('.').map(|part| match part.trim_start_matches('0') {
            "" if !part.is_empty() => "0",
            part => part,
        });
        parts.collect::<Vec<_>>().join(".")
    };
    let path = FieldPath::new("spec").child("clusterIPs").index(0);
    match wanted.parse() {
        Ok(IpAddr::V4(_)) => None,
        Ok(IpAddr::V6(ip)) if ip.to_ipv4_mapped().is_some() => {
            Some(FieldError::invalid(&path, wanted, "must not be an IPv4-mapped IPv6 address"))
        }
        Ok(IpAddr::V6(_)) => {
            Some(FieldError::invalid(&path, json!([wanted]), "IPv6 is not configured on this cluster"))
        }
        Err(_) if without_zeros().parse::<Ipv4Addr>().is_ok() => {
            Some(FieldError::invalid(&path, wanted, "must not have leading 0s"))
        }
        Err(_) => {
            let detail = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
            Some(FieldError::invalid(&path, wanted, detail))
        }
    }
}

pub(super) fn validate_update(service: &Value, old: &Value) -> ErrorList {
    let mut errors = validate(service);
    let is_external = |service: &Value| text(&service["spec"], "type") == "ExternalName";
    let ips = &service["spec"]["clusterIPs"];
    let old_ips = &old["spec"]["clusterIPs"];
    if !is_external(service)
        && !is_external(old)
        && !old_ips.is_null()
        && ips[0] != old_ips[0]
        // What is no address is not told to stay another one.
        && validate_address(&service["spec"]).is_none()
    {
        let path = FieldPath::new("spec").child("clusterIPs").index(0);
        errors.push(FieldError::invalid(&path, ips.clone(), "may not change once set"));
    }
    errors
}

/// Takes over what was handed out before and a client that replaces the service does not know.
pub(super) fn keep_allocated(service: &mut Value, old: &Value) {
    let kind = |service: &Value| text(&service["spec"], "type").to_owned();
    drop_of_other_type(service, old);
    if kind(service) == "ExternalName" || kind(old) == "ExternalName" {
        return;
    }
    let old_ports = items(&old["spec"]["ports"]).to_vec();
    let spec = metadata::child(metadata::as_map(service), "spec");
    let has_ip = spec.get("clusterIP").and_then(Value::as_str).is_some_and(|ip| !ip.is_empty());
    let has_ips = spec.get("clusterIPs").and_then(Value::as_array).is_some_and(|ips| !ips.is_empty());
    // Who changes the one field means both.
    let is_new = has_ip
        && spec.get("clusterIP") != old["spec"].get("clusterIP")
        && spec.get("clusterIPs") == old["spec"].get("clusterIPs");
    if has_ip && (!has_ips || is_new) {
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

/// Drops what only the former type of the service needed and the client left as it was.
fn drop_of_other_type(service: &mut Value, old: &Value) {
    let kind = |service: &Value| text(&service["spec"], "type").to_owned();
    let (kind, old_kind) = (kind(service), kind(old));
    let is_open = |kind: &str| matches!(kind, "NodePort" | "LoadBalancer");
    let spec = metadata::child(metadata::as_map(service), "spec");
    let mut drop = |fields: &[&str]| {
        for field in fields {
            if spec.get(*field) == old["spec"].get(field) {
                spec.remove(*field);
            }
        }
    };
    if kind == "ExternalName" && old_kind != "ExternalName" {
        drop(&["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"]);
    }
    if is_open(&old_kind) && !is_open(&kind) {
        drop(&["externalTrafficPolicy", "healthCheckNodePort", "allocateLoadBalancerNodePorts"]);
        let old_ports = items(&old["spec"]["ports"]);
        let ports =
            spec.get_mut("ports").and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default();
        let same = ports.iter().map(node_port).eq(old_ports.iter().map(node_port));
        for port in ports.iter_mut().filter(|_| same) {
            metadata::as_map(port).remove("nodePort");
        }
    }
    if old_kind == "LoadBalancer" && kind != "LoadBalancer" {
        let spec = metadata::child(metadata::as_map(service), "spec");
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if spec.get(field) == old["spec"].get(field) {
                spec.remove(field);
            }
        }
    }
}

/// Hands out the addresses and ports that a service needs and does not have. `all` are the services that are there,
/// which may not change until this one is stored.
///
/// # Errors
/// If a wanted address or port is taken, or none is left.
pub(super) fn allocate(service: &mut Value, all: &Listing) -> Result<(), FieldError> {
    let kind = text(&service["spec"], "type").to_owned();
    if kind == "ExternalName" {
        return Ok(());
    }
    let own = metadata::uid(service).to_owned();
    let (old, others): (Vec<&Value>, Vec<&Value>) =
        all.range("", "").map(|(_, service)| service.value()).partition(|other| metadata::uid(other) == own);
    let spec = metadata::child(metadata::as_map(service), "spec");
    allocate_address(spec, &others)?;
    if !matches!(kind.as_str(), "NodePort" | "LoadBalancer")
        || spec.get("allocateLoadBalancerNodePorts") == Some(&json!(false))
    {
        return Ok(());
    }
    // A port of a node belongs to one service, whatever the protocol.
    let mut taken: BTreeSet<i64> = others.into_iter().flat_map(node_ports).collect();
    let ports =
        spec.get_mut("ports").and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default();
    match old.first() {
        None => allocate_node_ports(ports, &mut taken),
        Some(old) => reallocate_node_ports(ports, &node_ports(old), &mut taken),
    }
}

fn allocate_address(spec: &mut Map<String, Value>, others: &[&Value]) -> Result<(), FieldError> {
    let path = FieldPath::new("spec");
    let wanted = spec.get("clusterIP").and_then(Value::as_str).unwrap_or_default().to_owned();
    let taken: BTreeSet<&str> = others.iter().map(|other| text(&other["spec"], "clusterIP")).collect();
    let address = match wanted.as_str() {
        "None" => wanted,
        "" => {
            let mut addresses = (FIRST_ADDRESS..=*ADDRESSES.end()).map(|ip| Ipv4Addr::from(ip).to_string());
            addresses.find(|ip| !taken.contains(ip.as_str())).ok_or_else(|| {
                let detail = "failed to allocate a serviceIP: range is full";
                FieldError::internal(&path.child("clusterIP"), detail)
            })?
        }
        _ => {
            let is_in_range = wanted.parse::<Ipv4Addr>().is_ok_and(|ip| ADDRESSES.contains(&ip.into()));
            let why = if taken.contains(wanted.as_str()) {
                "provided IP is already allocated"
            } else if is_in_range {
                ""
            } else {
                "the provided network does not match the current range"
            };
            if !why.is_empty() {
                let detail = format!("failed to allocate IP {wanted}: {why}");
                return Err(FieldError::invalid(&path.child("clusterIPs"), json!([wanted]), detail));
            }
            wanted
        }
    };
    // A service without an address and without pods of its own may have endpoints of any family.
    let has_selector =
        spec.get("selector").and_then(Value::as_object).is_some_and(|labels| !labels.is_empty());
    let is_any = address == "None" && !has_selector;
    spec.insert("clusterIPs".to_owned(), json!([address]));
    spec.insert("clusterIP".to_owned(), Value::from(address));
    let (families, policy) =
        if is_any { (json!(["IPv4", "IPv6"]), "RequireDualStack") } else { (json!(["IPv4"]), "SingleStack") };
    spec.entry("ipFamilies").or_insert(families);
    spec.entry("ipFamilyPolicy").or_insert_with(|| json!(policy));
    Ok(())
}

/// The ports of nodes that a service has.
fn node_ports(service: &Value) -> Vec<i64> {
    items(&service["spec"]["ports"]).iter().filter_map(node_port).collect()
}

fn node_port(port: &Value) -> Option<i64> {
    port["nodePort"].as_i64().filter(|number| *number != 0)
}

/// The ports of nodes of a new service. Ports that differ in their protocol alone share one.
fn allocate_node_ports(ports: &mut [Value], taken: &mut BTreeSet<i64>) -> Result<(), FieldError> {
    let number = |port: &Value| port["port"].as_i64().unwrap_or_default();
    let mut wanted = BTreeMap::new();
    // What is handed out must not be what a later port wants.
    let mut unavailable = taken.clone();
    for port in &*ports {
        if let Some(node_port) = node_port(port) {
            wanted.entry(number(port)).or_insert(node_port);
            unavailable.insert(node_port);
        }
    }
    let mut shared: BTreeMap<i64, i64> = BTreeMap::new();
    for (index, port) in ports.iter_mut().enumerate() {
        let number = number(port);
        let own = node_port(port);
        let node_port = match (shared.get(&number), own.or_else(|| wanted.get(&number).copied())) {
            (Some(node_port), _) if own.is_none_or(|own| own == *node_port) => *node_port,
            (_, Some(node_port)) => take_node_port(node_port, taken, index)?,
            (_, None) => next_node_port(&mut unavailable, index)?,
        };
        shared.entry(number).or_insert(node_port);
        metadata::as_map(port).insert("nodePort".to_owned(), Value::from(node_port));
    }
    Ok(())
}

/// The ports of nodes of a service that has been there. Those it has it may arrange anew.
fn reallocate_node_ports(
    ports: &mut [Value],
    old: &[i64],
    taken: &mut BTreeSet<i64>,
) -> Result<(), FieldError> {
    let mut unavailable = taken.clone();
    unavailable.extend(old);
    unavailable.extend(ports.iter().filter_map(node_port));
    let mut own: BTreeSet<i64> = old.iter().copied().collect();
    let mut used = BTreeSet::new();
    for (index, port) in ports.iter_mut().enumerate() {
        let node_port = match node_port(port) {
            Some(node_port) if own.contains(&node_port) => node_port,
            Some(node_port) => take_node_port(node_port, taken, index)?,
            None => next_node_port(&mut unavailable, index)?,
        };
        own.insert(node_port);
        if !used.insert((text(port, "protocol").to_owned(), node_port)) {
            return Err(FieldError::duplicate(&node_port_path(index), node_port));
        }
        metadata::as_map(port).insert("nodePort".to_owned(), Value::from(node_port));
    }
    Ok(())
}

/// Takes the port of nodes that the service's port at `index` wants.
fn take_node_port(wanted: i64, taken: &mut BTreeSet<i64>, index: usize) -> Result<i64, FieldError> {
    if !NODE_PORTS.contains(&wanted) {
        let (first, last) = NODE_PORTS.into_inner();
        let detail =
            format!("provided port is not in the valid range. The range of valid ports is {first}-{last}");
        return Err(FieldError::invalid(&node_port_path(index), wanted, detail));
    }
    if !taken.insert(wanted) {
        let detail = "provided port is already allocated";
        return Err(FieldError::invalid(&node_port_path(index), wanted, detail));
    }
    Ok(wanted)
}

/// The first port of nodes that is free, for the service's port at `index`.
fn next_node_port(unavailable: &mut BTreeSet<i64>, index: usize) -> Result<i64, FieldError> {
    let full =
        || FieldError::internal(&node_port_path(index), "failed to allocate a nodePort: range is full");
    let free = NODE_PORTS.into_iter().find(|number| !unavailable.contains(number)).ok_or_else(full)?;
    unavailable.insert(free);
    Ok(free)
}

fn node_port_path(index: usize) -> FieldPath {
    FieldPath::new("spec").child("ports").index(index).child("nodePort")
}
