//! Services: their addresses and ports are handed out by the server.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    ops::RangeInclusive,
};

use kubewright_schema::{ErrorList, FieldError, FieldPath};
use serde_json::{Map, Value, json};

use super::{items, text};
use crate::{
    registry::{ServiceRanges, metadata},
    store::Listing,
    validation,
};

/// The ports of nodes.
const NODE_PORTS: RangeInclusive<i64> = 30000..=32767;

/// What was wrong with what a service wants, or the server has no more of.
#[derive(Debug)]
pub(in crate::registry) enum Refusal {
    Invalid(ErrorList),
    /// The message of an internal error.
    Internal(String),
}

impl From<FieldError> for Refusal {
    fn from(error: FieldError) -> Self {
        let mut errors = ErrorList::new();
        errors.push(error);
        Self::Invalid(errors)
    }
}

/// Takes over what was handed out before and a client that replaces the service does not know, and drops what the
/// type that it has now does not need, unless the client has just set it.
pub(super) fn prepare_update(service: &mut Value, old: &Value) {
    let (is_name, was_name) = (is_name(service), is_name(old));
    let spec = metadata::child(metadata::as_map(service), "spec");
    let old_spec = &old["spec"];
    if !is_name && !was_name {
        if spec_text(spec, "clusterIP").is_empty() {
            keep(spec, old_spec, "clusterIP");
        }
        if spec.get("clusterIPs").is_none_or(|ips| items(ips).is_empty()) {
            keep(spec, old_spec, "clusterIPs");
        }
    }
    let (needs_ports, needed_ports) =
        (has_node_ports(spec_text(spec, "type")), has_node_ports(text(old_spec, "type")));
    if needs_ports && needed_ports {
        keep_node_ports(spec, old_spec);
    }
    let (needs_health, needed_health) =
        (needs_health_check(spec), spec_of(old).is_some_and(needs_health_check));
    if needs_health && needed_health && health_check_port(spec) == 0 {
        keep(spec, old_spec, "healthCheckNodePort");
    }
    normalize_ips(spec, Some(old_spec));
    if is_name && !was_name {
        if same(spec, old_spec, "clusterIP") && same(spec, old_spec, "clusterIPs") {
            spec.remove("clusterIP");
            spec.remove("clusterIPs");
        }
        drop_same(spec, old_spec, "ipFamilies");
        drop_same(spec, old_spec, "ipFamilyPolicy");
    }
    if needed_ports && !needs_ports {
        drop_node_ports(spec, old_spec);
    }
    if needed_health && !needs_health {
        drop_same(spec, old_spec, "healthCheckNodePort");
    }
    let is_balancer = spec_text(spec, "type") == "LoadBalancer";
    if text(old_spec, "type") == "LoadBalancer" && !is_balancer {
        drop_same(spec, old_spec, "allocateLoadBalancerNodePorts");
        drop_same(spec, old_spec, "loadBalancerClass");
    }
    if spec_of(old).is_some_and(is_external) && !is_external(spec) {
        drop_same(spec, old_spec, "externalTrafficPolicy");
    }
    if !is_balancer {
        metadata::as_map(service).insert("status".to_owned(), json!({ "loadBalancer": {} }));
    }
}

/// Takes a field from the old service.
fn keep(spec: &mut Map<String, Value>, old: &Value, field: &str) {
    if let Some(value) = old.get(field) {
        spec.insert(field.to_owned(), value.clone());
    }
}

fn same(spec: &Map<String, Value>, old: &Value, field: &str) -> bool {
    spec.get(field) == old.get(field)
}

/// Drops a field that the client has left as it was.
fn drop_same(spec: &mut Map<String, Value>, old: &Value, field: &str) {
    if same(spec, old, field) {
        spec.remove(field);
    }
}

/// Gives ports the numbers on nodes that ports of their names had, as far as no other port has them now.
fn keep_node_ports(spec: &mut Map<String, Value>, old: &Value) {
    let old_ports = items(&old["ports"]);
    let ports =
        spec.get_mut("ports").and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default();
    let wanted: BTreeSet<i64> = ports.iter().filter_map(node_port).collect();
    for port in ports.iter_mut().filter(|port| node_port(port).is_none()) {
        let same_name = |old: &&Value| text(old, "name") == text(port, "name");
        if let Some(number) = old_ports.iter().rfind(same_name).and_then(node_port)
            && !wanted.contains(&number)
        {
            metadata::as_map(port).insert("nodePort".to_owned(), Value::from(number));
        }
    }
}

