//! What containers ask for and how much they may use.

use std::collections::{BTreeMap, BTreeSet};

use kubewright_quota::Quantity;
use kubewright_schema::{FieldError, names};
use serde_json::Value;

use crate::{
    types::quantity,
    validation::{Field, core::resource_name},
};

/// Checks the resources of a container. `claims` are the names of the pod's resource claims.
pub(super) fn validate_container(resources: Field<'_>, claims: &BTreeSet<&str>) {
    validate_requirements(resources, resources.child("limits"), resource_name::validate_of_container, claims);
}

/// Checks what a pod needs besides its containers, which is checked and reported as limits of a container.
pub(super) fn validate_overhead(overhead: Field<'_>) {
    let limits = overhead.at("limits");
    validate_requirements(
        overhead.with(&Value::Null),
        limits,
        resource_name::validate_of_container,
        &BTreeSet::new(),
    );
}

/// Checks the resources that containers of a pod share.
pub(super) fn validate_pod_level(spec: Field<'_>, claims: &BTreeSet<&str>) {
    let resources = spec.child("resources");
    if !resources.is_set() {
        return;
    }
    if spec.child("os").child("name").text() == "windows" {
        return resources.forbidden("may not be set for a windows pod");
    }
    if resources.child("claims").is_set() {
        resources.child("claims").forbidden("claims may not be set for Resources at pod-level");
    }
    validate_requirements(resources, resources.child("limits"), resource_name::validate_of_pod, claims);
    validate_consistency(spec, resources);
}

fn validate_requirements(
    resources: Field<'_>,
    limits: Field<'_>,
    validate_name: fn(Field<'_>, &str),
    claims: &BTreeSet<&str>,
) {
    let requests = resources.child("requests");
    let (mut has_huge_pages, mut has_cpu_or_memory) = (false, false);
    let mut check = |name: &str, amount: Field<'_>| {
        validate_name(amount, name);
        resource_name::validate_amount(amount, name);
        has_cpu_or_memory |= matches!(name, "cpu" | "memory");
        has_huge_pages |= resource_name::is_huge_pages(name);
    };
    let validate_pages = |name: &str, amount: Field<'_>| {
        if resource_name::is_huge_pages(name)
            && !resource_name::is_divisible(name, Quantity::of(amount.value()))
        {
            let detail = format!("{} is not positive integer multiple of {name}", amount.text());
            amount.invalid(amount.text(), detail);
        }
    };
    for (name, amount) in limits.entries() {
        check(name, amount);
        validate_pages(name, amount);
    }
    for (name, amount) in requests.entries() {
        check(name, amount);
        let allows_overcommit = resource_name::allows_overcommit(name);
        match limits.map().and_then(|limits| limits.get(name)) {
            Some(limit) => {
                let (wanted, most) = (Quantity::of(amount.value()), Quantity::of(limit));
                let shown = limit.as_str().unwrap_or_default();
                if wanted != most && !allows_overcommit {
                    requests.invalid(amount.text(), format!("must be equal to {name} limit of {shown}"));
                } else if wanted > most {
                    let detail = format!("must be less than or equal to {name} limit of {shown}");
                    requests.invalid(amount.text(), detail);
                }
            }
            None if !allows_overcommit => {
                limits.required("Limit must be set for non overcommitable resources");
            }
            None => {}
        }
        validate_pages(name, amount);
    }
    if has_huge_pages && !has_cpu_or_memory {
        resources.forbidden("HugePages require cpu or memory");
    }
    validate_claims(resources.child("claims"), claims);
}

/// Checks that a container uses claims of its pod, none of them twice.
fn validate_claims(uses: Field<'_>, claims: &BTreeSet<&str>) {
    // What is used: a claim as a whole, or one of its requests.
    let mut used: BTreeSet<(&str, &str)> = BTreeSet::new();
    for claim in uses.items() {
        let (name, request) = (claim.child("name").text(), claim.child("request"));
        if name.is_empty() {
            claim.required("");
            continue;
        }
        if used.contains(&(name, "")) {
            claim.duplicate(name);
        } else {
            if !request.is_empty() {
                request.check(names::dns1123_label);
            }
            if used.contains(&(name, request.text())) {
                claim.duplicate(format!("{name}/{}", request.text()));
            } else if request.is_empty() {
                for _ in used.iter().filter(|(other, _)| *other == name) {
                    claim.duplicate(name);
                }
            }
            used.insert((name, request.text()));
        }
        if !claims.contains(name) {
            let mut error = FieldError::not_found(&claim.path(), name);
            error.detail = "must be one of the names in pod.spec.resourceClaims".to_owned();
            error.detail += &match claims.len() {
                0 => " which is empty".to_owned(),
                _ => format!(": {}", claims.iter().copied().collect::<Vec<_>>().join(", ")),
            };
            claim.push(error);
        }
    }
}

