//! Gates that hold back a pod, and claims of what it needs from nodes.

use std::collections::BTreeSet;

use kubewright_schema::names;

use super::Scope;
use crate::validation::Field;

pub(super) fn validate_gates(gates: Field<'_>) {
    let mut seen = BTreeSet::new();
    for gate in gates.items() {
        let name = gate.child("name").text();
        for reason in names::label_key(name) {
            gate.invalid(name, reason);
        }
        if !seen.insert(name) {
            gate.duplicate(name);
        }
    }
}

pub(super) fn validate_resource_claims(claims: Field<'_>, scope: &Scope<'_>) {
    let mut seen = BTreeSet::new();
    for claim in claims.items() {
        if scope.is_mirror() {
            claim.forbidden_nowhere("static pods do not support resource claims");
            continue;
        }
        let name = claim.child("name");
        if name.require() {
            if seen.insert(name.text()) {
                name.check(names::dns1123_label);
            } else {
                name.duplicate(name.text());
            }
        }
        let (own, template) = (claim.child("resourceClaimName"), claim.child("resourceClaimTemplateName"));
        match (own.is_set(), template.is_set()) {
            (true, true) => claim.invalid_as(
                "core.PodResourceClaim",
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
            ),
            (false, false) => claim.invalid_as(
                "core.PodResourceClaim",
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            ),
            _ => {}
        }
        for name in [own, template] {
            if name.is_set() {
                name.check(names::dns1123_subdomain);
            }
        }
    }
}