/// Drops the numbers on nodes, unless the client has set one that was not there.
fn drop_node_ports(spec: &mut Map<String, Value>, old: &Value) {
    let old: BTreeSet<i64> = items(&old["ports"]).iter().filter_map(node_port).collect();
    let ports =
        spec.get_mut("ports").and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default();
    if ports.iter().filter_map(node_port).all(|number| old.contains(&number)) {
        for port in ports {
            metadata::as_map(port).remove("nodePort");
        }
    }
}

/// Lets `clusterIPs` follow `clusterIP` for clients who know the latter alone.
fn normalize_ips(spec: &mut Map<String, Value>, old: Option<&Value>) {
    let ip = spec_text(spec, "clusterIP").to_owned();
    let has_ips = spec.get("clusterIPs").is_some_and(|ips| !items(ips).is_empty());
    let Some(old) = old else {
        if !ip.is_empty() && !has_ips {
            spec.insert("clusterIPs".to_owned(), json!([ip]));
        }
        return;
    };
    let old_ip = text(old, "clusterIP");
    if !has_ips && old_ip == ip {
        keep(spec, old, "clusterIPs");
    }
    if old_ip != ip && same(spec, old, "clusterIPs") {
        if ip.is_empty() {
            spec.remove("clusterIPs");
        } else {
            spec.insert("clusterIPs".to_owned(), json!([ip]));
        }
    }
}

fn spec_of(service: &Value) -> Option<&Map<String, Value>> {
    service.get("spec").and_then(Value::as_object)
}

fn spec_text<'a>(spec: &'a Map<String, Value>, field: &str) -> &'a str {
    spec.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn is_name(service: &Value) -> bool {
    text(&service["spec"], "type") == "ExternalName"
}

fn has_node_ports(kind: &str) -> bool {
    matches!(kind, "NodePort" | "LoadBalancer")
}

fn needs_health_check(spec: &Map<String, Value>) -> bool {
    spec_text(spec, "type") == "LoadBalancer" && spec_text(spec, "externalTrafficPolicy") == "Local"
}

fn is_external(spec: &Map<String, Value>) -> bool {
    match spec_text(spec, "type") {
        "ClusterIP" => spec.get("externalIPs").is_some_and(|ips| !items(ips).is_empty()),
        kind => has_node_ports(kind),
    }
}

fn health_check_port(spec: &Map<String, Value>) -> i64 {
    spec.get("healthCheckNodePort").and_then(Value::as_i64).unwrap_or_default()
}

/// Hands out the addresses and ports that a service needs and does not have. `all` are the services that are there,
/// which may not change until this one is stored.
///
/// A real server does so before it looks at the rest of the service.
///
/// # Errors
/// If a wanted address or port is taken, or none is left, or if what the service says of addresses is wrong.
pub(super) fn allocate(service: &mut Value, all: &Listing, ranges: &ServiceRanges) -> Result<(), Refusal> {
    if is_name(service) {
        let spec = metadata::child(metadata::as_map(service), "spec");
        // It has no address, which is checked.
        normalize_ips(spec, None);
        if matches!(spec_text(spec, "internalTrafficPolicy"), "Cluster" | "Local") {
            spec.remove("internalTrafficPolicy");
        }
        return Ok(());
    }
    let own = metadata::uid(service).to_owned();
    let (old, others): (Vec<&Value>, Vec<&Value>) =
        all.range("", "").map(|(_, service)| service.value()).partition(|other| metadata::uid(other) == own);
    let old = old.first().copied();
    let spec = metadata::child(metadata::as_map(service), "spec");
    if old.is_none() {
        normalize_ips(spec, None);
    }
    if !old.is_some_and(|old| keeps_preferred_families(service, old)) {
        settle_families(service, old, ranges)?;
        let spec = metadata::child(metadata::as_map(service), "spec");
        let is_headless = spec.get("clusterIPs").is_some_and(|ips| ips[0] == "None");
        let has_address = old.is_some_and(|old| !is_name(old));
        let gains_family = old.is_some_and(|old| items(&old["spec"]["ipFamilies"]).len() == 1)
            && spec.get("ipFamilies").map_or(0, |families| items(families).len()) == 2;
        if !is_headless && (!has_address || gains_family) {
            allocate_addresses(spec, usize::from(has_address), &others, ranges)?;
        }
    }
    let spec = metadata::child(metadata::as_map(service), "spec");
    let kind = spec_text(spec, "type");
    // A port of a node belongs to one service, whatever the protocol.
    let mut taken: BTreeSet<i64> = others.iter().flat_map(|other| node_ports(other)).collect();
    taken.extend(others.iter().filter_map(|other| spec_of(other)).map(health_check_port));
    if has_node_ports(kind) && spec.get("allocateLoadBalancerNodePorts") != Some(&json!(false)) {
        let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
        let ports = ports.map(Vec::as_mut_slice).unwrap_or_default();
        match old.filter(|old| has_node_ports(text(&old["spec"], "type"))) {
            None => allocate_node_ports(ports, &mut taken)?,
            Some(old) => reallocate_node_ports(ports, &node_ports(old), &mut taken)?,
        }
    }
    let needed = old.and_then(spec_of).is_some_and(needs_health_check);
    if needs_health_check(spec) && !needed {
        allocate_health_check_port(spec, &mut taken)?;
    }
    Ok(())
}

