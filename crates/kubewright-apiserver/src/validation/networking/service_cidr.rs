use kubewright_schema::error::go;
use serde_json::Value;

use crate::validation::{
    Field,
    cidr::{self, Cidr},
};

pub(super) fn validate(cidrs: Field<'_>) {
    if cidrs.is_empty() {
        cidrs.required("at least one CIDR required");
        return;
    }
    if cidrs.len() > 2 {
        let shown = format!("{{\"CIDRs\":{}}}", go::json(cidrs.value()));
        cidrs.invalid_shown(shown, "may only hold up to 2 values");
        return;
    }
    for range in cidrs.items() {
        cidr::check_canonical(range);
    }
    let families: Vec<_> =
        cidrs.items().filter_map(|range| Cidr::parse(range.text())).map(Cidr::is_v6).collect();
    if matches!(families.as_slice(), [one, other] if one == other) {
        let detail =
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        cidrs.invalid(cidrs.value().clone(), detail);
    }
}

pub(super) fn validate_update(new: Field<'_>, old: Field<'_>) {
    let (new, old) = (new.child("spec").child("cidrs"), old.child("spec").child("cidrs"));
    match (old.len(), new.len()) {
        (before, after) if before == after => {
            for (new, old) in new.items().zip(old.items()) {
                new.immutable(old);
            }
        }
        // A second family may be added.
        (1, 2) => {
            if let (Some(new), Some(old)) = (new.items().next(), old.items().next()) {
                new.immutable(old);
            }
            validate(new);
        }
        // No list is shown as an empty one.
        _ if new.is_empty() => new.invalid(Value::Array(Vec::new()), "field is immutable"),
        _ => new.immutable(old),
    }
}
