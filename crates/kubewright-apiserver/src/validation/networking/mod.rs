//! Ingresses and their classes, network policies, and the addresses of services.

mod ingress;
mod ingress_class;
mod ip_address;
mod network_policy;
mod service_cidr;

use super::{Field, core};

pub(super) fn create(plural: &str, object: Field<'_>) {
    match plural {
        "ingresses" => ingress::validate_create(object),
        "ingressclasses" => ingress_class::validate(object, None),
        "networkpolicies" => network_policy::validate(object, None),
        "ipaddresses" => ip_address::validate(object, None),
        "servicecidrs" => service_cidr::validate(object.child("spec").child("cidrs")),
        _ => {}
    }
}

pub(super) fn update(plural: &str, subresource: &str, new: Field<'_>, old: Field<'_>) {
    match (plural, subresource) {
        ("ingresses", "status") => {
            let (new, old) = (new.child("status"), old.child("status"));
            let (new, old) = (new.child("loadBalancer"), old.child("loadBalancer"));
            core::check_ingress(new.child("ingress"), old.child("ingress"), false);
        }
        ("ingresses", _) => ingress::validate(new),
        ("ingressclasses", _) => ingress_class::validate(new, Some(old)),
        ("networkpolicies", _) => network_policy::validate(new, Some(old)),
        ("ipaddresses", _) => ip_address::validate(new, Some(old)),
        ("servicecidrs", "") => service_cidr::validate_update(new, old),
        _ => {}
    }
}

pub(super) fn warnings(plural: &str, object: Field<'_>, is_new: bool) -> Vec<String> {
    match plural {
        "ingresses" if is_new => ingress::warnings(object).into_iter().collect(),
        "networkpolicies" => network_policy::warnings(object),
        _ => Vec::new(),
    }
}