/// Whether the service goes on to prefer both families, with the addresses that it has: it keeps them even if the
/// ranges of the cluster are others now.
fn keeps_preferred_families(service: &Value, old: &Value) -> bool {
    let (spec, old) = (&service["spec"], &old["spec"]);
    spec["type"] == old["type"]
        && spec["ipFamilyPolicy"] == "PreferDualStack"
        && old["ipFamilyPolicy"] == "PreferDualStack"
        && ["clusterIPs", "ipFamilies"].iter().all(|field| items(&spec[*field]) == items(&old[*field]))
}

/// Decides which families of addresses the service has, of those that the cluster has.
fn settle_families(service: &mut Value, old: Option<&Value>, ranges: &ServiceRanges) -> Result<(), Refusal> {
    let path = FieldPath::new("spec");
    let policy_path = path.child("ipFamilyPolicy");
    let is_selectorless = |spec: &Map<String, Value>| {
        spec_text(spec, "clusterIP") == "None"
            && spec.get("selector").and_then(Value::as_object).is_none_or(Map::is_empty)
    };
    let spec = metadata::child(metadata::as_map(service), "spec");
    if spec.get("ipFamilyPolicy").is_none_or(Value::is_null) {
        let policy = match old.and_then(|old| old["spec"].get("ipFamilyPolicy")) {
            Some(policy) => policy.clone(),
            None if is_selectorless(spec) => json!("RequireDualStack"),
            None => json!("SingleStack"),
        };
        spec.insert("ipFamilyPolicy".to_owned(), policy);
    }
    let errors = validation::service_addresses(service, old);
    if !errors.is_empty() {
        return Err(Refusal::Invalid(errors));
    }
    let mut errors = ErrorList::new();
    let spec = metadata::child(metadata::as_map(service), "spec");
    let policy = spec_text(spec, "ipFamilyPolicy").to_owned();
    let count = |spec: &Map<String, Value>, field| spec.get(field).map_or(0, |list| items(list).len());
    let mut invalid_policy = |detail: &str| {
        errors.push(FieldError::invalid(&policy_path, policy.as_str(), detail));
    };
    for (field, released, several) in
        [("clusterIPs", "cluster IP", "cluster IPs"), ("ipFamilies", "IP family", "IP families")]
    {
        let old_count = old.map_or(0, |old| items(&old["spec"][field]).len());
        if policy != "SingleStack" {
            if (1..old_count).contains(&count(spec, field)) {
                invalid_policy(&format!("must be 'SingleStack' to release the secondary {released}"));
            }
            continue;
        }
        if old.is_some_and(|old| same(spec, &old["spec"], field))
            && let Some(list) = spec.get_mut(field).and_then(Value::as_array_mut)
        {
            list.truncate(1);
        }
        if count(spec, field) == 2 {
            let detail = format!(
                "must be 'RequireDualStack' or 'PreferDualStack' when multiple {several} are specified"
            );
            invalid_policy(&detail);
        }
    }
    let ips = spec.get("clusterIPs").cloned().unwrap_or_default();
    let families = spec.entry("ipFamilies").or_insert_with(|| json!([]));
    if !families.is_array() {
        *families = json!([]);
    }
    let Some(families) = families.as_array_mut() else { return Ok(()) };
    for (index, ip) in items(&ips).iter().enumerate() {
        if ip == "None" {
            break;
        }
        if index >= families.len() {
            let family = if ip.as_str().is_some_and(|ip| ip.contains(':')) { "IPv6" } else { "IPv4" };
            if ranges.of(family).is_some() {
                families.push(json!(family));
            } else {
                let path = path.child("clusterIPs").index(index);
                let detail = format!("{family} is not configured on this cluster");
                errors.push(FieldError::invalid(&path, ips.clone(), &detail));
            }
        }
    }
    if !errors.is_empty() {
        return Err(Refusal::Invalid(errors));
    }
    if families.is_empty() {
        families.extend(ranges.families().next().map(Value::from));
    }
    if items(&ips).first().is_some_and(|ip| ip == "None") && is_selectorless(spec) {
        // Whoever makes the endpoints of such a service may know more families than the cluster.
        let families = spec.get_mut("ipFamilies").and_then(Value::as_array_mut);
        if let Some(families) = families.filter(|families| families.len() < 2 && policy != "SingleStack") {
            add_other_family(families);
        }
        return Ok(());
    }
    let is_dual = ranges.families().count() == 2;
    if policy == "RequireDualStack" && !is_dual {
        let detail = "this cluster is not configured for dual-stack services";
        errors.push(FieldError::invalid(&policy_path, policy.as_str(), detail));
    }
    for (index, family) in spec.get("ipFamilies").map(items).unwrap_or_default().iter().enumerate() {
        if family.as_str().is_none_or(|family| ranges.of(family).is_none()) {
            let path = path.child("ipFamilies").index(index);
            errors.push(FieldError::invalid(&path, family.clone(), "not configured on this cluster"));
        }
    }
    if !errors.is_empty() {
        return Err(Refusal::Invalid(errors));
    }
    let families = spec.get_mut("ipFamilies").and_then(Value::as_array_mut);
    if let Some(families) =
        families.filter(|families| is_dual && families.len() == 1 && policy != "SingleStack")
    {
        add_other_family(families);
    }
    Ok(())
}

