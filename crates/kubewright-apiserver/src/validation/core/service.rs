//! Services. What the server hands out to them is not looked at here.

use kubewright_schema::names;
use serde_json::{Value, json};

use super::super::{Field, address, cidr, ip, port, selector};

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const FAMILIES: [&str; 2] = ["IPv4", "IPv6"];
const FAMILY_POLICIES: [&str; 3] = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const LONGEST_AFFINITY: i64 = 86_400;
const SOURCE_RANGES: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
const TOPOLOGY_HINTS: &str = "service.kubernetes.io/topology-aware-hints";
const TOPOLOGY_MODE: &str = "service.kubernetes.io/topology-mode";
const ONLY_LOAD_BALANCER: &str = "may only be used when `type` is 'LoadBalancer'";

pub(super) fn validate(service: Field<'_>, old: Option<Field<'_>>) {
    let spec = service.child("spec");
    let old_spec = old.map(|old| old.child("spec"));
    check_topology(service.child("metadata").child("annotations"));
    let kind = spec.child("type").text();
    let ports = spec.child("ports");
    if ports.is_empty() && !is_headless(spec) && kind != "ExternalName" {
        ports.required("");
    }
    match kind {
        "LoadBalancer" | "NodePort" if is_headless(spec) => {
            let detail = format!("may not be set to 'None' for {kind} services");
            spec.child("clusterIPs").at_index(0).invalid("None", detail);
        }
        "ExternalName" => check_external_name(spec),
        _ => {}
    }
    check_ports(ports);
    selector::validate_labels(spec.child("selector"));
    check_affinity(spec);
    check_cluster_ips(spec, old_spec);
    let known = old_spec.map(|old| texts(old.child("externalIPs"))).unwrap_or_default();
    for address in spec.child("externalIPs").items() {
        if !address::check_new(address, &known) {
            address::check_reachable(address);
        }
    }
    if kind.is_empty() {
        spec.child("type").required("");
    } else {
        spec.child("type").one_of(&TYPES);
    }
    check_distinct_ports(ports, kind);
    check_source_ranges(service, old);
    let allocate = spec.child("allocateLoadBalancerNodePorts");
    if allocate.is_set() && kind != "LoadBalancer" {
        allocate.forbidden(ONLY_LOAD_BALANCER);
    }
    check_class(spec);
    check_traffic(spec);
}

pub(super) fn validate_update(new: Field<'_>, old: Field<'_>) {
    let (spec, old_spec) = (new.child("spec"), old.child("spec"));
    check_kept_ips(spec, old_spec);
    check_kept_families(spec, old_spec);
    let is_load_balancer = |spec: Field<'_>| spec.child("type").text() == "LoadBalancer";
    let class = spec.child("loadBalancerClass");
    if is_load_balancer(spec)
        && is_load_balancer(old_spec)
        && class.value() != old_spec.child("loadBalancerClass").value()
    {
        class.invalid(class.value().clone(), "may not change once set");
    }
    check_class(spec);
    let health = spec.child("healthCheckNodePort");
    if needs_health_check(spec)
        && needs_health_check(old_spec)
        && health.number() != old_spec.child("healthCheckNodePort").number()
    {
        health.forbidden("field is immutable");
    }
    validate(new, Some(old));
}

pub(super) fn validate_status(new: Field<'_>, old: Field<'_>) {
    let ingress = new.child("status").child("loadBalancer").child("ingress");
    if new.child("spec").child("type").text() != "LoadBalancer" && !ingress.is_empty() {
        ingress.forbidden("may only be used when `spec.type` is 'LoadBalancer'");
        return;
    }
    let old = old.child("status").child("loadBalancer").child("ingress");
    check_ingress(ingress, old, true);
}

