use kubewright_schema::names;
use serde_json::Value;

use crate::validation::{
    Field,
    cidr::{self, Cidr},
    port, selector,
};

const TYPES: [&str; 2] = ["Ingress", "Egress"];

/// The directions, and where each has its peers.
const DIRECTIONS: [(&str, &str); 2] = [("ingress", "from"), ("egress", "to")];

pub(super) fn validate(policy: Field<'_>, old: Option<Field<'_>>) {
    let spec = policy.child("spec");
    let known = old.map(|old| ranges(old.child("spec"))).unwrap_or_default();
    let known: Vec<&str> = known.iter().map(|range| range.text()).collect();
    selector::validate_label_selector(spec.child("podSelector"));
    for (direction, peers) in DIRECTIONS {
        for rule in spec.child(direction).items() {
            rule.child("ports").items().for_each(check_port);
            for peer in rule.child(peers).items() {
                check_peer(peer, &known);
            }
        }
    }
    let types = spec.child("policyTypes");
    if types.len() > TYPES.len() {
        types.invalid(types.value().clone(), "may not specify more than two policyTypes");
    } else {
        types.items().for_each(|one| one.one_of(&TYPES));
    }
    // That there is a range at all is found out after all else.
    for (direction, peers) in DIRECTIONS {
        for peer in spec.child(direction).items().flat_map(|rule| rule.child(peers).items()) {
            if peer.child("ipBlock").is_set() {
                peer.child("ipBlock").child("cidr").require();
            }
        }
    }
}

pub(super) fn warnings(policy: Field<'_>) -> Vec<String> {
    ranges(policy.child("spec")).into_iter().flat_map(cidr::warnings).collect()
}

/// All ranges of addresses of a policy.
fn ranges(spec: Field<'_>) -> Vec<Field<'_>> {
    let mut ranges = Vec::new();
    for (direction, peers) in DIRECTIONS {
        for peer in spec.child(direction).items().flat_map(|rule| rule.child(peers).items()) {
            let block = peer.child("ipBlock");
            if block.is_set() {
                ranges.push(block.child("cidr"));
                ranges.extend(block.child("except").items());
            }
        }
    }
    ranges
}

fn check_port(rule: Field<'_>) {
    let (protocol, port, end) = (rule.child("protocol"), rule.child("port"), rule.child("endPort"));
    if protocol.is_set() {
        protocol.one_of(&["TCP", "UDP", "SCTP"]);
    }
    match port.value() {
        Value::Null if end.is_set() => {
            end.invalid(end.number(), "may not be specified when `port` is not specified");
        }
        Value::Null => {}
        Value::String(_) => {
            if end.is_set() {
                end.invalid(end.number(), "may not be specified when `port` is non-numeric");
            }
            port.check(names::port_name);
        }
        _ => {
            port.in_range(port::PORTS);
            if end.is_set() {
                if end.number() < port.number() {
                    end.invalid(end.number(), "must be greater than or equal to `port`");
                }
                end.in_range(port::PORTS);
            }
        }
    }
}

fn check_peer(peer: Field<'_>, known: &[&str]) {
    let mut selectors = 0;
    for field in ["podSelector", "namespaceSelector"] {
        if peer.child(field).is_set() {
            selectors += 1;
            selector::validate_label_selector(peer.child(field));
        }
    }
    let block = peer.child("ipBlock");
    if block.is_set() {
        check_block(block, known);
    }
    match (selectors, block.is_set()) {
        (0, false) => peer.required("must specify a peer"),
        (1.., true) => peer.forbidden("may not specify both ipBlock and another peer"),
        _ => {}
    }
}

fn check_block(block: Field<'_>, known: &[&str]) {
    let range = block.child("cidr");
    if range.is_empty() {
        return;
    }
    cidr::check_new(range, range.text(), known);
    let Some(whole) = Cidr::parse(range.text()) else { return };
    for except in block.child("except").items() {
        cidr::check_new(except, except.text(), known);
        if Cidr::parse(except.text()).is_some_and(|part| !whole.strictly_contains(part)) {
            except.invalid(except.text(), "must be a strict subset of `cidr`");
        }
    }
}