/// Amounts by the names of resources, as texts.
pub(crate) type Amounts = BTreeMap<String, String>;

/// Checks that what a pod has as a whole is enough for its containers.
fn validate_consistency(spec: Field<'_>, resources: Field<'_>) {
    let aggregate = |list| total(spec.value(), list);
    let is_less = |amount: &str, other: &str| Quantity::parse(amount).ok() < Quantity::parse(other).ok();
    let requests = resources.child("requests");
    for (name, needed) in aggregate("requests") {
        let own = requests.entry(&name);
        if own.is_set() && is_less(own.text(), &needed) {
            let detail = format!("must be greater than or equal to aggregate container requests of {needed}");
            own.invalid(own.text(), detail);
        }
    }
    let limits = resources.child("limits");
    for (name, needed) in aggregate("limits") {
        let own = limits.entry(&name);
        if resource_name::is_huge_pages(&name) && own.is_set() && is_less(own.text(), &needed) {
            let detail = format!("must be greater than or equal to aggregate container limits of {needed}");
            own.invalid(own.text(), detail);
        }
    }
    for (index, container) in spec.child("containers").items().enumerate() {
        for (name, limit) in container.child("resources").child("limits").entries() {
            let own = limits.entry(name).text();
            if !own.is_empty() && is_less(own, limit.text()) {
                let place = resources.at("containers").at_index(index).at_key(name).at("limits");
                let detail = format!("must be less than or equal to pod limits of {own}");
                place.invalid(limit.text(), detail);
            }
        }
    }
}

/// How much of each resource the containers of a spec need at most at one time.
pub(crate) fn total(spec: &Value, list: &str) -> Amounts {
    let amounts = |container: &Value| -> Amounts {
        let entries = container["resources"][list].as_object().into_iter().flatten();
        entries.map(|(name, amount)| (name.clone(), amount.as_str().unwrap_or("0").to_owned())).collect()
    };
    let containers = |sort: &str| spec[sort].as_array().into_iter().flatten();
    let mut sum = Amounts::new();
    for container in containers("containers") {
        add(&mut sum, amounts(container));
    }
    // A sidecar runs beside whatever starts after it.
    let (mut sidecars, mut most) = (Amounts::new(), Amounts::new());
    for container in containers("initContainers") {
        let mut own = amounts(container);
        if container["restartPolicy"] == "Always" {
            add(&mut sum, own.clone());
            add(&mut sidecars, own);
            own = sidecars.clone();
        } else {
            add(&mut own, sidecars.clone());
        }
        raise(&mut most, own);
    }
    raise(&mut sum, most);
    sum
}

/// The larger one of two amounts; the second one if they are the same.
pub(crate) fn larger(one: &str, other: &str) -> String {
    if Quantity::parse(one).ok() > Quantity::parse(other).ok() { one.to_owned() } else { other.to_owned() }
}

fn add(sum: &mut Amounts, amounts: Amounts) {
    for (name, amount) in amounts {
        let total = sum.get(&name).and_then(|total| quantity::add(total, &amount).ok());
        sum.insert(name, total.unwrap_or(amount));
    }
}

/// Takes the larger amounts.
fn raise(most: &mut Amounts, amounts: Amounts) {
    for (name, amount) in amounts {
        let is_more =
            most.get(&name).is_none_or(|own| Quantity::parse(own).ok() < Quantity::parse(&amount).ok());
        if is_more {
            most.insert(name, amount);
        }
    }
}

/// Whether a pod as a whole has something that its containers share.
pub(super) fn is_set_for_pod(resources: &Value) -> bool {
    ["requests", "limits"]
        .into_iter()
        .filter_map(|list| resources.get(list)?.as_object())
        .any(|list| list.keys().any(|name| resource_name::is_of_pod(name)))
}