/// Checks where a load balancer can be reached.
pub(in crate::validation) fn check_ingress(ingress: Field<'_>, old: Field<'_>, has_modes: bool) {
    let known: Vec<&str> =
        old.items().map(|one| one.child("ip").text()).filter(|ip| !ip.is_empty()).collect();
    for one in ingress.items() {
        let (address, mode, host) = (one.child("ip"), one.child("ipMode"), one.child("hostname"));
        if !address.is_empty() {
            address::check_new(address, &known);
        }
        if has_modes {
            match (mode.is_set(), address.is_empty()) {
                (false, false) => mode.required("must be specified when `ip` is set"),
                (true, true) => mode.forbidden("may not be specified when `ip` is not set"),
                (true, false) => mode.one_of(&["Proxy", "VIP"]),
                (false, true) => {}
            }
        }
        if !host.is_empty() {
            host.check(names::dns1123_subdomain);
            if ip::parse_sloppy(host.text()).is_some() {
                host.invalid(host.text(), "must be a DNS name, not an IP address");
            }
        }
    }
}

/// What to warn about where a load balancer can be reached.
pub(in crate::validation) fn ingress_warnings(object: Field<'_>) -> Vec<String> {
    let ingress = object.child("status").child("loadBalancer").child("ingress");
    ingress.items().filter_map(|one| ip::ip_warning(one.with(one.child("ip").value()))).collect()
}

pub(super) fn warnings(service: Field<'_>) -> Vec<String> {
    let spec = service.child("spec");
    let annotations = service.child("metadata").child("annotations");
    let mut warnings = Vec::new();
    if annotations.entry(TOPOLOGY_HINTS).is_set() {
        warnings
            .push(format!("annotation {TOPOLOGY_HINTS} is deprecated, please use {TOPOLOGY_MODE} instead"));
    }
    let cluster_ip = spec.child("clusterIP").text();
    if !matches!(cluster_ip, "" | "None") {
        warnings.extend(spec.child("clusterIPs").items().filter_map(ip::ip_warning));
    }
    let kind = spec.child("type").text();
    let is_headless = kind == "ClusterIP" && cluster_ip == "None";
    let (external_ips, balancer_ip) = (spec.child("externalIPs"), spec.child("loadBalancerIP"));
    if is_headless {
        let mut ignored = |field| warnings.push(format!("spec.{field} is ignored for headless services"));
        if !balancer_ip.is_empty() {
            ignored("loadBalancerIP");
        }
        if !external_ips.is_empty() {
            ignored("externalIPs");
        }
        if spec.child("sessionAffinity").text() != "None" {
            ignored("SessionAffinity");
        }
    }
    warnings.extend(external_ips.items().filter_map(ip::ip_warning));
    if !external_ips.is_empty() && !is_headless && kind != "ExternalName" {
        let text = "spec.externalIPs is deprecated and may no longer be implemented in some clusters";
        warnings.push(text.to_owned());
    }
    if !balancer_ip.is_empty() {
        warnings.extend(ip::ip_warning(balancer_ip));
    }
    warnings.extend(spec.child("loadBalancerSourceRanges").items().flat_map(cidr::warnings));
    if kind == "ExternalName" && !external_ips.is_empty() {
        warnings.push("spec.externalIPs is ignored when spec.type is \"ExternalName\"".to_owned());
    }
    if kind != "ExternalName" && !spec.child("externalName").is_empty() {
        warnings.push("spec.externalName is ignored when spec.type is not \"ExternalName\"".to_owned());
    }
    if spec.child("trafficDistribution").text() == "PreferClose" {
        let text = "spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"";
        warnings.push(text.to_owned());
    }
    warnings
}

/// Whether the service has no address of its own, on purpose.
fn is_headless(spec: Field<'_>) -> bool {
    matches!(spec.child("clusterIPs").list(), [Value::String(only)] if only == "None")
}

fn texts(list: Field<'_>) -> Vec<&str> {
    list.list().iter().filter_map(Value::as_str).collect()
}

fn check_topology(annotations: Field<'_>) {
    let (hints, mode) = (annotations.entry(TOPOLOGY_HINTS), annotations.entry(TOPOLOGY_MODE));
    if hints.is_set() && mode.is_set() && hints.text() != mode.text() {
        let detail = format!("must match annotations[{TOPOLOGY_HINTS}] when both are specified");
        mode.invalid(mode.text(), detail);
    }
}

