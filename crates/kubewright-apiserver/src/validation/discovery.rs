//! Endpoint slices.

use kubewright_schema::names;
use serde_json::Value;

use super::{Field, address, core::check_protocol, ip, selector};

const ADDRESS_TYPES: [&str; 3] = ["FQDN", "IPv4", "IPv6"];
const MOST_ENDPOINTS: usize = 1000;
const MOST_ADDRESSES: usize = 100;
const MOST_PORTS: usize = 20_000;
const MOST_HINTS: usize = 8;
/// Who makes slices out of addresses that were checked already.
const CONTROLLERS: [&str; 2] =
    ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];

pub(super) fn create(slice: Field<'_>) {
    validate(slice, None);
    declared(slice, None);
}

pub(super) fn update(new: Field<'_>, old: Field<'_>) {
    validate(new, Some(old));
    declared(new, Some(old));
}

pub(super) fn warnings(slice: Field<'_>, is_new: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if is_new && slice.child("addressType").text() == "FQDN" {
        warnings.push("spec.addressType: FQDN endpoints are deprecated".to_owned());
    }
    let manager =
        slice.child("metadata").child("labels").entry("endpointslice.kubernetes.io/managed-by").text();
    if !CONTROLLERS.contains(&manager) {
        let endpoints = slice.child("endpoints").items();
        warnings.extend(
            endpoints.flat_map(|endpoint| endpoint.child("addresses").items()).filter_map(ip::ip_warning),
        );
    }
    warnings
}

/// What is checked after all else.
fn declared(slice: Field<'_>, old: Option<Field<'_>>) {
    let kind = slice.child("addressType");
    let old_kind = old.map(|old| old.child("addressType"));
    if old_kind.is_none_or(|old| old.value() != kind.value()) && kind.require() {
        if old_kind.is_some() {
            kind.invalid(Value::Null, "field is immutable");
        }
        kind.one_of(&ADDRESS_TYPES);
    }
    let endpoints = slice.child("endpoints");
    if old.is_some_and(|old| old.child("endpoints").value() == endpoints.value()) {
        return;
    }
    for endpoint in endpoints.items() {
        let addresses = endpoint.child("addresses");
        if addresses.is_empty() {
            addresses.required("");
        }
        if addresses.len() > MOST_ADDRESSES {
            addresses.too_many(MOST_ADDRESSES);
        }
    }
}

fn validate(slice: Field<'_>, old: Option<Field<'_>>) {
    validate_ports(slice.child("ports"));
    let endpoints = slice.child("endpoints");
    if old.is_some_and(|old| old.child("endpoints").value() == endpoints.value()) {
        return;
    }
    if endpoints.len() > MOST_ENDPOINTS {
        endpoints.too_many(MOST_ENDPOINTS);
        return;
    }
    for endpoint in endpoints.items() {
        validate_endpoint(endpoint, slice.child("addressType").text());
    }
}

fn validate_endpoint(endpoint: Field<'_>, kind: &str) {
    let addresses = endpoint.child("addresses");
    for address in addresses.items() {
        let text = address.text();
        match kind {
            "IPv4" if !address::check_new(address, &[]) => {
                if !address::is_v4(text) {
                    addresses.invalid(text, "must be an IPv4 address");
                }
                address::check_reachable(address);
            }
            "IPv6" if !address::check_canonical(address) => {
                if !address::is_v6(text) {
                    addresses.invalid(text, "must be an IPv6 address");
                }
                address::check_reachable(address);
            }
            "FQDN" => check_domain(address),
            _ => {}
        }
    }
    if endpoint.child("nodeName").is_set() {
        endpoint.child("nodeName").check(names::dns1123_subdomain);
    }
    let topology = endpoint.child("deprecatedTopology");
    selector::validate_labels(topology);
    if endpoint.child("hostname").is_set() {
        endpoint.child("hostname").check(names::dns1123_label);
    }
    let hints = endpoint.child("hints");
    // Too many of the first are said alone.
    if check_hints(hints.child("forZones"), names::label_value) {
        check_hints(hints.child("forNodes"), names::dns1123_subdomain);
    }
}

/// Whether there are not too many.
fn check_hints(hints: Field<'_>, rule: fn(&str) -> Vec<String>) -> bool {
    if hints.len() > MOST_HINTS {
        hints.too_many(MOST_HINTS);
        return false;
    }
    for (index, hint) in hints.items().enumerate() {
        let name = hint.child("name");
        if hints.items().take(index).any(|other| other.child("name").text() == name.text()) {
            name.duplicate(name.text());
        }
        name.check(rule);
    }
    true
}

fn check_domain(domain: Field<'_>) {
    if !domain.require() {
        return;
    }
    let name = domain.text().strip_suffix('.').unwrap_or(domain.text());
    let reasons = names::dns1123_subdomain(name);
    if !reasons.is_empty() {
        domain.invalid(name, reasons.join(","));
    } else if !name.contains('.') {
        domain.invalid(name, "should be a domain with at least two segments separated by dots");
    } else if let Some((label, reasons)) = name
        .split('.')
        .map(|label| (label, names::dns1123_label(label)))
        .find(|(_, reasons)| !reasons.is_empty())
    {
        domain.invalid(label, reasons.join(","));
    }
}

fn validate_ports(ports: Field<'_>) {
    if ports.len() > MOST_PORTS {
        ports.too_many(MOST_PORTS);
        return;
    }
    for (index, port) in ports.items().enumerate() {
        let name = port.child("name");
        if !name.is_empty() {
            name.check(names::dns1123_label);
        }
        if ports.items().take(index).any(|other| other.child("name").text() == name.text()) {
            name.duplicate(name.text());
        }
        check_protocol(port.child("protocol"));
        if port.child("appProtocol").is_set() {
            port.child("appProtocol").check(names::label_key);
        }
    }
}
