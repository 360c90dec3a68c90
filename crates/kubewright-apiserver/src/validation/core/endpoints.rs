use kubewright_schema::names;
use serde_json::Value;

use super::{
    super::{Field, address, ip, port},
    service::check_protocol,
};

pub(super) fn validate(endpoints: Field<'_>, old: Option<Field<'_>>) {
    let subsets = endpoints.child("subsets");
    if old.is_some_and(|old| old.child("subsets").value() == subsets.value()) {
        return;
    }
    for subset in subsets.items() {
        let lists = [subset.child("addresses"), subset.child("notReadyAddresses")];
        if lists.iter().all(|list| list.is_empty()) {
            subset.required("must specify `addresses` or `notReadyAddresses`");
        }
        lists.into_iter().flat_map(Field::items).for_each(check_address);
        let ports = subset.child("ports");
        ports.items().for_each(|port| check_port(port, ports.len() > 1));
    }
}

pub(super) fn warnings(endpoints: Field<'_>) -> Vec<String> {
    let manager = endpoints.child("metadata").child("labels").entry("endpoints.kubernetes.io/managed-by");
    if manager.text() == "endpoint-controller" {
        return Vec::new();
    }
    let mut warnings = Vec::new();
    for subset in endpoints.child("subsets").items() {
        for addresses in [subset.child("addresses"), subset.child("notReadyAddresses")] {
            warnings.extend(addresses.items().filter_map(|address| ip::ip_warning(address.child("ip"))));
        }
    }
    warnings
}

fn check_address(address: Field<'_>) {
    let ip = address.child("ip");
    address::check_new(ip, &[]);
    if !address.child("hostname").is_empty() {
        address.child("hostname").check(names::dns1123_label);
    }
    if address.child("nodeName").is_set() {
        address.child("nodeName").check(names::dns1123_subdomain);
    }
    address::check_reachable(ip);
}

fn check_port(port: Field<'_>, needs_name: bool) {
    let name = port.child("name");
    if !name.is_empty() {
        name.check(names::dns1123_label);
    } else if needs_name {
        name.required("");
    }
    let number = port.child("port");
    number.with(&Value::from(number.number())).in_range(port::PORTS);
    check_protocol(port.child("protocol"));
    if port.child("appProtocol").is_set() {
        port.child("appProtocol").check(names::label_key);
    }
}