fn check_external_name(spec: Field<'_>) {
    let detail = "may not be set for ExternalName services";
    for field in ["clusterIPs", "ipFamilies"] {
        if !spec.child(field).is_empty() {
            spec.child(field).forbidden(detail);
        }
    }
    if spec.child("ipFamilyPolicy").is_set() {
        spec.child("ipFamilyPolicy").forbidden(detail);
    }
    let name = spec.child("externalName");
    let without_dot = name.text().strip_suffix('.').unwrap_or(name.text());
    if without_dot.is_empty() {
        name.required("");
    }
    for reason in names::dns1123_subdomain(without_dot).into_iter().filter(|_| !without_dot.is_empty()) {
        name.invalid(without_dot, reason);
    }
}

fn check_ports(ports: Field<'_>) {
    for (index, port) in ports.items().enumerate() {
        let name = port.child("name");
        if name.is_empty() {
            if ports.len() > 1 {
                name.required("");
            }
        } else {
            name.check(names::dns1123_label);
            let is_taken = |other: &Value| other.get("name").and_then(Value::as_str) == Some(name.text());
            if ports.list().iter().take(index).any(is_taken) {
                name.duplicate(name.text());
            }
        }
        let number = port.child("port");
        number.with(&Value::from(number.number())).in_range(port::PORTS);
        check_protocol(port.child("protocol"));
        port::validate_port_number_or_name(port.child("targetPort"));
        let application = port.child("appProtocol");
        if application.is_set() {
            application.check(names::label_key);
        }
    }
}

/// Checks the protocol of a port.
pub(in crate::validation) fn check_protocol(protocol: Field<'_>) {
    if protocol.require() {
        protocol.one_of(&["SCTP", "TCP", "UDP"]);
    }
}

/// Checks that no two ports are the same, and that only services of types which have ports on nodes name them.
fn check_distinct_ports(ports: Field<'_>, kind: &str) {
    if kind == "ClusterIP" {
        for port in ports.items().filter(|port| port.child("nodePort").number() != 0) {
            port.child("nodePort").forbidden("may not be used when `type` is 'ClusterIP'");
        }
    }
    let number = |port: &Value, field: &str| port.get(field).and_then(Value::as_i64).unwrap_or_default();
    let is_same = |one: &Value, other: &Value, field| {
        one.get("protocol") == other.get("protocol") && number(one, field) == number(other, field)
    };
    let repeated = |field: &'static str| {
        ports.items().enumerate().filter(move |(index, port)| {
            ports.list().iter().take(*index).any(|other| is_same(port.value(), other, field))
        })
    };
    for (_, port) in repeated("nodePort").filter(|(_, port)| port.child("nodePort").number() != 0) {
        port.child("nodePort").duplicate(port.child("nodePort").number());
    }
    for (_, port) in repeated("port") {
        // Nothing else of the port is shown.
        let shown = json!({"protocol": port.child("protocol").value(), "port": port.child("port").value()});
        port.with(&shown).duplicate_as("core.ServicePort");
    }
}

fn check_affinity(spec: Field<'_>) {
    let (affinity, config) = (spec.child("sessionAffinity"), spec.child("sessionAffinityConfig"));
    if affinity.require() {
        affinity.one_of(&["ClientIP", "None"]);
    }
    match affinity.text() {
        "ClientIP" => {
            let client = config.child("clientIP");
            let timeout = client.child("timeoutSeconds");
            let missing = [config, client, timeout].into_iter().find(|field| !field.is_set());
            match missing {
                Some(field) => field.required("when session affinity type is ClientIP"),
                None if !(1..=LONGEST_AFFINITY).contains(&timeout.number()) => {
                    let detail = format!("must be greater than 0 and less than {LONGEST_AFFINITY}");
                    timeout.invalid(timeout.number(), detail);
                }
                None => {}
            }
        }
        "None" if config.is_set() => config.forbidden("must not be set when session affinity is None"),
        _ => {}
    }
}