fn add_other_family(families: &mut Vec<Value>) {
    let other = if families.first().is_some_and(|family| family == "IPv4") { "IPv6" } else { "IPv4" };
    families.push(json!(other));
}

/// Gives the service an address of each of its families, but for the first `kept` ones.
fn allocate_addresses(
    spec: &mut Map<String, Value>,
    kept: usize,
    others: &[&Value],
    ranges: &ServiceRanges,
) -> Result<(), Refusal> {
    let parse = |ip: &Value| ip.as_str().and_then(|ip| ip.parse::<IpAddr>().ok());
    let taken: BTreeSet<IpAddr> =
        others.iter().flat_map(|other| items(&other["spec"]["clusterIPs"])).filter_map(parse).collect();
    let families = spec.get("ipFamilies").cloned().unwrap_or_default();
    let families = items(&families);
    let mut ips: Vec<Value> = spec.get("clusterIPs").map(|ips| items(ips).to_vec()).unwrap_or_default();
    ips.resize(families.len().max(ips.len()), json!(""));
    let mut settled = ips.clone();
    for (index, family) in families.iter().enumerate().skip(kept) {
        let Some(range) = family.as_str().and_then(|family| ranges.of(family)) else { continue };
        let wanted = ips[index].as_str().unwrap_or_default();
        if wanted.is_empty() {
            let full = || Refusal::Internal("failed to allocate a serviceIP: range is full".to_owned());
            settled[index] = json!(range.next(&taken).ok_or_else(full)?.to_string());
            continue;
        }
        let why = match wanted.parse::<IpAddr>() {
            Ok(ip) if taken.contains(&ip) => "provided IP is already allocated",
            Ok(ip) if range.contains(ip) => continue,
            _ => "the provided network does not match the current range",
        };
        let path = FieldPath::new("spec").child("clusterIPs");
        let detail = format!("failed to allocate IP {wanted}: {why}");
        return Err(FieldError::invalid(&path, ips, &detail).into());
    }
    spec.insert("clusterIP".to_owned(), settled.first().cloned().unwrap_or_default());
    spec.insert("clusterIPs".to_owned(), Value::from(settled));
    Ok(())
}

/// The port at which nodes tell a load balancer whether they have endpoints of the service.
fn allocate_health_check_port(
    spec: &mut Map<String, Value>,
    taken: &mut BTreeSet<i64>,
) -> Result<(), Refusal> {
    taken.extend(spec.get("ports").map(items).unwrap_or_default().iter().filter_map(node_port));
    let wanted = health_check_port(spec);
    if wanted != 0 {
        let why = if !NODE_PORTS.contains(&wanted) {
            out_of_range()
        } else if taken.contains(&wanted) {
            "provided port is already allocated".to_owned()
        } else {
            return Ok(());
        };
        let what = format!("failed to allocate requested HealthCheck NodePort {wanted}: {why}");
        return Err(Refusal::Internal(what));
    }
    let free = NODE_PORTS.into_iter().find(|number| !taken.contains(number));
    let full = || Refusal::Internal("failed to allocate a HealthCheck NodePort 0: range is full".to_owned());
    spec.insert("healthCheckNodePort".to_owned(), Value::from(free.ok_or_else(full)?));
    Ok(())
}

fn out_of_range() -> String {
    let (first, last) = NODE_PORTS.into_inner();
    format!("provided port is not in the valid range. The range of valid ports is {first}-{last}")
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
        return Err(FieldError::invalid(&node_port_path(index), wanted, out_of_range()));
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