/// Checks what a service says of its addresses and their families.
pub(in crate::validation) fn check_cluster_ips(spec: Field<'_>, old: Option<Field<'_>>) {
    if spec.child("type").text() == "ExternalName" {
        return;
    }
    let (one, all) = (spec.child("clusterIP").text(), spec.child("clusterIPs"));
    let ips = texts(all);
    let invalid = |detail: &str| all.invalid(all.value().clone(), detail);
    match (one, ips.first()) {
        ("", Some(_)) => invalid("must be empty when `clusterIP` is not specified"),
        ("", None) => {}
        (_, None) => all.required(""),
        (one, Some(first)) if one != *first => invalid("first value must match `clusterIP`"),
        _ => {}
    }
    let families = spec.child("ipFamilies");
    for (index, family) in families.items().enumerate() {
        family.one_of(&FAMILIES);
        if families.list().iter().take(index).any(|other| other == family.value()) {
            family.duplicate(family.text());
        }
    }
    let policy = spec.child("ipFamilyPolicy");
    if policy.is_set() {
        policy.one_of(&FAMILY_POLICIES);
    }
    let known = old.map(|old| texts(old.child("clusterIPs"))).unwrap_or_default();
    let mut has_invalid = false;
    for (index, ip) in all.items().enumerate() {
        if index == 0 && ip.text() == "None" {
            if ips.len() > 1 {
                has_invalid = true;
                invalid("'None' must be the first and only value");
            }
        } else {
            has_invalid |= address::check_new(ip, &known);
        }
    }
    if ips.len() > 2 {
        invalid("may only hold up to 2 values");
    }
    // What is no address has no family either.
    if has_invalid {
        return;
    }
    let has_both = ips.iter().any(|ip| address::is_v4(ip)) && ips.iter().any(|ip| address::is_v6(ip));
    if ips.len() > 1 && !has_both {
        invalid("may specify no more than one IP for each IP family");
    }
    if !is_headless(spec) {
        for (index, (ip, family)) in all.items().zip(families.items()).enumerate() {
            let is_v6 = address::is_v6(ip.text());
            if (family.text() == "IPv4" && is_v6) || (family.text() == "IPv6" && !is_v6) {
                let detail =
                    format!("expected an {} value as indicated by `ipFamilies[{index}]`", family.text());
                ip.invalid(ip.text(), detail);
            }
        }
    }
}

fn check_source_ranges(service: Field<'_>, old: Option<Field<'_>>) {
    let spec = service.child("spec");
    let is_load_balancer = spec.child("type").text() == "LoadBalancer";
    let ranges = spec.child("loadBalancerSourceRanges");
    let annotation = service.child("metadata").child("annotations").entry(SOURCE_RANGES);
    if !ranges.is_empty() {
        // Kubernetes spells the field so.
        let place = spec.at("LoadBalancerSourceRanges");
        if !is_load_balancer {
            place.forbidden(ONLY_LOAD_BALANCER);
        }
        let old = old.map(|old| texts(old.child("spec").child("loadBalancerSourceRanges")));
        let known: Vec<&str> = old.unwrap_or_default().into_iter().map(str::trim).collect();
        for (index, range) in ranges.list().iter().enumerate() {
            let text = range.as_str().unwrap_or_default().trim();
            cidr::check_new(place.at_index(index), text, &known);
        }
    } else if annotation.is_set() {
        if !is_load_balancer {
            annotation.forbidden(ONLY_LOAD_BALANCER);
        }
        let known =
            old.map(|old| old.child("metadata").child("annotations").entry(SOURCE_RANGES).value().clone());
        let text = annotation.text().trim();
        if known.as_ref() != Some(annotation.value()) && !text.is_empty() {
            for range in text.split(',') {
                cidr::check_new(annotation, range.trim(), &[]);
            }
        }
    }
}

fn check_class(spec: Field<'_>) {
    let class = spec.child("loadBalancerClass");
    if !class.is_set() {
        return;
    }
    if spec.child("type").text() == "LoadBalancer" {
        class.check(names::label_key);
    } else {
        class.forbidden(ONLY_LOAD_BALANCER);
    }
}

/// Whether something outside the cluster can reach the service.
fn is_external(spec: Field<'_>) -> bool {
    match spec.child("type").text() {
        "LoadBalancer" | "NodePort" => true,
        "ClusterIP" => !spec.child("externalIPs").is_empty(),
        _ => false,
    }
}

fn needs_health_check(spec: Field<'_>) -> bool {
    spec.child("type").text() == "LoadBalancer" && spec.child("externalTrafficPolicy").text() == "Local"
}

fn check_traffic(spec: Field<'_>) {
    let external = spec.child("externalTrafficPolicy");
    if is_external(spec) {
        if external.require() {
            external.one_of(&["Cluster", "Local"]);
        }
    } else if !external.is_empty() {
        external.invalid(external.text(), "may only be set for externally-accessible services");
    }
    let health = spec.child("healthCheckNodePort");
    if needs_health_check(spec) {
        // One that is missing is handed out later.
        if health.number() != 0 {
            health.in_range(port::PORTS);
        }
    } else if health.number() != 0 {
        let detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        health.invalid(health.number(), detail);
    }
    let internal = spec.child("internalTrafficPolicy");
    if internal.is_set() {
        internal.one_of(&["Cluster", "Local"]);
    } else if matches!(spec.child("type").text(), "NodePort" | "LoadBalancer" | "ClusterIP") {
        internal.required("");
    }
    let distribution = spec.child("trafficDistribution");
    if distribution.is_set() {
        distribution.one_of(&["PreferClose", "PreferSameZone", "PreferSameNode"]);
    }
}

/// Whether one of the two services is but a name, so that what it keeps is of no interest.
fn is_name(spec: Field<'_>, old: Field<'_>) -> bool {
    [spec, old].into_iter().any(|spec| spec.child("type").text() == "ExternalName")
}

fn check_kept_ips(spec: Field<'_>, old: Field<'_>) {
    if is_name(spec, old) || (is_headless(spec) && is_headless(old)) {
        return;
    }
    let (ips, old_ips) = (spec.child("clusterIPs"), old.child("clusterIPs"));
    let changed = |index| {
        ips.at_index(index).invalid(ips.value().clone(), "may not change once set");
    };
    if ips.len() == old_ips.len() {
        for (index, (ip, old)) in ips.list().iter().zip(old_ips.list()).enumerate() {
            if ip != old {
                changed(index);
            }
        }
        return;
    }
    if ips.is_empty() {
        ips.at_index(0).invalid(ips.value().clone(), "primary clusterIP can not be unset");
    } else if !old_ips.is_empty() && ips.list().first() != old_ips.list().first() {
        changed(0);
    }
    let policy = spec.child("ipFamilyPolicy");
    if ips.len() == 1 && old_ips.len() > 1 && policy.text() != "SingleStack" {
        let detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
        policy.invalid(policy.value().clone(), detail);
    }
}

fn check_kept_families(spec: Field<'_>, old: Field<'_>) {
    if is_name(spec, old) || is_headless(spec) || is_headless(old) {
        return;
    }
    let (families, old_families) = (spec.child("ipFamilies"), old.child("ipFamilies"));
    let first = families.at_index(0);
    let ips = spec.child("clusterIPs");
    if families.len() == old_families.len() {
        for (family, old) in families.list().iter().zip(old_families.list()) {
            if family != old {
                first.invalid(families.value().clone(), "may not change once set");
            }
        }
        return;
    }
    let is_less = families.len() < old_families.len();
    if is_less && ips.is_empty() {
        first.invalid(families.value().clone(), "primary ipFamily can not be unset");
    }
    if !families.is_empty()
        && !old_families.is_empty()
        && families.list().first() != old_families.list().first()
    {
        // Kubernetes shows the addresses here.
        first.invalid(ips.value().clone(), "may not change once set");
    }
    let policy = spec.child("ipFamilyPolicy");
    if is_less && families.len() == 1 && policy.text() != "SingleStack" {
        let detail = "must be set to 'SingleStack' when releasing the secondary ipFamily";
        policy.invalid(policy.value().clone(), detail);
    }
}
